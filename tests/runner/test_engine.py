"""A run on a model behind HTTP: what it shows, what it keeps, and that the key goes to the server and nowhere else."""

import json
from typing import Any

import psycopg
import pytest

from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.models import ProjectMembership
from memory_hub.library.models import Evidence, Lesson, Link, Revision, Solution
from memory_hub.recall.models import Recall
from memory_hub.runs.models import Run, RunEvent
from memory_hub.runs.services import connection_retire
from tests.cast import Cast
from tests.fake_openai import FakeOpenAI, Messages, Reply, code, script, text_of
from tests.runner.engine_support import (
    KEY,
    again,
    another_thread,
    connect,
    driven,
    execute,
    queue,
    steps_of,
    wait_until,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]

DOUBLE = "def double(numbers):\n    return [2 * number for number in numbers]\n"
TASK = "Double every number of the list 1, 2, 3."


def test_a_run_shows_each_step_with_its_tokens_and_ends_with_the_answer(committed_cast: Cast) -> None:
    replies = script(
        Reply(code("values = [1, 2, 3]\nprint('three')\nvalues", "I look."), usage=(1_000, 50)),
        Reply(code(f"{DOUBLE}\nfinal_answer(double(values))"), usage=(1_100, 70)),
    )
    with FakeOpenAI(replies) as server:
        run = execute(committed_cast, connect(committed_cast, server), TASK)
    assert (run.state, run.reason) == (Run.State.SUCCEEDED, "")
    assert json.loads(run.answer) == [2, 4, 6]
    assert (run.input_tokens, run.output_tokens) == (2_100, 120)
    first, second = steps_of(run)
    assert (first.number, first.thought, first.observations) == (1, "I look.", "three\n")
    assert json.loads(first.value) == [1, 2, 3]
    assert (first.input_tokens, first.output_tokens, first.is_final) == (1_000, 50, False)
    assert first.code == "values = [1, 2, 3]\nprint('three')\nvalues"
    assert second.is_final
    assert second.seconds > 0
    assert run.environment["packages"]["pandas"]
    with as_system():
        revision = Revision.objects.get()
    assert revision.entry_point == "double"
    assert revision.verification == Revision.Verification.PASSED


def test_the_model_reads_the_task_and_the_names_of_the_files(committed_cast: Cast) -> None:
    replies = script(code("final_answer(open('/inputs/a b.txt').read())"))
    with FakeOpenAI(replies) as server:
        run = execute(
            committed_cast, connect(committed_cast, server), "Read it.", inputs={"a b.txt": b"hello"}
        )
    assert run.answer == "hello"
    asked = server.requests[0]
    assert asked.path == "/v1/chat/completions"
    assert asked.body["model"] == "fake-1"
    assert "Read it.\n\nInput files (read-only):\n- /inputs/a b.txt (5 bytes)" in asked.text


def test_the_key_is_sent_as_bearer_and_found_nowhere_else(
    committed_cast: Cast, owner_connection: psycopg.Connection[Any], caplog: pytest.LogCaptureFixture
) -> None:
    """Even where the server says it in every way it can, and the connection has lost it meanwhile."""
    caplog.set_level("DEBUG")

    def answer(messages: Messages) -> Reply | str:
        spoken = sum(message["role"] == "assistant" for message in messages)
        if spoken == 1:
            with another_thread():
                actor = committed_cast.actor(committed_cast.alice)
                with acting_as(actor):
                    connection_retire(actor=actor, connection=connection)
        said = [
            code(f"print('{KEY}')\nfind('{KEY}')", f"Your key is {KEY}."),
            code(f"raise ValueError('{KEY}')"),
            code(f"def tell(key):\n    return key\n\nfinal_answer(tell('{KEY}'))"),
        ]
        return said[spoken]

    with FakeOpenAI(answer) as server:
        connection = connect(committed_cast, server)
        run = execute(committed_cast, connection)
    assert {request.authorization for request in server.requests} == {f"Bearer {KEY}"}
    assert run.state == Run.State.SUCCEEDED
    assert run.answer == "[masked: key of the connection]"
    assert steps_of(run)[0].observations == "[masked: key of the connection]\n"
    assert KEY not in everything_in(owner_connection)
    assert KEY not in caplog.text


def everything_in(owner_connection: psycopg.Connection[Any]) -> str:
    """Every row of every table, as text."""
    tables = owner_connection.execute(
        "SELECT format('%I', tablename) FROM pg_tables WHERE schemaname = 'public'"
    ).fetchall()
    rows = [owner_connection.execute(f"SELECT t::text FROM {name} t").fetchall() for (name,) in tables]
    text = str(rows)
    assert "ValueError" in text  # the steps are among it
    return text


def test_a_short_word_for_a_key_does_not_change_the_code(committed_cast: Cast) -> None:
    with FakeOpenAI(script(code("ollama = 'ollama'\nfinal_answer(ollama)"))) as server:
        run = execute(committed_cast, connect(committed_cast, server, secret="ollama"))
    assert run.answer == "ollama"
    assert steps_of(run)[0].code == "ollama = 'ollama'\nfinal_answer(ollama)"


def test_secrets_in_a_step_are_masked_in_what_is_shown_and_kept(committed_cast: Cast) -> None:
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
    source = (
        f"token = '{token}'\nprint(token)\ndef size(text):\n    return len(text)\nfinal_answer(size(token))"
    )
    with FakeOpenAI(script(code(source))) as server:
        run = execute(committed_cast, connect(committed_cast, server))
    assert run.answer == "40"
    (step,) = steps_of(run)
    assert token not in step.code + step.observations
    assert "[masked: GitHub Token]" in step.observations
    with as_system():
        assert token not in str(list(Revision.objects.values_list("code", "check_spec", "usage_example")))
        assert token not in str(run.final_call)


def test_odd_texts_and_huge_answers_are_stored(committed_cast: Cast) -> None:
    replies = script(
        code("print('a\\0b\\ud800c')\n'\\0'"),
        code("raise ValueError('\\0\\udfff')"),
        code("final_answer('x' * 3_000_000)"),
    )
    with FakeOpenAI(replies) as server:
        run = execute(committed_cast, connect(committed_cast, server))
    assert run.state == Run.State.SUCCEEDED, run.reason
    assert 50_000 < len(run.answer) < 110_000
    assert "characters left out" in run.answer
    first, second, _ = steps_of(run)
    assert "\0" not in first.observations + second.error_message


def test_replies_without_code_are_steps_that_failed_and_no_lesson(committed_cast: Cast) -> None:
    replies = script("I would rather talk.", Reply("", usage=(5, 0)), code("final_answer(1)"))
    with FakeOpenAI(replies) as server:
        run = execute(committed_cast, connect(committed_cast, server))
    assert run.state == Run.State.SUCCEEDED
    assert [step.error_kind for step in steps_of(run)] == ["parsing", "parsing", ""]
    with as_system():
        assert not Lesson.objects.exists()


def test_a_run_out_of_steps_fails_and_asks_the_model_no_more(committed_cast: Cast) -> None:
    with FakeOpenAI(script(code("print('still looking')"))) as server:
        run = execute(committed_cast, connect(committed_cast, server), max_steps=3)
    assert run.state == Run.State.FAILED
    assert run.reason == "No answer within 3 steps. Allow more, or split the task."
    assert run.answer == ""
    assert (len(steps_of(run)), len(server.requests)) == (3, 3)
    assert run.capture == Run.Capture.DONE
    with as_system():
        assert Solution.objects.exists()  # what it had found is kept, though no call can be replayed


def test_the_last_step_may_still_answer(committed_cast: Cast) -> None:
    with FakeOpenAI(script(code("x = 1"), code("final_answer(x)"))) as server:
        run = execute(committed_cast, connect(committed_cast, server), max_steps=2)
    assert (run.state, run.answer) == (Run.State.SUCCEEDED, "1")


def test_without_memory_nothing_is_recalled_and_the_run_is_captured_all_the_same(
    committed_cast: Cast,
) -> None:
    replies = script(code("missing"), code(f"{DOUBLE}\nfinal_answer(double([1, 2, 3]))"))
    with FakeOpenAI(replies) as server:
        connection = connect(committed_cast, server)
        execute(committed_cast, connection, TASK)
        second = execute(committed_cast, connection, TASK, memory_on=False)
    assert second.state == Run.State.SUCCEEDED
    assert "memory" not in server.requests[-1].text.lower().replace("memoryerror", "")
    with as_system():
        assert not Recall.objects.filter(run=second).exists()
        assert not RunEvent.objects.filter(run=second, kind=RunEvent.Kind.RECALLED).exists()
    assert second.memory_use["recall"] is None
    assert (second.capture, second.input_tokens) == (Run.Capture.DONE, 200)


def test_a_known_error_gets_the_fix_of_an_earlier_run_as_a_hint(committed_cast: Cast) -> None:
    broken = 'rows = "1,5;2"\ntotal = float(rows.split(";")[0])\nprint(total)'
    fixed = 'rows = "1,5;2"\ntotal = float(rows.split(";")[0].replace(",", "."))\nfinal_answer(total)'
    with FakeOpenAI(script(code(broken), code(fixed))) as server:
        connection = connect(committed_cast, server)
        execute(committed_cast, connection, "Read the decimal comma.")
        with as_system():
            lesson = Lesson.objects.get()
        second = execute(committed_cast, connection, "Parse prices of the supplier list.")
    step = steps_of(second)[0]
    assert 'replace(",", ".")' in step.hint
    prompt = text_of(server.requests[3].messages[-1])
    assert "A known fix for an error like this one" in prompt
    assert 'replace(",", ".")' in prompt
    assert step.observations == ""  # what the step printed stays apart from what memory said
    assert second.memory_use["lessons"] == [str(lesson.id)]


def test_a_new_solution_that_calls_a_recalled_helper_is_verified_and_defined_with_it(
    committed_cast: Cast,
) -> None:
    """The second run builds on the function of the first; the third gets both."""

    def answer(messages: Messages) -> str:
        text = text_of(messages[-1])
        if "halve" in text.lower() and "`double(" in text and "`four_times" not in text:
            return code(
                "def four_times(numbers):\n    return double(double(numbers))\n\nfinal_answer(four_times([1, 2, 3]))"
            )
        if "`four_times(" in text:
            return code("final_answer(four_times([5]))")
        return code(f"{DOUBLE}\nfinal_answer(double([1, 2, 3]))")

    with FakeOpenAI(answer) as server:
        connection = connect(committed_cast, server)
        execute(committed_cast, connection, TASK)
        second = execute(
            committed_cast, connection, "Double every number of the list 1, 2, 3 twice; do not halve."
        )
        with as_system():
            helper = Revision.objects.get(entry_point="double")
            built = Revision.objects.get(entry_point="four_times")
            assert built.depends_on == ["double"]
            assert built.verification == Revision.Verification.PASSED, built.verification_detail
            assert Link.objects.filter(
                source=built.solution, target=helper.solution, kind=Link.Kind.DEPENDS_ON
            ).exists()
            assert second.memory_use["used"] == [str(helper.id)]
        third = execute(
            committed_cast, connection, "Double every number of the list 5 twice; do not halve it."
        )
    assert json.loads(third.answer) == [20]
    assert str(built.id) in third.memory_use["used"]


def test_a_recalled_function_that_raised_gets_evidence_of_failure(committed_cast: Cast) -> None:
    def answer(messages: Messages) -> str:
        spoken = sum(message["role"] == "assistant" for message in messages)
        if "`double(" in "".join(map(text_of, messages)):
            return [code("final_answer(double(7))"), code("final_answer(14)")][spoken]
        return code(f"{DOUBLE}\nfinal_answer(double([1, 2, 3]))")

    with FakeOpenAI(answer) as server:
        connection = connect(committed_cast, server)
        execute(committed_cast, connection, TASK)
        second = execute(committed_cast, connection, "Double every number of the list 7.")
    assert second.state == Run.State.SUCCEEDED
    assert len(steps_of(second)) == 2
    with as_system():
        evidence = Evidence.objects.get(kind=Evidence.Kind.REUSED)
        assert (evidence.outcome, evidence.run_id) == (Evidence.Outcome.FAILURE, second.id)


def test_a_run_stops_when_its_starter_may_no_longer_run(committed_cast: Cast) -> None:
    with FakeOpenAI(script(code("print('one')"), Reply(hangs=True))) as server:
        run = queue(committed_cast, connect(committed_cast, server))
        with driven(run) as join:
            wait_until(lambda: len(server.requests) == 2)
            with as_system():
                ProjectMembership.objects.filter(user=committed_cast.bob).delete()
            assert join() < 3
    ended = again(run)
    assert (ended.state, len(steps_of(run))) == (Run.State.FAILED, 1)
    assert ended.reason == "Stopped: who started it may no longer start runs here."


def test_what_such_a_run_learnt_is_refused_with_the_reason(committed_cast: Cast) -> None:
    def answer(_: Messages) -> str:
        with another_thread(), as_system():
            ProjectMembership.objects.filter(user=committed_cast.bob).delete()
        return code(f"{DOUBLE}\nfinal_answer(double([1]))")

    with FakeOpenAI(answer) as server:
        run = execute(committed_cast, connect(committed_cast, server))
    assert run.capture == Run.Capture.FAILED
    with as_system():
        assert not Solution.objects.exists()
        assert RunEvent.objects.get(run=run, kind=RunEvent.Kind.CAPTURE_FAILED).data["reason"]

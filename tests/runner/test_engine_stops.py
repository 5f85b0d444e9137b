"""A run that shall end ends, wherever it is: queued, starting, waiting for its model, running code."""

import time

import pytest
from django.db import OperationalError

from agents_runner import engine, patience
from agents_runner.capture import capture
from agents_runner.engine import drive
from memory_hub.access.actor import acting_as, as_system
from memory_hub.library.models import Solution
from memory_hub.runs.models import Run, RunEvent, Step
from memory_hub.runs.services import StepData, input_path, run_cancel, runs_sweep, step_append
from tests.cast import Cast
from tests.fake_openai import FakeOpenAI, Reply, code, script
from tests.runner.engine_support import (
    WORKER,
    again,
    another_thread,
    connect,
    driven,
    execute,
    queue,
    steps_of,
    wait_until,
)
from tests.services.runs_support import make_connection

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]

FOREVER = "import time\nwhile True:\n    time.sleep(0.1)"
# Up to a second until the watch hears of it, and up to another until the sandbox has ended the step.
PROMPT_SECONDS = 3.0


def cancel(cast: Cast, run: Run) -> None:
    actor = cast.actor(cast.bob)
    with acting_as(actor):
        run_cancel(actor=actor, run=run)


def test_a_run_cancelled_while_queued_never_runs(committed_cast: Cast) -> None:
    with FakeOpenAI(script(code("final_answer(1)"))) as server:
        run = queue(committed_cast, connect(committed_cast, server))
        cancel(committed_cast, run)
        assert not drive(run.id, WORKER)
    assert (again(run).state, server.requests) == (Run.State.CANCELLED, [])


def test_a_cancel_ends_a_request_to_the_model(committed_cast: Cast) -> None:
    with FakeOpenAI(script(code("def one():\n    return 1\nprint(one())"), Reply(hangs=True))) as server:
        run = queue(committed_cast, connect(committed_cast, server))
        with driven(run) as join:
            wait_until(lambda: len(server.requests) == 2)
            cancel(committed_cast, run)
            assert join() < PROMPT_SECONDS
        assert server.left.wait(2), "the server still works for nobody"
    ended = again(run)
    assert (ended.state, ended.reason) == (Run.State.CANCELLED, "Cancelled while it ran.")
    assert len(steps_of(run)) == 1
    assert capture(run.id, WORKER)
    with as_system():
        assert Solution.objects.get().run_id == run.id  # what it had shown is kept


def test_a_cancel_ends_code_that_runs_and_keeps_that_step(committed_cast: Cast) -> None:
    with FakeOpenAI(script(code("print('one')"), code(f"print('two')\n{FOREVER}"))) as server:
        run = queue(committed_cast, connect(committed_cast, server))
        with driven(run) as join:
            wait_until(lambda: len(server.requests) == 2)
            time.sleep(0.3)
            cancel(committed_cast, run)
            assert join() < PROMPT_SECONDS
    ended = again(run)
    assert ended.state == Run.State.CANCELLED
    first, second = steps_of(run)
    assert (first.observations, second.observations) == ("one\n", "two\n")
    assert second.error_type == "StepInterrupted"
    assert len(server.requests) == 2
    assert capture(run.id, WORKER)


def test_a_cancel_ends_the_pause_of_a_rehearsal(committed_cast: Cast) -> None:
    connection = make_connection(committed_cast.project, options={"pause_seconds": 30})
    run = queue(committed_cast, connection)
    with driven(run) as join:
        wait_until(lambda: bool(again(run).sandbox_used))
        time.sleep(0.3)
        cancel(committed_cast, run)
        assert join() < PROMPT_SECONDS
    assert again(run).state == Run.State.CANCELLED


def test_a_cancel_is_heard_before_the_first_step(
    committed_cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_profile", lambda *_: time.sleep(2.0) or {})
    with FakeOpenAI(script(code("final_answer(1)"))) as server:
        run = queue(committed_cast, connect(committed_cast, server), inputs={"a.csv": b"a\n1\n"})
        with driven(run) as join:
            wait_until(lambda: again(run).state == Run.State.RUNNING)
            cancel(committed_cast, run)
            join()
    assert again(run).state == Run.State.CANCELLED
    assert not server.requests


@pytest.mark.parametrize("second", [Reply(hangs=True), code(FOREVER)], ids=["model", "code"])
def test_the_time_limit_ends_what_hangs(committed_cast: Cast, second: Reply | str) -> None:
    with FakeOpenAI(script(code("print('one')"), second)) as server:
        began = time.monotonic()
        run = execute(committed_cast, connect(committed_cast, server), time_limit_seconds=3)
        assert time.monotonic() - began < 3 + PROMPT_SECONDS
    assert (run.state, run.reason) == (Run.State.FAILED, "Stopped at its time limit of 3 seconds.")
    assert steps_of(run)[0].observations == "one\n"
    assert run.capture == Run.Capture.DONE


def test_an_answer_that_was_given_stands_even_when_a_cancel_comes_too_late(committed_cast: Cast) -> None:
    def answer(_: object) -> str:
        with another_thread():
            cancel(committed_cast, run)
        return code("final_answer(1)")

    with FakeOpenAI(answer) as server:
        run = queue(committed_cast, connect(committed_cast, server))
        assert drive(run.id, WORKER)
    assert again(run).state == Run.State.SUCCEEDED


def test_a_second_worker_leaves_a_run_alone(committed_cast: Cast) -> None:
    with FakeOpenAI(script(Reply(code("final_answer(1)"), delay=0.5))) as server:
        run = queue(committed_cast, connect(committed_cast, server))
        with driven(run) as join:
            server.asked.wait(15)
            assert not drive(run.id, "worker-2")
            join()
        assert not drive(run.id, "worker-2")
    assert len(server.requests) == 1
    assert again(run).state == Run.State.SUCCEEDED


def test_a_run_that_was_ended_as_lost_stops_writing(committed_cast: Cast) -> None:
    with FakeOpenAI(script(code("print('one')"), Reply(code("final_answer(1)"), delay=0.3))) as server:
        run = queue(committed_cast, connect(committed_cast, server))
        with driven(run) as join:
            wait_until(lambda: len(server.requests) == 2)
            with as_system():
                Run.objects.filter(id=run.id).update(lease_until="2000-01-01T00:00:00Z")
            assert runs_sweep().lost == 1
            join()
    assert (again(run).state, len(steps_of(run))) == (Run.State.LOST, 1)
    assert capture(run.id, WORKER)


def test_a_database_that_is_away_for_a_moment_costs_no_step(
    committed_cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = iter([True, True])

    def shaky(*, run: Run, holder: str, step: StepData) -> Step:
        if next(fails, False):
            raise OperationalError("the connection is lost")
        return step_append(run=run, holder=holder, step=step)

    monkeypatch.setattr(engine, "step_append", shaky)
    with FakeOpenAI(script(code("print('one')"), code("final_answer(1)"))) as server:
        run = execute(committed_cast, connect(committed_cast, server))
    assert (run.state, len(steps_of(run))) == (Run.State.SUCCEEDED, 2)


def test_a_database_that_stays_away_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", 0.2)

    def gone() -> None:
        raise OperationalError("the connection is lost")

    with pytest.raises(OperationalError):
        patience.patiently(gone)


def test_memory_that_fails_never_costs_the_run(committed_cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_: object) -> None:
        raise RuntimeError("no index")

    monkeypatch.setattr("agents_runner.service_hub.recall_make", broken)
    monkeypatch.setattr("agents_runner.service_hub.lookup_error", broken)
    with FakeOpenAI(script(code("missing"), code("final_answer(1)"))) as server:
        run = execute(committed_cast, connect(committed_cast, server))
    assert (run.state, run.capture) == (Run.State.SUCCEEDED, Run.Capture.DONE)


def test_a_fault_of_the_engine_ends_the_run_without_its_details(
    committed_cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("/secret/path")

    monkeypatch.setattr(engine, "step_data", broken)
    with FakeOpenAI(script(code("print(1)"))) as server:
        run = queue(committed_cast, connect(committed_cast, server))
        assert drive(run.id, WORKER)
    ended = again(run)
    assert ended.state == Run.State.FAILED
    assert ended.reason == "The hub failed while it ran this. The worker's log says why."


def test_a_run_whose_file_is_gone_fails_before_its_first_step(committed_cast: Cast) -> None:
    with FakeOpenAI(script(code("final_answer(1)"))) as server:
        run = queue(committed_cast, connect(committed_cast, server), inputs={"a.csv": b"a\n1\n"})
        with as_system():
            input_path(run.inputs.get()).unlink()
        assert drive(run.id, WORKER)
    ended = again(run)
    assert ended.state == Run.State.FAILED
    assert "a.csv" in ended.reason
    assert "hub-test-files" not in ended.reason  # no path of the host
    with as_system():
        assert RunEvent.objects.filter(run=run, kind=RunEvent.Kind.ENDED).count() == 1

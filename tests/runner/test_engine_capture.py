"""Write-back: once, whole or not at all, and for runs that happened elsewhere as well."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from agents_runner import capture as capture_module
from agents_runner.capture import capture
from memory_hub.access.actor import acting_as, as_system
from memory_hub.common.errors import Unavailable
from memory_hub.library.models import Evidence, Lesson, Revision, Solution
from memory_hub.recall.models import Recall
from memory_hub.recall.services import RecallRequest, recall_make
from memory_hub.runs.models import Run, RunEvent
from memory_hub.runs.services import RecordedRun, StepData, run_record
from tests.cast import Cast
from tests.fake_openai import FakeOpenAI, code, script
from tests.runner.engine_support import WORKER, again, bring_up_to_date, connect, execute, queue, wait_until
from tests.services.runs_support import claimed, end, make_connection, take_step

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]

DOUBLE = "def double(numbers):\n    return [2 * number for number in numbers]\n"
TASK = "Double every number of the list 1, 2, 3."
BROKEN = StepData(
    number=1, code="double([1])", error_kind="execution", error_type="NameError",
    error_message="name 'double' is not defined", error_line="double([1])", error_line_number=1,
)  # fmt: skip
ANSWERING = StepData(number=2, code=f"{DOUBLE}\nfinal_answer(double([1, 2, 3]))", is_final=True)
CALL = {"entry_point": "double", "args": [[1, 2, 3]], "kwargs": {}, "result": [2, 4, 6], "replayable": True}


def record(cast: Cast, **changes: Any) -> Run:
    """Record a run of bob's that happened elsewhere, as the client sends it."""
    values: dict[str, Any] = {
        "task": TASK, "outcome": "succeeded", "steps": [BROKEN, ANSWERING], "answer": [2, 4, 6],
        "final_call": CALL, "environment": {"sandbox": "local", "python": "3.12.1"},
        "started_at": datetime(2026, 1, 1, tzinfo=UTC), "seconds": 3.0, **changes,
    }  # fmt: skip
    actor = cast.actor(cast.bob)
    with acting_as(actor):
        return run_record(actor=actor, project=cast.project, recorded=RecordedRun(**values))


def ended_run(cast: Cast, state: Run.State = Run.State.SUCCEEDED) -> Run:
    """A run with two steps that has just ended, in the hands of nobody."""
    run = claimed(queue(cast, make_connection(cast.project), TASK))
    take_step(run, 1, code="double([1])", error_kind="execution", error_type="NameError", error_message="x")
    take_step(run, 2, code=ANSWERING.code, is_final=True)
    return end(run, state, final_call=CALL)


def counts() -> tuple[int, int, int, int]:
    with as_system():
        return (
            Solution.objects.count(), Revision.objects.count(), Lesson.objects.count(), Evidence.objects.count()
        )  # fmt: skip


def test_capturing_twice_writes_once(committed_cast: Cast) -> None:
    run = ended_run(committed_cast)
    assert capture(run.id, WORKER)
    once = counts()
    assert once[:3] == (1, 1, 1)
    assert not capture(run.id, WORKER)
    assert not capture(run.id, "worker-2")
    assert counts() == once
    with as_system():
        assert RunEvent.objects.filter(run=run, kind=RunEvent.Kind.CAPTURED).count() == 1


def test_a_capture_that_breaks_leaves_nothing_and_is_tried_again(
    committed_cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ended_run(committed_cast)
    with monkeypatch.context() as broken:
        broken.setattr(capture_module, "run_captured", lambda **_: 1 / 0)
        assert not capture(run.id, WORKER)
    assert counts() == (0, 0, 0, 0)
    assert again(run).capture == Run.Capture.NEEDED
    assert capture(run.id, WORKER)
    assert counts()[0] == 1


def test_a_part_that_is_away_for_a_moment_is_no_refusal(
    committed_cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(**_: Any) -> None:
        raise Unavailable("The index is being built.")

    run = ended_run(committed_cast)
    with monkeypatch.context() as broken:
        broken.setattr(capture_module, "solution_propose", away)
        assert not capture(run.id, WORKER)
    assert again(run).capture == Run.Capture.NEEDED


@pytest.mark.parametrize("state", [Run.State.FAILED, Run.State.CANCELLED])
def test_a_run_that_did_not_succeed_is_captured_without_a_check(
    committed_cast: Cast, state: Run.State
) -> None:
    run = ended_run(committed_cast, state)
    assert capture(run.id, WORKER)
    with as_system():
        revision = Revision.objects.get()
    assert revision.check_spec is None
    assert revision.verification == Revision.Verification.UNVERIFIED
    assert counts()[2] == 1


def test_a_run_that_happened_elsewhere_is_captured_and_verified_here(committed_cast: Cast) -> None:
    run = record(committed_cast)
    assert capture(run.id, WORKER)
    bring_up_to_date()
    with as_system():
        revision = Revision.objects.select_related("solution").get()
        lesson = Lesson.objects.get()
    assert (revision.entry_point, revision.solution.run_id) == ("double", run.id)
    assert revision.verification == Revision.Verification.PASSED, revision.verification_detail
    assert lesson.exception_type == "NameError"
    assert not lesson.is_open


def test_what_a_client_says_is_not_believed(committed_cast: Cast) -> None:
    """A call that cannot have been, ids that are none, a result that is wrong: words, never a crash."""
    run = record(
        committed_cast, final_call={"entry_point": 7, "args": "abc", "kwargs": [1], "replayable": "yes"},
        used_revision_ids=["no id"], defined_revision_ids=["'; --"], recall_id="x",
    )  # fmt: skip
    assert capture(run.id, WORKER)
    wrong = record(committed_cast, task="Double them wrongly.", final_call={**CALL, "result": [2, 4, 7]})
    assert capture(wrong.id, WORKER)
    bring_up_to_date()
    with as_system():
        assert not Revision.objects.filter(verification=Revision.Verification.PASSED).exclude(
            solution__run=run
        )


def test_a_recorded_run_that_used_memory_leaves_evidence_once(committed_cast: Cast) -> None:
    first = record(committed_cast)
    capture(first.id, WORKER)
    bring_up_to_date()
    actor = committed_cast.actor(committed_cast.bob)
    with acting_as(actor):
        answer = recall_make(actor=actor, project=committed_cast.project, query=RecallRequest(task=TASK))
    (offered,) = answer.items
    use = {
        "recall_id": str(answer.recall.id), "offered_revision_ids": [offered.revision_id],
        "defined_revision_ids": [offered.revision_id], "used_revision_ids": [offered.revision_id],
        "steps": [StepData(number=1, code="final_answer(double([4]))", is_final=True)], "answer": [8],
    }  # fmt: skip
    second = record(committed_cast, task=f"{TASK} And of 4.", final_call=None, **use)
    assert capture(second.id, WORKER)
    assert not capture(second.id, WORKER)
    with as_system():
        evidence = Evidence.objects.get(kind=Evidence.Kind.REUSED)
        assert (str(evidence.revision_id), evidence.outcome) == (offered.revision_id, "success")
        assert Recall.objects.get(id=answer.recall.id).outcome == "success"


def test_a_use_that_the_client_reports_as_failed_is_evidence_of_failure(committed_cast: Cast) -> None:
    capture(record(committed_cast).id, WORKER)
    bring_up_to_date()
    actor = committed_cast.actor(committed_cast.bob)
    with acting_as(actor):
        answer = recall_make(actor=actor, project=committed_cast.project, query=RecallRequest(task=TASK))
    run = record(
        committed_cast, outcome="failed", reported_success=False, recall_id=str(answer.recall.id),
        used_revision_ids=[answer.items[0].revision_id], final_call=None,
        steps=[StepData(number=1, code="final_answer(double([4]))", is_final=True)],
    )  # fmt: skip
    assert capture(run.id, WORKER)
    with as_system():
        assert Evidence.objects.get(kind=Evidence.Kind.REUSED).outcome == "failure"


def test_metrics_that_a_client_reports_become_evidence(committed_cast: Cast) -> None:
    metric = {"name": "rows", "value": 12, "unit": "rows", "higher_is_better": True}
    run = record(committed_cast, metrics=[metric])
    assert capture(run.id, WORKER)
    with as_system():
        evidence = Evidence.objects.get(kind=Evidence.Kind.REPORTED)
    assert (evidence.metric_name, evidence.metric_value, evidence.run_id) == ("rows", 12.0, run.id)


def test_a_cancelled_use_says_nothing_about_the_function(committed_cast: Cast) -> None:
    with FakeOpenAI(script(code(f"{DOUBLE}\nfinal_answer(double([1, 2, 3]))"))) as server:
        connection = connect(committed_cast, server)
        first = execute(committed_cast, connection, TASK)
        server.answer = script(code("print(double([1]))"), code("print('on and on')"))
        second = execute(committed_cast, connection, TASK, max_steps=2)
    with as_system():
        helper = Revision.objects.get(solution__run=first)
        assert second.state == Run.State.FAILED
        assert second.memory_use["used"] == [str(helper.id)]
        assert not Evidence.objects.filter(kind=Evidence.Kind.REUSED).exists()


def test_input_files_follow_into_the_check(committed_cast: Cast) -> None:
    source = (
        "def rows(path):\n    return len(open(path).read().splitlines())\nfinal_answer(rows('/inputs/a.csv'))"
    )
    with FakeOpenAI(script(code(source))) as server:
        run = execute(
            committed_cast, connect(committed_cast, server), "Count the rows.", inputs={"a.csv": b"a\n1\n2\n"}
        )
    assert json.loads(run.answer) == 3
    with as_system():
        revision = Revision.objects.get()
        assert revision.verification == Revision.Verification.PASSED, revision.verification_detail
        assert revision.solution.check_inputs.get().name == "a.csv"
        assert revision.solution.input_profile["a.csv"]
    wait_until(lambda: again(run).is_settled)

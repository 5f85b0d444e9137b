"""Runs that happened elsewhere: written whole, masked, and captured like any other."""

from datetime import timedelta
from typing import Any

import pytest

from memory_hub.access.actor import Actor, acting_as
from memory_hub.access.permissions import Role, Scope
from memory_hub.common.clock import now
from memory_hub.common.errors import InvalidInput, PermissionDenied
from memory_hub.runs.models import Run
from memory_hub.runs.selectors import steps
from memory_hub.runs.services import RecordedRun, StepData, run_record
from tests.cast import Cast
from tests.services.runs_support import TASK, audited, log_of

STEPS = (
    StepData(number=1, code="open('a').read()", error_kind="execution", error_type="FileNotFoundError",
             error_message="a", seconds=0.5, input_tokens=10, output_tokens=5),
    StepData(number=2, code="final_answer(1)", is_final=True, input_tokens=20, output_tokens=6),
)  # fmt: skip


def record(cast: Cast, actor: Actor, **changes: Any) -> Run:
    """Record a run of two steps as the actor."""
    values: dict[str, Any] = {"task": TASK, "outcome": "succeeded", "steps": STEPS, "seconds": 4.0, **changes}
    with acting_as(actor):
        return run_record(actor=actor, project=cast.project, recorded=RecordedRun(**values))


def test_a_recorded_run_is_written_whole(cast: Cast) -> None:
    actor = cast.key_actor(cast.bob, scopes=[Scope.PROPOSE, Scope.RECALL])
    started = now() - timedelta(minutes=5)
    run = record(
        cast,
        actor,
        started_at=started,
        answer={"total": 1},
        environment={"model": "gpt-5", "sandbox": "docker"},
        recall_id="r1",
        used_revision_ids=["v1"],
        metrics=[{"name": "rows", "value": 3.0}],
        reported_success=True,
        final_call={"entry_point": "f", "args": [], "kwargs": {}, "result": 1},
    )
    assert (run.state, run.origin, run.capture) == (
        Run.State.SUCCEEDED,
        Run.Origin.RECORDED,
        Run.Capture.NEEDED,
    )
    assert (run.started_at, run.seconds) == (started, 4.0)
    assert (run.step_count, run.input_tokens, run.output_tokens) == (2, 30, 11)
    assert run.answer == '{\n  "total": 1\n}'
    assert (run.model_label, run.sandbox_used, run.memory_on) == ("gpt-5", "docker", True)
    assert run.memory_use == {
        "recall": "r1", "offered": [], "defined": [], "used": ["v1"], "lessons": [], "reported_success": True,
    }  # fmt: skip
    assert log_of(run) == [(1, "started"), (2, "step"), (3, "step"), (4, "ended")]
    assert audited(run) == ["run:recorded"]
    with acting_as(actor):
        assert [step.error_type for step in steps(cast.actor(cast.bob), run)] == ["FileNotFoundError", ""]


@pytest.mark.parametrize(
    ("outcome", "state", "reason"),
    [
        ("failed", "failed", "without an answer"),
        ("max_steps", "failed", "out of steps"),
        ("exception", "failed", "OSError: disk full"),
        ("cancelled", "cancelled", "Cancelled where it ran"),
    ],
)
def test_an_outcome_becomes_a_state_and_a_reason(cast: Cast, outcome: str, state: str, reason: str) -> None:
    run = record(cast, cast.actor(cast.bob), outcome=outcome, error_type="OSError", error_message="disk full")
    assert run.state == state
    assert reason in run.reason


def test_secrets_in_a_record_are_masked(cast: Cast) -> None:
    key = "AKIAIOSFODNN7EXAMPLE"
    run = record(
        cast,
        cast.actor(cast.bob),
        task=f"Use {key}",
        answer=[key],
        steps=[StepData(number=1, observations=key)],
        environment={"model": key},
        final_call={"args": [key]},
        outcome="exception",
        error_message=key,
    )
    with acting_as(cast.actor(cast.bob)):
        row = steps(cast.actor(cast.bob), run).get()
    shown = [run.task, run.answer, run.reason, str(run.environment), str(run.final_call), row.observations]
    assert [text for text in shown if key in text or "masked" not in text] == []
    assert key not in run.model_label


def test_a_record_from_the_future_or_without_a_time_ends_now(cast: Cast) -> None:
    for started in (now() + timedelta(hours=1), None):
        run = record(cast, cast.actor(cast.bob), started_at=started)
        assert run.ended_at is not None
        assert run.seconds == 4.0
        assert run.ended_at <= now()


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("task", {"task": " "}),
        ("outcome", {"outcome": "wonderful"}),
        ("steps", {"steps": [StepData(number=1)] * 501}),
    ],
)
def test_a_record_that_cannot_be_is_refused(cast: Cast, field: str, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        record(cast, cast.actor(cast.bob), **changes)
    assert set(refused.value.extra["fields"]) == {field}


def test_who_may_not_propose_may_not_record(cast: Cast) -> None:
    for actor in (
        cast.actor(cast.vera),
        cast.actor(cast.mallory),
        cast.key_actor(cast.bob, scopes=[Scope.READ]),
        cast.key_actor(cast.bob, role=Role.VIEWER),
    ):
        with pytest.raises(PermissionDenied):
            record(cast, actor)


def test_step_numbers_that_repeat_are_counted_anew(cast: Cast) -> None:
    run = record(cast, cast.actor(cast.bob), steps=[StepData(number=1), StepData(number=1)])
    with acting_as(cast.actor(cast.bob)):
        assert [step.number for step in steps(cast.actor(cast.bob), run)] == [1, 2]

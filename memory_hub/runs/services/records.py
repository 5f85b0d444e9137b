"""Runs that happened elsewhere: written whole, as they were, and captured like any other."""

import json
from datetime import timedelta
from typing import Any

from memory_hub.access.actor import Actor, ActorKind
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission, Role
from memory_hub.access.policy import require, role_in
from memory_hub.audit.events import Event
from memory_hub.audit.services import record as audit
from memory_hub.common.clock import now
from memory_hub.common.errors import InvalidInput, PermissionDenied
from memory_hub.common.nudge import nudge
from memory_hub.common.text import first_sentence, shorten, storable
from memory_hub.runs.masking import mask, mask_json
from memory_hub.runs.models import Run, RunEvent, Step
from memory_hub.runs.values import RecordedRun

from .execution import memory_use_of
from .log import append, move
from .runs import MAX_TASK_CHARACTERS, RUN_SCOPES
from .steps import clipped, step_values

MAX_RECORDED_STEPS = 500
_LONGEST = timedelta(days=31)
_STATES = {
    "succeeded": Run.State.SUCCEEDED,
    "failed": Run.State.FAILED,
    "max_steps": Run.State.FAILED,
    "exception": Run.State.FAILED,
    "cancelled": Run.State.CANCELLED,
}


def run_record(*, actor: Actor, project: Project, recorded: RecordedRun) -> Run:
    """Write a run that an agent made outside of the hub, with its steps, and ask for it to be captured.

    Secrets are masked, never refused: the run has happened. Raises InvalidInput for an empty task or too many steps.
    """
    require(actor, Permission.RUN_RECORD, project)
    if actor.user_id is None:
        raise PermissionDenied("A run is recorded for a person, or by a key of a person.")
    held = role_in(actor, project)
    assert held is not None  # require() above
    task = mask(storable(recorded.task).strip()[:MAX_TASK_CHARACTERS])[0]
    _require_valid(task, recorded)
    ended = now()
    length = min(timedelta(seconds=max(0.0, recorded.seconds)), _LONGEST)
    started = recorded.started_at if recorded.started_at and recorded.started_at <= ended else ended - length
    run = Run(
        team_id=project.team_id,
        project=project,
        starter_id=actor.user_id,
        started_with_key_id=actor.through_id if actor.kind is ActorKind.KEY else None,
        role=Role.CONTRIBUTOR.at_most(held),
        scopes=sorted(RUN_SCOPES if actor.scopes is None else RUN_SCOPES & actor.scopes),
        origin=Run.Origin.RECORDED,
        task=task,
        model_label=shorten(mask(storable(str(recorded.environment.get("model") or "")))[0], 200),
        sandbox=_sandbox(recorded),
        sandbox_used=_sandbox(recorded),
        memory_on=recorded.recall_id is not None,
        max_steps=max(1, len(recorded.steps)),
        time_limit_seconds=max(1, int(length.total_seconds())),
        state=Run.State.RUNNING,
        started_at=started,
        lease_until=ended,
    )
    run.save(force_insert=True)
    append(run, RunEvent.Kind.STARTED, {"recorded": True})
    _write_steps(run, recorded)
    _end(run, recorded)
    run.ended_at = min(started + length, ended)
    run.save()
    append(run, RunEvent.Kind.ENDED, {"state": run.state, "reason": run.reason})
    audit(
        actor=actor, event=Event.RUN_RECORDED, object_kind="run", object_id=run.id, object_label=first_sentence(task),
        team_id=run.team_id, project_id=run.project_id, data={"state": run.state, "steps": run.step_count},
    )  # fmt: skip
    if run.capture == Run.Capture.NEEDED:
        nudge("agents_runner.capture_run", run.id)
    return run


def _require_valid(task: str, recorded: RecordedRun) -> None:
    fields: dict[str, str] = {}
    if not task:
        fields["task"] = "A record needs the task in words."
    if recorded.outcome not in _STATES:
        fields["outcome"] = f"One of {', '.join(_STATES)}."
    if len(recorded.steps) > MAX_RECORDED_STEPS:
        fields["steps"] = f"A record may have at most {MAX_RECORDED_STEPS} steps."
    if fields:
        raise InvalidInput(next(iter(fields.values())), fields=fields)


def _write_steps(run: Run, recorded: RecordedRun) -> None:
    # Numbered anew: with an agent that goes on after a first answer, numbers begin at 1 again.
    for number, step in enumerate(recorded.steps, start=1):
        values = {**step_values(step), "number": number}
        row = Step.objects.create(team_id=run.team_id, project_id=run.project_id, run=run, **values)
        append(run, RunEvent.Kind.STEP, {"number": number}, step=row)


def _end(run: Run, recorded: RecordedRun) -> None:
    move(run, _STATES[recorded.outcome])
    run.step_count = len(recorded.steps)
    run.input_tokens = _sum(recorded.input_tokens, [step.input_tokens for step in recorded.steps])
    run.output_tokens = _sum(recorded.output_tokens, [step.output_tokens for step in recorded.steps])
    run.answer = mask(clipped(storable(_answer_text(recorded))))[0]
    run.reason = mask(clipped(storable(_reason(recorded)), 2_000))[0]
    run.final_call = mask_json(dict(recorded.final_call)) if recorded.final_call is not None else None
    run.environment = mask_json(dict(recorded.environment))
    run.metrics = mask_json(list(recorded.metrics))
    run.memory_use = {**memory_use_of(recorded), "reported_success": recorded.reported_success}
    run.capture = Run.Capture.NEEDED if recorded.steps else Run.Capture.DONE


def _answer_text(recorded: RecordedRun) -> str:
    if recorded.answer is None:
        return ""
    if isinstance(recorded.answer, str):
        return recorded.answer
    return json.dumps(recorded.answer, ensure_ascii=False, indent=2)


def _reason(recorded: RecordedRun) -> str:
    match recorded.outcome:
        case "succeeded":
            return ""
        case "max_steps":
            return "The agent ran out of steps."
        case "cancelled":
            return "Cancelled where it ran."
        case "exception":
            return f"{recorded.error_type}: {recorded.error_message}".strip(": ")
    return (
        "It was reported as failed." if recorded.reported_success is False else "It ended without an answer."
    )


def _sandbox(recorded: RecordedRun) -> str:
    said: Any = recorded.environment.get("sandbox")
    return said[:20] if isinstance(said, str) else ""


def _sum(given: int | None, of_steps: list[int]) -> int:
    return max(0, given if given is not None else sum(of_steps))

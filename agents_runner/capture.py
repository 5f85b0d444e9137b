"""Write-back: an ended run's steps → solution candidate, lessons and evidence, in one transaction, without a model."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, cast
from uuid import UUID

from agents_runner.distill import (
    FinalCall,
    LessonDraft,
    RecalledFunction,
    SolutionDraft,
    StepData,
    StepError,
    Trajectory,
    distill,
)
from agents_runner.distill.trajectory import ErrorKind, Outcome
from memory_hub.access.actor import Actor, acting_as
from memory_hub.common.errors import HubError, Unavailable
from memory_hub.library.drafts import CheckFile, Metric, NewLesson, NewSolution, Proposed
from memory_hub.library.models import Evidence, Lesson, Link, Revision, Solution
from memory_hub.library.services.evidence import evidence_record
from memory_hub.library.services.lessons import lesson_record
from memory_hub.library.services.links import link_add, links_after_run
from memory_hub.library.services.solutions import solution_propose
from memory_hub.recall.services import recall_outcome
from memory_hub.runs.models import Run, RunEvent, Step
from memory_hub.runs.services import (
    Captured,
    actor_of_run,
    input_path,
    run_capture_begin,
    run_capture_failed,
    run_captured,
)
from memory_hub_client.types import OfferedCallable
from memory_hub_client.usage import used_callables

logger = logging.getLogger(__name__)

_DATA_PACKAGES = {"pandas", "numpy", "csv", "json", "sqlite3", "openpyxl"}
_WEB_PACKAGES = {"requests", "httpx", "urllib"}


def capture(run_id: UUID, holder: str) -> bool:
    """Write what the run learnt and what became of what it recalled, once. Returns whether this call did.

    A refusal (say, the starter has left the project) is final and noted on the run; anything unexpected is logged
    and tried again by the sweep, a few times.
    """
    run = run_capture_begin(run_id=run_id, holder=holder)
    if run is None:
        return False
    try:
        actor = actor_of_run(run)
        with acting_as(actor):
            _write(run, actor)
    except Unavailable as error:  # it will work again; the sweep asks again
        logger.warning("Run %s could not be captured now: %s", run_id, error.message)
        return False
    except HubError as error:
        run_capture_failed(run_id=run_id, reason=error.message)
        return False
    except Exception:
        logger.exception("Run %s could not be captured now", run_id)
        return False
    return True


def _write(run: Run, actor: Actor) -> None:
    recalled = _recalled(run)
    found = distill(_trajectory(run, recalled))
    draft = found.solution
    reused = draft is not None and draft.reused_only
    proposed = None if draft is None or reused else _propose(actor, run, draft, recalled)
    solution = proposed.solution if proposed else None
    lessons = [_record_lesson(actor, run, lesson, solution) for lesson in found.lessons]
    _report_outcome(actor, run)
    run_captured(
        run_id=run.id,
        solutions=[Captured(solution.id, solution.title)] if solution else [],
        lessons=[Captured(lesson.id, str(lesson)) for lesson in lessons],
        note=_note(proposed, reused=reused),
    )


def _note(proposed: Proposed | None, *, reused: bool) -> str:
    if reused:
        return "It reused a solution from memory as it was; the outcome is kept as evidence on that solution."
    if proposed is None:
        return "No step's code worked, so there is no solution to keep."
    return "The same solution was in the library already." if proposed.deduplicated else ""


def _propose(actor: Actor, run: Run, draft: SolutionDraft, recalled: list[Revision]) -> Proposed:
    proposed = solution_propose(
        actor=actor,
        project=run.project,
        draft=_new_solution(run, draft),
        run=run,
        check_inputs=_check_files(run) if draft.check is not None else [],
    )
    if not proposed.deduplicated:
        links_after_run(solution=proposed.solution, used_revisions=_uuids(run.memory_use.get("used", [])))
        for helper in recalled:  # what the new code calls is needed wherever it runs: say so in the graph
            if helper.entry_point in draft.depends_on and helper.project_id == run.project_id:
                link_add(
                    actor=actor, kind=Link.Kind.DEPENDS_ON, source=proposed.solution, target=helper.solution
                )
    worked = run.state == Run.State.SUCCEEDED
    for metric in run.metrics:
        evidence_record(
            actor=actor,
            revision=proposed.revision,
            kind=Evidence.Kind.REPORTED,
            outcome=Evidence.Outcome.SUCCESS if worked else Evidence.Outcome.FAILURE,
            metric=_metric(metric),
            sandbox=run.sandbox_used,
            run=run,
        )
    return proposed


def _record_lesson(actor: Actor, run: Run, draft: LessonDraft, solution: Solution | None) -> Lesson:
    recorded = lesson_record(
        actor=actor,
        project=run.project,
        draft=NewLesson(
            exception_type=draft.exception_type,
            message=draft.message,
            failing_line=draft.failing_source_line,
            library_frames=draft.library_frames,
            failing_code=draft.failing_code,
            fixing_code=draft.fixing_code,
            diff=draft.diff,
            cause=draft.cause,
            applies_where=draft.where_it_applies,
            is_open=draft.open,
        ),
        solution=solution,
        run=run,
    )
    return recorded.lesson


def _new_solution(run: Run, draft: SolutionDraft) -> NewSolution:
    return NewSolution(
        title=draft.title,
        problem=draft.problem,
        kind=_kind(draft),
        failed_alternatives=[
            {
                "code": item.code,
                "exception_type": item.exception_type,
                "message": item.message,
                "diff": item.diff,
            }
            for item in draft.failed_alternatives
        ],
        tags=draft.tags,
        environment=run.environment,
        input_profile={str(profile["name"]): profile for profile in draft.input_profile},
        code=draft.code,
        entry_point=draft.entry_point or "",
        signature=draft.signature,
        usage_example=draft.usage_example,
        check_spec=_check_spec(run, draft),
        check_missing=draft.check_reason,
        explanation=draft.explanation,
        depends_on=draft.depends_on,
    )


def _check_spec(run: Run, draft: SolutionDraft) -> dict[str, Any] | None:
    if draft.check is None:
        return None
    return {**draft.check, "inputs": {item.name: item.sha256 for item in run.inputs.all()}}


def _check_files(run: Run) -> list[CheckFile]:
    return [
        CheckFile(name=item.name, source=input_path(item), sha256=item.sha256, size=item.size)
        for item in run.inputs.all()
    ]


def _kind(draft: SolutionDraft) -> Solution.Kind:
    imported = set(draft.imports)
    if imported & _WEB_PACKAGES:
        return Solution.Kind.API_RECIPE
    if draft.input_profile or imported & _DATA_PACKAGES:
        return Solution.Kind.DATA_TRANSFORMATION
    return Solution.Kind.ALGORITHM if draft.entry_point else Solution.Kind.OTHER


def _metric(said: Mapping[str, Any]) -> Metric:
    higher = said.get("higher_is_better")
    better = "" if higher is None else "higher" if higher else "lower"
    return Metric(str(said["name"]), float(said["value"]), str(said.get("unit") or ""), better)


def _report_outcome(actor: Actor, run: Run) -> None:
    """Make evidence of what became of the recall. Whatever is wrong with the report costs nothing else.

    A function helped where its call worked in a run that succeeded, and failed where no call of it worked. Of a run
    that ended otherwise (cancelled, out of steps, no model) nothing can be said about a function that worked in it.
    """
    used = _uuids(run.memory_use.get("used", []))
    recall = next(iter(_uuids([run.memory_use.get("recall")])), None)
    if recall is None or not used:
        return
    offered = [
        OfferedCallable(item.entry_point, item.signature, item.code, str(item.id))
        for item in Revision.objects.filter(id__in=used).exclude(entry_point="")
    ]
    good = [step.code for step in run.steps.all() if _error(step) is None]
    calls = used_callables(good, offered, [item.name for item in offered])
    worked = [UUID(item.revision_id) for item in calls]
    if run.memory_use.get("reported_success") is False or not worked:
        said, about = Evidence.Outcome.FAILURE, used
    elif run.state == Run.State.SUCCEEDED:
        said, about = Evidence.Outcome.SUCCESS, worked
    else:
        return
    try:
        with acting_as(actor):
            recall_outcome(
                actor=actor, recall_id=recall, used=about, outcome=said.value, sandbox=run.sandbox_used
            )
    except HubError as error:
        logger.warning("The outcome of recall %s is not recorded: %s", recall, error.message)


def _uuids(said: Iterable[Any]) -> list[UUID]:
    """The ids in what a client sent, which may be anything."""
    found = []
    for item in said:
        with suppress(ValueError):
            found.append(UUID(str(item)))
    return found


def _recalled(run: Run) -> list[Revision]:
    """The revisions whose function was defined in this run's session before its first step.

    A run that was lost could not say which were: then those that its log says were offered.
    """
    defined = _uuids(run.memory_use.get("defined", []))
    if run.state == Run.State.LOST:
        offered = run.events.filter(kind=RunEvent.Kind.RECALLED).values_list("data", flat=True)
        defined = _uuids(item.get("revision") for data in offered for item in data.get("items", []))
    return list(Revision.objects.filter(id__in=defined).exclude(entry_point="").select_related("solution"))


def _trajectory(run: Run, recalled: list[Revision]) -> Trajectory:
    call = run.final_call
    return Trajectory(
        task=run.task,
        steps=[_step(step) for step in run.steps.all()],
        outcome=cast("Outcome", run.state),
        answer=run.answer,
        final_call=_final_call(call) if call else None,
        recalled=[RecalledFunction(name=item.entry_point, code=item.code) for item in recalled],
        environment={
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in run.environment.items()
        },
        input_profile=[item.profile for item in run.inputs.all() if item.profile],
    )


def _final_call(call: Mapping[str, Any]) -> FinalCall:
    """A call as the sandbox recorded it, or as a client sent it: nothing is taken for granted."""
    return FinalCall(
        entry_point=str(call.get("entry_point") or ""),
        args=call.get("args") or [],
        kwargs=call.get("kwargs") or {},
        result=call.get("result"),
        replayable=bool(call.get("replayable")),
        reason=str(call.get("reason") or ""),
    )


def _step(step: Step) -> StepData:
    return StepData(
        number=step.number,
        code=step.code,
        thought=step.thought,
        observations=step.observations,
        error=_error(step),
        is_final=step.is_final,
    )


def _error(step: Step) -> StepError | None:
    if not (step.error_kind or step.error_type or step.error_message):
        return None
    return StepError(
        type=step.error_type,
        message=step.error_message,
        line=step.error_line,
        line_number=step.error_line_number,
        traceback=step.traceback,
        kind=cast("ErrorKind", step.error_kind or "execution"),
    )

"""Write-back: an ended run's steps → solution candidate, lessons and evidence, in one transaction, without a model."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from agents_runner.distill import (
    Distillate,
    FinalCall,
    LessonDraft,
    RecalledFunction,
    SolutionDraft,
    StepData,
    StepError,
    Trajectory,
    distill,
)
from memory_hub.access.actor import Actor, acting_as, as_system
from memory_hub.common.errors import HubError
from memory_hub.library.models import Lesson, Link, Revision, Solution
from memory_hub.library.services import (
    CheckFile,
    NewLesson,
    NewSolution,
    evidence_record,
    lesson_record,
    link_add,
    solution_propose,
)
from memory_hub.runs.models import Run, Step
from memory_hub.runs.services import actor_of_run, run_capture_claim, run_capture_failed, run_captured

logger = logging.getLogger(__name__)

_DATA_PACKAGES = {"pandas", "numpy", "csv", "json", "sqlite3", "openpyxl"}
_WEB_PACKAGES = {"requests", "httpx", "urllib"}
# Errors that say something of the model or of a limit, not of Python.
_KINDS = {"AgentParsingError": "parsing", "AgentMaxStepsError": "limit", "AgentError": "check"}


def capture(run_id: UUID) -> bool:
    """Write what the run learnt, once. Returns whether this call did.

    A refusal (say, the starter has left the project) is final and noted; anything unexpected is tried again later.
    """
    try:
        with as_system():
            run = run_capture_claim(run_id=run_id)
            if run is None:
                return False
            actor = actor_of_run(run)
            with acting_as(actor):
                _write(run, actor, distill(_trajectory(run)))
    except HubError as error:
        run_capture_failed(run_id=run_id, reason=error.message)
        return False
    except Exception:
        logger.exception("Run %s could not be captured", run_id)
        run_capture_failed(run_id=run_id, reason="The hub failed while it wrote what the run learnt.", retry=True)
        return False
    return True


def _write(run: Run, actor: Actor, found: Distillate) -> None:
    revision: Revision | None = None
    solutions: list[Solution] = []
    draft = found.solution
    if draft is not None and not draft.reused_only:
        proposed = solution_propose(
            actor=actor,
            project=run.project,
            draft=_new_solution(run, draft),
            run=run,
            check_inputs=_check_files(run) if draft.check is not None else [],
        )
        revision = proposed.revision
        solutions.append(proposed.solution)
        if not proposed.deduplicated:
            _link_to_helpers(actor, run, proposed.solution, draft)
    lessons = [_record_lesson(actor, run, lesson, solutions) for lesson in found.lessons]
    if revision is not None:
        for metric in run.metrics:
            evidence_record(
                actor=actor, revision=revision, kind="reported", outcome="success",
                metric_name=str(metric["name"])[:60], metric_value=float(metric["value"]),
                metric_unit=str(metric.get("unit", ""))[:20], metric_better=_better(metric), sandbox=run.sandbox_used,
                run=run,
            )
    run_captured(run=run, solutions=solutions, lessons=lessons, reused=bool(draft and draft.reused_only))


def _record_lesson(actor: Actor, run: Run, draft: LessonDraft, solutions: list[Solution]) -> Lesson:
    lesson = lesson_record(
        actor=actor,
        project=run.project,
        draft=NewLesson(
            exception_type=draft.exception_type,
            message=draft.message,
            failing_line=draft.failing_source_line,
            library_frames=list(draft.library_frames),
            failing_code=draft.failing_code,
            fixing_code=draft.fixing_code,
            diff=draft.diff,
            cause=draft.cause,
            applies_where=draft.where_it_applies,
            is_open=draft.open,
        ),
        solution=solutions[0] if solutions else None,
        run=run,
    )
    if solutions and not draft.open:
        link_add(actor=actor, kind=Link.Kind.RESOLVES, source=solutions[0], target_lesson=lesson)
    return lesson


def _link_to_helpers(actor: Actor, run: Run, solution: Solution, draft: SolutionDraft) -> None:
    """The recalled functions that the new code calls are needed wherever it runs: say so in the graph."""
    if not draft.depends_on:
        return
    for revision in _recalled(run):
        if revision.entry_point in draft.depends_on:
            link_add(actor=actor, kind=Link.Kind.DEPENDS_ON, source=solution, target=revision.solution)


def _new_solution(run: Run, draft: SolutionDraft) -> NewSolution:
    return NewSolution(
        title=draft.title,
        problem=draft.problem,
        kind=_kind(draft),
        failed_alternatives=[
            {"code": item.code, "exception_type": item.exception_type, "message": item.message, "diff": item.diff}
            for item in draft.failed_alternatives
        ],
        tags=list(draft.tags),
        environment=dict(run.environment),
        input_profile={str(profile["name"]): dict(profile) for profile in draft.input_profile},
        code=draft.code,
        entry_point=draft.entry_point or "",
        signature=draft.signature,
        usage_example=draft.usage_example,
        check_spec=_check_spec(run, draft),
        check_missing=draft.check_reason,
        explanation=draft.explanation,
        depends_on=list(draft.depends_on),
    )


def _check_spec(run: Run, draft: SolutionDraft) -> dict[str, Any] | None:
    if draft.check is None:
        return None
    return {**draft.check, "inputs": {item.name: item.sha256 for item in run.inputs.all()}}


def _check_files(run: Run) -> list[CheckFile]:
    folder = Path(settings.MEDIA_ROOT)
    return [
        CheckFile(name=item.name, source=folder / item.path, sha256=item.sha256, size=item.size)
        for item in run.inputs.all()
    ]


def _kind(draft: SolutionDraft) -> Solution.Kind:
    imported = set(draft.imports)
    if imported & _WEB_PACKAGES:
        return Solution.Kind.API_RECIPE
    if draft.input_profile or imported & _DATA_PACKAGES:
        return Solution.Kind.DATA_TRANSFORMATION
    return Solution.Kind.ALGORITHM if draft.entry_point else Solution.Kind.OTHER


def _better(metric: Mapping[str, Any]) -> str:
    higher = metric.get("higher_is_better")
    return "" if higher is None else "higher" if higher else "lower"


def _recalled(run: Run) -> list[Revision]:
    """The revisions that were offered to this run as functions."""
    return list(
        Revision.objects.filter(recalled__recall__run=run).exclude(entry_point="").select_related("solution").distinct()
    )


def _trajectory(run: Run) -> Trajectory:
    call = run.final_call
    return Trajectory(
        task=run.task,
        steps=[_step(step) for step in run.steps.order_by("number")],
        outcome=run.state,
        answer=run.answer,
        final_call=FinalCall(
            entry_point=call["entry_point"], args=call["args"] or [], kwargs=call["kwargs"] or {},
            result=call["result"], replayable=call["replayable"], reason=call["reason"],
        ) if call else None,
        recalled=[RecalledFunction(name=item.entry_point, code=item.code) for item in _recalled(run)],
        environment={name: value if isinstance(value, str) else json.dumps(value)
                     for name, value in run.environment.items()},
        input_profile=[item.profile for item in run.inputs.all() if item.profile],
    )


def _step(step: Step) -> StepData:
    error = None
    if step.error_type or step.error_message:
        error = StepError(
            type=step.error_type, message=step.error_message, line=step.error_line,
            line_number=step.error_line_number, traceback=step.traceback,
            kind=_KINDS.get(step.error_type, "execution"),
        )
    return StepData(
        number=step.number, code=step.code, thought=step.thought, observations=step.observations, error=error,
        is_final=step.is_final,
    )

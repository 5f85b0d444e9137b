"""Error → resolution: each run of failed steps with the next step that worked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agents_runner.distill.drafts import FailedAlternative, LessonDraft
from agents_runner.distill.errors import library_frames
from agents_runner.distill.modules import imported_modules, third_party
from agents_runner.distill.trajectory import StepData, StepError, Trajectory
from agents_runner.distill.wording import diff, quote


def lessons_of(trajectory: Trajectory) -> list[LessonDraft]:
    """One lesson per different error of each run of failures, in order.

    Of an error that came back unchanged within the run, the last code is kept: it is nearest to the fix. Replies
    without code and refused answers are no lessons about code. Failures that nothing followed are open lessons.
    """
    lessons = []
    for failures, fix in _failures(trajectory.steps):
        latest = {(error.type, error.message): (step, error) for step, error in failures}
        for step, error in latest.values():
            lessons.append(_lesson(trajectory, step, error, fix))
    return lessons


def failed_alternatives(steps: Sequence[StepData]) -> list[FailedAlternative]:
    """What was tried and failed, each with the diff to the code that worked next."""
    return [
        FailedAlternative(
            code=step.code,
            exception_type=error.type,
            message=error.message,
            diff=diff(step.code, fix.code) if fix else "",
            step=step.number,
        )
        for failures, fix in _failures(steps)
        for step, error in failures
    ]


def _failures(
    steps: Sequence[StepData],
) -> Iterator[tuple[list[tuple[StepData, StepError]], StepData | None]]:
    """Maximal runs of failed steps that had code, each with the next step that worked (None at the end)."""
    run: list[tuple[StepData, StepError]] = []
    for step in steps:
        if step.worked:
            if run:
                yield run, step
            run = []
        elif step.error is not None and step.code.strip() and step.error.kind in ("execution", "limit"):
            run.append((step, step.error))
    if run:
        yield run, None


def _lesson(trajectory: Trajectory, step: StepData, error: StepError, fix: StepData | None) -> LessonDraft:
    return LessonDraft(
        exception_type=error.type,
        message=error.message,
        failing_source_line=error.line or _line_at(step.code, error.line_number),
        library_frames=library_frames(error.traceback),
        failing_code=step.code,
        fixing_code=fix.code if fix else "",
        diff=diff(step.code, fix.code) if fix else "",
        cause=quote(fix.thought) if fix else "",
        where_it_applies=_where(trajectory, step.code),
        open=fix is None,
        step=step.number,
    )


def _line_at(code: str, number: int | None) -> str:
    lines = code.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[number - 1].strip() if number and number <= len(lines) else ""


def _where(trajectory: Trajectory, code: str) -> str:
    """The packages the failing code imports, Python and the sandbox, with the versions of this run."""
    known = trajectory.environment
    names = third_party(imported_modules(code))
    parts = [f"{name} {known[name]}" if known.get(name) else name for name in names]
    parts += [f"Python {known['python']}"] if known.get("python") else []
    parts += [f"sandbox {known['sandbox']}"] if known.get("sandbox") else []
    return ", ".join(parts)

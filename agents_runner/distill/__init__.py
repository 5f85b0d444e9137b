"""Trajectory → solution draft and lessons: pure functions, no language model, no Django.

The one entry is ``distill(trajectory)``. Data in: ``trajectory``; data out: ``drafts``. Errors come in as
``errors.from_sandbox(record)`` or ``errors.parse_error(text)``, input files as ``input_profile.profile_file(path)``.
"""

from agents_runner.distill.drafts import Distillate, FailedAlternative, LessonDraft, SolutionDraft
from agents_runner.distill.errors import from_sandbox, parse_error
from agents_runner.distill.lessons import lessons_of
from agents_runner.distill.solution import solution_of
from agents_runner.distill.trajectory import (
    FinalCall,
    RecalledFunction,
    StepData,
    StepError,
    Trajectory,
)

__all__ = [
    "Distillate",
    "FailedAlternative",
    "FinalCall",
    "LessonDraft",
    "RecalledFunction",
    "SolutionDraft",
    "StepData",
    "StepError",
    "Trajectory",
    "distill",
    "from_sandbox",
    "parse_error",
]


def distill(trajectory: Trajectory) -> Distillate:
    """Everything the run leaves behind. Same trajectory, same result; never runs or evaluates its code."""
    return Distillate(solution=solution_of(trajectory), lessons=lessons_of(trajectory))

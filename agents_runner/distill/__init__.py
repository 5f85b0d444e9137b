"""Trajectory → solution draft and lessons: pure functions, no language model, no Django.

The one entry is ``distill(trajectory)``. Data in: ``trajectory``; data out: ``drafts``.
"""

from agents_runner.distill.drafts import Distillate, FailedAlternative, LessonDraft, SolutionDraft
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
]

"""Attach a smolagents agent to a Memory Hub: `attach(agent, HttpHub(url, key=..., project=...))`."""

from .attach import attach
from .hub import Hub, ReportingHub
from .types import (
    ErrorQuery,
    LessonHint,
    Metric,
    OfferedCallable,
    Outcome,
    OutcomeReport,
    RecalledItem,
    RecallQuery,
    RecallResult,
    RecordedError,
    RecordedStep,
    RunRecord,
)

__version__ = "0.1.0"

__all__ = [
    "ErrorQuery",
    "Hub",
    "LessonHint",
    "Metric",
    "OfferedCallable",
    "Outcome",
    "OutcomeReport",
    "RecallQuery",
    "RecallResult",
    "RecalledItem",
    "RecordedError",
    "RecordedStep",
    "ReportingHub",
    "RunRecord",
    "attach",
]

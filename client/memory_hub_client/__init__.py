"""Attach a smolagents agent to a Memory Hub: `attach(agent, HttpHub(url, key=..., project=...))`."""

from .attach import attach
from .http_hub import HttpHub
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
from .version import __version__
from .wire import HubError

__all__ = [
    "ErrorQuery",
    "HttpHub",
    "Hub",
    "HubError",
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
    "__version__",
    "attach",
]

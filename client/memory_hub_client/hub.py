"""The protocol between an attached agent and a memory: three questions, one optional report.

`HttpHub` speaks it to a server; the hub's own workers implement it with services. An implementation may raise
anything: `attach()` logs and goes on. It must bound its own time, since the agent waits for `recall` and
`lookup_error`.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from .types import ErrorQuery, LessonHint, OutcomeReport, RecallQuery, RecallResult, RunRecord


@runtime_checkable
class Hub(Protocol):
    """A memory that an agent can be attached to."""

    def recall(self, query: RecallQuery) -> RecallResult:
        """Solutions for a task, best first; asked once, before the first step."""
        ...

    def lookup_error(self, query: ErrorQuery) -> LessonHint | None:
        """The known fix for an error; asked once per distinct error of a run."""
        ...

    def record(self, record: RunRecord) -> None:
        """Take what a run left behind; called once, whatever way the run ended. Must not wait for a network."""
        ...


@runtime_checkable
class ReportingHub(Hub, Protocol):
    """A hub that also takes an outcome said after the run (`agent.report(success=...)`)."""

    def report(self, report: OutcomeReport) -> None:
        """Take a late outcome. Must not wait for a network."""
        ...

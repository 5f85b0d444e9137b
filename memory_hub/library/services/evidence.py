"""Evidence: immutable observations; a later one may take an earlier one's place."""

from collections.abc import Mapping
from typing import Any

from memory_hub.access.actor import Actor
from memory_hub.library.drafts import Metric
from memory_hub.library.models import Evidence, Lesson, Revision
from memory_hub.runs.models import Run


def evidence_record(
    *,
    actor: Actor,
    kind: str,
    outcome: str,
    revision: Revision | None = None,
    lesson: Lesson | None = None,
    metric: Metric | None = None,
    sandbox: str = "",
    run: Run | None = None,
    detail: Mapping[str, Any] | None = None,
    supersedes: Evidence | None = None,
) -> Evidence:
    """Add evidence about a revision or a lesson, as a part of a service that records the audit event."""
    raise NotImplementedError


def evidence_report(
    *,
    actor: Actor,
    outcome: str,
    revision: Revision | None = None,
    lesson: Lesson | None = None,
    metric: Metric | None = None,
    sandbox: str = "",
    run: Run | None = None,
    note: str = "",
) -> Evidence:
    """Say how a revision or lesson worked, outside of a recall. A person's later report without a run replaces it."""
    raise NotImplementedError

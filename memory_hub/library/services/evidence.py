"""Evidence: immutable observations; a later one may take an earlier one's place."""

import math
from collections.abc import Mapping
from typing import Any

from memory_hub.access.actor import Actor
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.audit.events import Event
from memory_hub.audit.services import record
from memory_hub.common.errors import InvalidInput, NotFound
from memory_hub.library.drafts import Metric
from memory_hub.library.models import Evidence, Lesson, Revision
from memory_hub.library.secret_scan import refuse_secrets
from memory_hub.library.texts import prose, storable_json
from memory_hub.runs.models import Run

from .conflicts import SPEAKING, conflicts_find

# What a program needs to add evidence of each kind; verified comes from the hub alone.
_PERMISSIONS = {
    Evidence.Kind.REUSED.value: Permission.RECALL,
    Evidence.Kind.RATED.value: Permission.SOLUTION_RATE,
    Evidence.Kind.REPORTED.value: Permission.SOLUTION_RATE,
}


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
    """Add evidence about a revision or a lesson, as a part of a service that records the audit event.

    Where it shows that one solution fails where another works, the two are linked and queued for review.
    """
    if (revision is None) == (lesson is None):
        raise ValueError("evidence is about one revision or one lesson")
    subject: Revision | Lesson = revision or lesson  # type: ignore[assignment]
    if kind in _PERMISSIONS:
        require(actor, _PERMISSIONS[kind], subject)
    elif not actor.is_system:
        raise ValueError(f"evidence of kind {kind} comes from the hub alone")
    if run is not None and run.project_id != subject.project_id:
        raise NotFound("There is no such run in this project.")
    metric = _clean(metric)
    evidence = Evidence.objects.create(
        team_id=subject.team_id,
        project_id=subject.project_id,
        revision=revision,
        lesson=lesson,
        kind=kind,
        outcome=outcome,
        metric_name=metric.name if metric else "",
        metric_value=metric.value if metric else None,
        metric_unit=metric.unit if metric else "",
        metric_better=metric.better if metric else "",
        sandbox=sandbox,
        run=run,
        user_id=actor.user_id,
        detail=storable_json(detail or {}),
        supersedes=supersedes,
    )
    if revision is not None and kind in SPEAKING and outcome != Evidence.Outcome.NOT_APPLICABLE:
        conflicts_find(actor=actor, revision=revision)
    return evidence


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
    """Say how a revision or lesson worked, outside of a recall.

    A report that names a run stands for itself. Without one, a person's later report on the same thing takes the
    place of the earlier (per metric), so that nobody makes a solution good by repeating it.
    """
    subject = revision or lesson
    if subject is None:
        raise ValueError("a report is about one revision or one lesson")
    require(actor, Permission.SOLUTION_RATE, subject)
    note = prose(note, "note", limit=2_000)
    refuse_secrets({"note": note})
    # Two reports of one person at once wait for each other here.
    type(subject).objects.select_for_update().filter(id=subject.id).first()
    earlier = None
    if run is None and actor.user_id is not None:
        earlier = Evidence.objects.filter(
            kind=Evidence.Kind.REPORTED,
            revision=revision,
            lesson=lesson,
            user_id=actor.user_id,
            run=None,
            metric_name=metric.name if metric else "",
            superseded_by=None,
        ).first()
    evidence = evidence_record(
        actor=actor,
        kind=Evidence.Kind.REPORTED,
        outcome=outcome,
        revision=revision,
        lesson=lesson,
        metric=metric,
        sandbox=prose(sandbox, "sandbox", limit=20),
        run=run,
        detail={"note": note} if note else {},
        supersedes=earlier,
    )
    record(
        actor=actor,
        event=Event.EVIDENCE_REPORTED,
        object_kind="revision" if revision else "lesson",
        object_id=subject.id,
        team_id=subject.team_id,
        project_id=subject.project_id,
        data={"outcome": outcome, "evidence": str(evidence.id)},
    )
    return evidence


def _clean(metric: Metric | None) -> Metric | None:
    if metric is None:
        return None
    if not math.isfinite(metric.value):
        raise InvalidInput("A metric is a finite number.", fields={"metric": "Not a finite number."})
    if metric.better not in ("", "higher", "lower"):
        raise InvalidInput(
            "`better` is higher, lower or empty.", fields={"metric": "better: higher or lower"}
        )
    return Metric(
        name=prose(metric.name, "metric", limit=60, required=True),
        value=metric.value,
        unit=prose(metric.unit, "metric", limit=20),
        better=metric.better,
    )

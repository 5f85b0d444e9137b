"""What became of a recall: which items were used, and whether it worked. Each use is one evidence on its revision."""

import math
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from memory_hub.access.actor import Actor
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.audit.events import Event
from memory_hub.audit.services import record
from memory_hub.common.clock import now
from memory_hub.common.errors import InvalidInput, NotFound
from memory_hub.library.drafts import Metric
from memory_hub.library.models import Evidence
from memory_hub.library.services.evidence import evidence_record
from memory_hub.recall.models import Recall, RecallItem

MAX_METRICS = 20


def recall_outcome(
    *,
    actor: Actor,
    recall_id: UUID,
    used: Sequence[UUID],
    outcome: str,
    metrics: Sequence[Metric] = (),
    sandbox: str = "",
) -> Recall:
    """Report once or again which offered revisions were used and with which outcome.

    Said again, the new evidence takes the place of the old: one use of a recall counts once. Raises NotFound for a
    recall the actor cannot see, InvalidInput for a revision that was not offered or an unknown outcome.
    """
    recall = Recall.objects.select_for_update(of=("self",)).visible_to(actor).filter(id=recall_id).first()
    if recall is None:
        raise NotFound
    require(actor, Permission.RECALL, recall)
    if outcome not in Evidence.Outcome.values:
        raise InvalidInput(
            f"outcome is one of {', '.join(Evidence.Outcome.values)}.", fields={"outcome": "Unknown."}
        )
    if len(metrics) > MAX_METRICS or not all(math.isfinite(metric.value) for metric in metrics):
        message = f"At most {MAX_METRICS} metrics, each a finite number."
        raise InvalidInput(message, fields={"metrics": message})
    items = list(recall.items.filter(revision__isnull=False).select_related("revision"))
    if strangers := sorted(str(item) for item in set(used) - {item.revision_id for item in items}):
        raise InvalidInput("These revisions were not offered by this recall.", fields={"used": strangers})
    for item in items:
        item.used = item.revision_id in used
        item.outcome = outcome if item.used else ""
        _tell(actor, recall, item, metrics, sandbox or recall.sandbox)
    RecallItem.objects.bulk_update(items, ["used", "outcome"])
    recall.outcome, recall.outcome_at = outcome, now()
    recall.save(update_fields=["outcome", "outcome_at"])
    record(
        actor=actor, event=Event.RECALL_OUTCOME, object_kind="recall", object_id=recall.id,
        team_id=recall.team_id, project_id=recall.project_id,
        data={"used": sorted(str(item) for item in set(used)), "outcome": outcome},
    )  # fmt: skip
    return recall


def _tell(actor: Actor, recall: Recall, item: RecallItem, metrics: Sequence[Metric], sandbox: str) -> None:
    """Add the evidence of one use in place of what was said before; taken back where it was not used after all.

    The first metric stands in the evidence's own columns, the others in its detail: more numbers are not more uses.
    """
    assert item.revision is not None
    earlier = Evidence.objects.filter(
        revision=item.revision, kind=Evidence.Kind.REUSED, detail__recall=str(recall.id), superseded_by=None
    ).first()
    if not item.used and (earlier is None or earlier.outcome == Evidence.Outcome.NOT_APPLICABLE):
        return
    detail: dict[str, Any] = {"recall": str(recall.id)}
    if item.used and len(metrics) > 1:
        detail["further_metrics"] = [
            {"name": more.name[:60], "value": more.value, "unit": more.unit[:20], "better": more.better}
            for more in metrics[1:]
        ]
    evidence_record(
        actor=actor,
        revision=item.revision,
        kind=Evidence.Kind.REUSED,
        outcome=item.outcome or Evidence.Outcome.NOT_APPLICABLE,
        metric=metrics[0] if metrics and item.used else None,
        sandbox=sandbox,
        run=recall.run,
        detail=detail,
        supersedes=earlier,
    )

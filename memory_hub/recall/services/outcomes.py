"""What became of a recall: which items were used, and whether it worked. Each use is evidence on the revision."""

from collections.abc import Sequence
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

    Said again, the new evidence supersedes the old. Raises NotFound for a recall the actor cannot see, InvalidInput
    for a revision that was not offered or an unknown outcome.
    """
    recall = Recall.objects.select_for_update(of=("self",)).visible_to(actor).filter(id=recall_id).first()
    if recall is None:
        raise NotFound
    require(actor, Permission.RECALL, recall)
    if outcome not in Evidence.Outcome.values:
        raise InvalidInput(
            f"outcome is one of {', '.join(Evidence.Outcome.values)}.", fields={"outcome": "Unknown."}
        )
    offered = recall.items.filter(revision__isnull=False).select_related("revision")
    items = {item.revision_id: item for item in offered}
    strangers = [str(item) for item in used if item not in items]
    if strangers:
        raise InvalidInput("These revisions were not offered by this recall.", fields={"used": strangers})
    for item in items.values():
        _mark(actor, recall, item, item.revision_id in used, outcome, metrics, sandbox or recall.sandbox)
    recall.outcome, recall.outcome_at = outcome, now()
    recall.save(update_fields=["outcome", "outcome_at"])
    record(
        actor=actor, event=Event.RECALL_OUTCOME, object_kind="recall", object_id=recall.id,
        team_id=recall.team_id, project_id=recall.project_id,
        data={"used": [str(item) for item in used], "outcome": outcome},
    )  # fmt: skip
    return recall


def _mark(
    actor: Actor,
    recall: Recall,
    item: RecallItem,
    was_used: bool,
    outcome: str,
    metrics: Sequence[Metric],
    sandbox: str,
) -> None:
    item.used, item.outcome = was_used, outcome if was_used else ""
    item.save(update_fields=["used", "outcome"])
    if not was_used or item.revision is None:
        return
    # One use, however often and with however many numbers it is told: the last telling counts.
    said = Evidence.objects.filter(
        revision=item.revision, kind=Evidence.Kind.REUSED, detail__recall=str(recall.id), superseded_by=None
    )
    earlier = list(said.order_by("id"))
    for number, metric in enumerate(metrics or [None]):
        evidence_record(
            actor=actor,
            revision=item.revision,
            kind=Evidence.Kind.REUSED if number == 0 else Evidence.Kind.REPORTED,
            outcome=outcome,
            metric=metric,
            sandbox=sandbox,
            run=recall.run,
            detail={"recall": str(recall.id)},
            supersedes=earlier.pop(0) if earlier else None,
        )

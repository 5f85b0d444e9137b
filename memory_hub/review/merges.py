"""Merging: a reviewer looks at two solutions side by side and makes one of them stand for both, or keeps them apart.

A merge moves nothing. The merged solution is archived with all its revisions, evidence, lessons, stars, decisions and
failed alternatives, and leads to the survivor; evidence on the same program counts for the survivor (library.quality).
Bringing the merged one back from the archive undoes it.
"""

from collections.abc import Mapping
from uuid import UUID

from memory_hub.access.actor import Actor, ActorKind
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.audit.events import Event
from memory_hub.common.clock import now
from memory_hub.common.errors import Conflict, InvalidInput, NotFound, PermissionDenied
from memory_hub.common.nudge import nudge
from memory_hub.library.models import MergeProposal, Revision, Solution
from memory_hub.library.secret_scan import refuse_secrets
from memory_hub.library.services.links import links_after_merge
from memory_hub.library.services.merge_proposals import MAX_NOTE, record_about_merge
from memory_hub.library.services.rows import latest_of, lock_solution, record_about, require_not_archived
from memory_hub.library.texts import prose

from .ownership import is_own_work

_STATE = MergeProposal.State
# {solution id: its latest revision}, as the reviewer saw both
Seen = Mapping[UUID, UUID]


def solution_merge(
    *, actor: Actor, solution: Solution, into: Solution, seen: Seen, note: str = ""
) -> MergeProposal:
    """Let `into` stand for `solution`, which is archived; returns the pair's row, decided.

    Raises NotFound where they are of two projects; Conflict where one is not as it was `seen` (stale_revision), is
    archived, or is served while the survivor is not (survivor_not_approved); PermissionDenied without the right to
    review, and (own_work) where somebody's approved work would give way to the reviewer's own.
    """
    require(actor, Permission.REVISION_REVIEW, solution)
    if solution.project_id != into.project_id:
        raise NotFound
    if solution.id == into.id:
        raise InvalidInput("A solution cannot be merged with itself.")
    one, two = sorted((solution, into), key=lambda row: row.id)
    row, _ = MergeProposal.objects.get_or_create(
        one=one,
        two=two,
        defaults={
            "team_id": one.team_id,
            "project_id": one.project_id,
            "kind": MergeProposal.Kind.ASKED,
            "proposed_by_id": actor.user_id,
        },
    )
    return _accept(actor, row, into.id, seen, note, wanted=(_STATE.OPEN, _STATE.DECLINED))


def merge_accept(
    *, actor: Actor, proposal: MergeProposal, survivor_id: UUID, seen: Seen, note: str = ""
) -> MergeProposal:
    """Merge a proposed pair; `survivor_id` is the one that stays. Raises as solution_merge, and where it is decided."""
    require(actor, Permission.REVISION_REVIEW, proposal)
    if survivor_id not in (proposal.one_id, proposal.two_id):
        message = "Say which of the two stays."
        raise InvalidInput(message, fields={"survivor": message})
    return _accept(actor, proposal, survivor_id, seen, note, wanted=(_STATE.OPEN,))


def merge_decline(*, actor: Actor, proposal: MergeProposal, seen: Seen, note: str) -> MergeProposal:
    """Keep a pair apart, with the reason; it is not proposed again unless there is news."""
    require(actor, Permission.REVISION_REVIEW, proposal)
    if not note.strip():
        message = "Say why they are not the same, so that nobody has to ask again."
        raise InvalidInput(message, code="note_needed", fields={"note": message})
    row, _, _ = _begin(actor, proposal, seen, wanted=(_STATE.OPEN,))
    _decide(actor, row, _STATE.DECLINED, note)
    record_about_merge(actor, Event.MERGE_DECLINED, row, {"note": row.decision_note})
    return row


def _accept(
    actor: Actor,
    proposal: MergeProposal,
    survivor_id: UUID,
    seen: Seen,
    note: str,
    *,
    wanted: tuple[str, ...],
) -> MergeProposal:
    row, one, two = _begin(actor, proposal, seen, wanted=wanted)
    survivor, merged = (one, two) if one.id == survivor_id else (two, one)
    for solution in (merged, survivor):
        require_not_archived(solution)
    if merged.approved_revision_id and not survivor.approved_revision_id:
        raise Conflict(
            f"“{merged.title}” is approved and “{survivor.title}” is not: agents would be offered neither. "
            "Approve it first, or keep the other one.",
            code="survivor_not_approved",
        )
    own = _is_own(actor, survivor)
    gives_way_to_own = merged.approved_revision_id and own and not _is_own(actor, merged)
    if gives_way_to_own and not survivor.project.allow_self_approval:
        raise PermissionDenied(
            "Approved work of others does not give way to your own by your own decision. Another reviewer of the "
            "project has to decide on it.",
            code="own_work",
        )
    row.survivor = survivor
    _decide(actor, row, _STATE.ACCEPTED, note)
    merged.archived_at = now()
    merged.needs_index = True
    merged.save(update_fields=["archived_at", "needs_index", "updated_at"])
    links_after_merge(merged=merged, survivor=survivor)
    about = {
        "into": str(survivor.id), "proposal": str(row.id), "note": row.decision_note, "own_work": own,
        "revisions": {str(item.id): str(item.latest_revision_id) for item in (merged, survivor)},
    }  # fmt: skip
    record_about(actor, Event.SOLUTION_MERGED, merged, about)
    nudge("recall.index_solution", merged.id)
    return row


def _begin(
    actor: Actor, proposal: MergeProposal, seen: Seen, *, wanted: tuple[str, ...]
) -> tuple[MergeProposal, Solution, Solution]:
    """Lock the pair, and refuse it where it is not what the reviewer saw."""
    if actor.kind is ActorKind.RUN:
        raise PermissionDenied("A decision is a person's; an agent run makes none.")
    # Always the older first, so that no two decisions wait for each other.
    one, two = lock_solution(proposal.one_id), lock_solution(proposal.two_id)
    row = MergeProposal.objects.select_for_update(of=("self",)).get(id=proposal.id)
    row.one, row.two = one, two
    if row.state not in wanted:
        raise Conflict(
            f"Somebody decided meanwhile: this is {row.state}.", code="status_moved", state=row.state
        )
    for solution in (one, two):
        if seen.get(solution.id) != solution.latest_revision_id:
            raise Conflict(
                f"A newer revision of “{solution.title}” was added since you looked. Look at it before you decide.",
                code="stale_revision",
                solution=str(solution.id),
                latest=str(solution.latest_revision_id),
            )
    return row, one, two


def _is_own(actor: Actor, solution: Solution) -> bool:
    standing = solution.approved_revision_id or latest_of(solution)
    return is_own_work(actor, Revision.objects.select_related("author_run").get(id=standing))


def _decide(actor: Actor, row: MergeProposal, state: str, note: str) -> None:
    note = prose(note, "note", limit=MAX_NOTE)
    refuse_secrets({"note": note})
    row.state, row.decision_note = state, note
    row.decided_by_id, row.decided_at = actor.user_id, now()
    row.save(update_fields=["state", "survivor", "decision_note", "decided_by", "decided_at"])

"""Proposals to merge two solutions: written by what notices, or by people; decided in review.merges."""

from collections.abc import Mapping
from typing import Any

from memory_hub.access.actor import Actor
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.audit.events import Event
from memory_hub.audit.services import record
from memory_hub.common.errors import Conflict, InvalidInput, NotFound
from memory_hub.library.models import MergeProposal, Solution
from memory_hub.library.secret_scan import refuse_secrets
from memory_hub.library.texts import prose

from .rows import require_not_archived

_KIND, _STATE = MergeProposal.Kind, MergeProposal.State
MAX_NOTE = 10_000


def merge_propose(*, actor: Actor, solution: Solution, other: Solution, note: str = "") -> MergeProposal:
    """Ask a reviewer to merge two solutions of one project; returns the proposal that is open already.

    Raises Conflict (code merged) where they were merged, InvalidInput for a solution and itself.
    """
    require(actor, Permission.SOLUTION_EDIT, solution)
    if other.project_id != solution.project_id:
        raise NotFound
    for row in (solution, other):
        require_not_archived(row)
    note = prose(note, "note", limit=MAX_NOTE)
    refuse_secrets({"note": note})
    return merge_notice(actor=actor, first=solution, second=other, kind=_KIND.ASKED, detail={}, note=note)


def merge_notice(
    *,
    actor: Actor,
    first: Solution,
    second: Solution,
    kind: str,
    detail: Mapping[str, Any],
    note: str = "",
) -> MergeProposal:
    """Put a pair into the review queue, once per pair; returns its row. Nothing else is changed by it.

    A pair that somebody decided to keep apart comes up again only for what the decision did not know: a conflict
    where there was none, or a person who asks. An open row becomes a conflict where one is found.
    """
    if first.id == second.id:
        raise InvalidInput("A solution cannot be merged with itself.")
    one, two = sorted((first, second), key=lambda row: row.id)
    about = {"kind": kind, "detail": dict(detail), "note": note}
    person = actor.user_id if kind == _KIND.ASKED else None
    row, created = MergeProposal.objects.get_or_create(
        one=one,
        two=two,
        defaults={
            "team_id": one.team_id, "project_id": one.project_id, "proposed_by_id": person, **about,
        },
    )  # fmt: skip
    if not created:
        row = MergeProposal.objects.select_for_update(of=("self",)).get(id=row.id)
        if not _is_news(row, kind):
            return row
        for name, value in about.items():
            setattr(row, name, value)
        row.proposed_by_id = person
        row.state, row.survivor, row.decided_by, row.decided_at = _STATE.OPEN, None, None, None
        row.save()
    record_about_merge(actor, Event.MERGE_PROPOSED, row, {"kind": kind, **dict(detail)})
    return row


def record_about_merge(actor: Actor, event: Event, row: MergeProposal, data: Mapping[str, Any]) -> None:
    """Record an audit event about a pair."""
    record(
        actor=actor,
        event=event,
        object_kind="merge_proposal",
        object_id=row.id,
        object_label=f"{row.one.title} and {row.two.title}",
        team_id=row.team_id,
        project_id=row.project_id,
        data={"solutions": [str(row.one_id), str(row.two_id)], **data},
    )


def _is_news(row: MergeProposal, kind: str) -> bool:
    if row.state == _STATE.ACCEPTED:
        if kind == _KIND.ASKED:
            raise Conflict("These two were merged already.", code="merged")
        return False
    if row.state == _STATE.OPEN:
        return kind == _KIND.CONFLICT and row.kind != _KIND.CONFLICT
    return kind == _KIND.ASKED or (kind == _KIND.CONFLICT and row.kind != _KIND.CONFLICT)

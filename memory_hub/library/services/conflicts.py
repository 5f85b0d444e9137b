"""Conflicts: a solution that fails where another one on the same problem works is linked to it and queued.

Looked for whenever evidence comes in, on the revisions that stand for the solutions. Checks, uses and reports speak;
stars do not. The one whose share of successes is less, and who has failed, is the failing one.
"""

from collections import defaultdict
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q

from memory_hub.access.actor import Actor
from memory_hub.library.models import Evidence, Link, MergeProposal, Revision, Solution

from .links import links_draw
from .merge_proposals import merge_notice

SPEAKING = (Evidence.Kind.VERIFIED, Evidence.Kind.REUSED, Evidence.Kind.REPORTED)
_MAX_PEERS = 20


@dataclass(frozen=True, slots=True)
class _Record:
    """How often a revision worked and failed."""

    success: int = 0
    failure: int = 0

    @property
    def share(self) -> float:
        return self.success / (self.success + self.failure)

    def fails_where_works(self, other: "_Record") -> bool:
        return bool(self.failure and other.success) and self.share < other.share


def conflicts_find(*, actor: Actor, revision: Revision) -> None:
    """Link and queue what this revision, of which new evidence has come, is in conflict with."""
    solution = (
        Solution.objects.filter(id=revision.solution_id, archived_at=None)
        .select_related("approved_revision", "latest_revision")
        .first()
    )
    if solution is None or _standing(solution).id != revision.id:
        return
    peers = _peers(solution)
    if not peers:
        return
    records = _records([revision, *(_standing(peer) for peer in peers)])
    own = records[revision.id]
    for peer in peers:
        other = _standing(peer)
        theirs = records[other.id]
        if own.fails_where_works(theirs):
            _draw(actor, solution, revision, peer, other)
        elif theirs.fails_where_works(own):
            _draw(actor, peer, other, solution, revision)


def _draw(actor: Actor, failing: Solution, bad: Revision, working: Solution, good: Revision) -> None:
    known = Link.objects.filter(kind=Link.Kind.CONFLICTS_WITH)
    if not known.filter(source=working, target=failing).exists():
        reason = f"Revision {bad.number} failed where revision {good.number} of the other works"
        links_draw(kind=Link.Kind.CONFLICTS_WITH, source=failing, targets=[working.id], reason=reason)
    merge_notice(
        actor=actor,
        first=failing,
        second=working,
        kind=MergeProposal.Kind.CONFLICT,
        detail={"failing": str(bad.id), "working": str(good.id), "failing_solution": str(failing.id)},
    )


def _peers(solution: Solution) -> list[Solution]:
    """Return the solutions on the same problem: the same statement, linked as an alternative, or almost the same."""
    linked = Link.objects.filter(
        Q(source=solution) | Q(target=solution), kind=Link.Kind.ALTERNATIVE_TO, target__isnull=False
    ).values_list("source_id", "target_id")
    almost = MergeProposal.objects.filter(Q(one=solution) | Q(two=solution)).values_list("one_id", "two_id")
    ids = {item for pair in linked.union(almost) for item in pair}
    same = Q(id__in=ids)
    if solution.problem_hash:
        same |= Q(problem_hash=solution.problem_hash)
    rows = Solution.objects.filter(
        same, project_id=solution.project_id, archived_at=None, latest_revision__isnull=False
    )
    rows = rows.exclude(id=solution.id).select_related("approved_revision", "latest_revision")
    return list(rows.order_by("id")[:_MAX_PEERS])


def _standing(solution: Solution) -> Revision:
    revision = solution.approved_revision or solution.latest_revision
    assert revision is not None
    return revision


def _records(revisions: list[Revision]) -> dict[UUID, _Record]:
    rows = (
        Evidence.objects.filter(
            revision__in=revisions, kind__in=[kind.value for kind in SPEAKING], superseded_by=None
        )
        .order_by()
        .values("revision_id")
        .annotate(
            success=Count("id", filter=Q(outcome=Evidence.Outcome.SUCCESS)),
            failure=Count("id", filter=Q(outcome=Evidence.Outcome.FAILURE)),
        )
    )
    found = {row["revision_id"]: _Record(row["success"], row["failure"]) for row in rows}
    return defaultdict(_Record, found)

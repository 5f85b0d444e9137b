"""Reads of the review room: what waits and why, who may decide, what was decided and rated."""

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Avg, Count, F, Q, QuerySet

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can, require
from memory_hub.common.errors import NotFound
from memory_hub.library.models import MergeProposal, Revision, Solution
from memory_hub.recall.models import RecallItem

from .models import Rating, Review
from .ownership import is_own_work


@dataclass(frozen=True, slots=True)
class MayDecide:
    """Whether the actor may decide on a revision; `reason` says why not, in words for them."""

    approve: bool
    reject: bool
    deprecate: bool
    own_work: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RatingSummary:
    """The mean of the stars (None without any) and how many people gave them."""

    mean: float | None
    count: int


def _candidates(actor: Actor) -> "QuerySet[Revision]":
    return Revision.objects.visible_to(actor).filter(
        status=Revision.Status.CANDIDATE,
        solution__archived_at=None,
        solution__latest_revision_id=F("id"),
    )


def waiting(actor: Actor, project: Project) -> "QuerySet[Revision]":
    """Return the candidates that wait for a decision, oldest first: the latest of each solution not archived."""
    return (
        _candidates(actor)
        .filter(project=project)
        .select_related("solution__approved_revision", "author", "author_run")
        .order_by("id")
    )


def waiting_count(actor: Actor, project: Project) -> int:
    """Return how much waits for a decision: candidates, and pairs of solutions."""
    return waiting(actor, project).count() + _open_pairs(actor).filter(project=project).count()


def waiting_counts(actor: Actor) -> dict[UUID, int]:
    """Return how much waits in each of the actor's projects where anything does, in two queries."""
    counts: Counter[UUID] = Counter()
    for rows in (_candidates(actor), _open_pairs(actor)):
        for row in rows.order_by().values("project_id").annotate(count=Count("id")):
            counts[row["project_id"]] += row["count"]
    return dict(counts)


def _open_pairs(actor: Actor) -> "QuerySet[MergeProposal]":
    return _all_pairs(actor).filter(
        state=MergeProposal.State.OPEN, one__archived_at=None, two__archived_at=None
    )


def _all_pairs(actor: Actor) -> "QuerySet[MergeProposal]":
    return MergeProposal.objects.visible_to(actor)


def merge_proposals(actor: Actor, project: Project, state: str = "") -> "QuerySet[MergeProposal]":
    """Return the pairs of a project to merge or keep apart, the oldest first; `open` leaves out archived solutions.

    Needs library:read. An empty `state` means all.
    """
    require(actor, Permission.LIBRARY_READ, project)
    if state == MergeProposal.State.OPEN:
        rows = _open_pairs(actor)
    else:
        rows = _all_pairs(actor).filter(state=state) if state else _all_pairs(actor)
    return rows.filter(project=project).select_related(*_PAIR).order_by("id")


def merge_proposal_get(actor: Actor, proposal_id: UUID) -> MergeProposal:
    """Return a pair. Raises NotFound for what the actor cannot see."""
    found = (
        MergeProposal.objects.visible_to(actor)
        .select_related(*_PAIR, "project__team")
        .filter(id=proposal_id)
        .first()
    )
    if found is None:
        raise NotFound
    require(actor, Permission.LIBRARY_READ, found)
    return found


def merge_proposals_of(actor: Actor, solution: Solution) -> "QuerySet[MergeProposal]":
    """Return the open pairs that a solution is one of."""
    pairs = _open_pairs(actor).filter(Q(one=solution) | Q(two=solution))
    return pairs.select_related("one", "two").order_by("id")


def why_proposed(proposal: MergeProposal) -> str:
    """Say in words why a pair is in the queue."""
    detail = proposal.detail
    if proposal.kind == MergeProposal.Kind.NEAR_DUPLICATE:
        return (
            f"The statements mean almost the same ({detail['cosine'] * 100:.0f} %) and "
            f"{detail['overlap'] * 100:.0f} % of the words in problem and code are the same"
        )
    if proposal.kind == MergeProposal.Kind.CONFLICT:
        failing, working = proposal.one, proposal.two
        if detail.get("failing_solution") == str(proposal.two_id):
            failing, working = working, failing
        return f"“{failing.title}” failed where “{working.title}” works"
    return proposal.note or "Somebody asks for it, without a reason"


_PAIR = (
    "one__approved_revision", "one__latest_revision", "one__author",
    "two__approved_revision", "two__latest_revision", "two__author",
    "proposed_by", "decided_by", "survivor",
)  # fmt: skip


def queue(actor: Actor, project: Project) -> "QuerySet[Revision]":
    """Return the review queue, oldest first. Needs library:read."""
    require(actor, Permission.LIBRARY_READ, project)
    return waiting(actor, project)


def next_waiting(actor: Actor, solution: Solution) -> Revision | None:
    """Return the oldest candidate of another solution that the actor may decide on, for going through the queue."""
    if not can(actor, Permission.REVISION_REVIEW, solution):
        return None
    rows = waiting(actor, solution.project).exclude(solution=solution)
    return next((row for row in rows[:20] if not is_own_work(actor, row)), None)


def why_it_waits(revision: Revision) -> list[str]:
    """Return what a reviewer should know before opening a candidate."""
    approved = revision.solution.approved_revision
    reasons = []
    if approved is not None:
        reasons.append(f"Would replace revision {approved.number}, which is served now")
    elif revision.number > 1:
        reasons.append("A refinement; nothing of this solution is approved")
    else:
        reasons.append("New; recalled as unreviewed at most until somebody decides")
    if revision.check_spec is None:
        reasons.append("No check. " + revision.check_missing)
    elif revision.needs_verification:
        reasons.append("Its check is being run")
    elif revision.verification == Revision.Verification.FAILED:
        reasons.append("Its check failed")
    return reasons


def may_decide(actor: Actor, revision: Revision) -> MayDecide:
    """Say which decisions the actor may make on a revision as it stands."""
    own = is_own_work(actor, revision)
    if not can(actor, Permission.REVISION_REVIEW, revision):
        return MayDecide(False, False, False, own, "Deciding needs the role reviewer in this project.")
    if revision.solution.archived_at:
        return MayDecide(False, False, False, own, "The solution is archived.")
    status = revision.status
    barred = own and not revision.project.allow_self_approval
    reason = (
        "This is your own work, and nobody approves their own. Another reviewer has to." if barred else ""
    )
    return MayDecide(
        approve=status != Revision.Status.APPROVED and not barred,
        reject=status == Revision.Status.CANDIDATE,
        deprecate=status == Revision.Status.APPROVED,
        own_work=own,
        reason=reason if status != Revision.Status.APPROVED else "",
    )


def reviews_of(actor: Actor, solution: Solution) -> "QuerySet[Review]":
    """Return the decisions on a solution's revisions, newest first."""
    return Review.objects.visible_to(actor).filter(solution=solution).select_related("revision", "reviewer")


def rating_of(actor: Actor, solution: Solution) -> Rating | None:
    """Return the stars that the actor's person gave, if any."""
    if actor.user_id is None:
        return None
    return Rating.objects.visible_to(actor).filter(solution=solution, user_id=actor.user_id).first()


def ratings_of(actor: Actor, solution: Solution) -> "QuerySet[Rating]":
    """Return everybody's stars for a solution, newest first."""
    return (
        Rating.objects.visible_to(actor)
        .filter(solution=solution)
        .select_related("user")
        .order_by("-updated_at")
    )


def rating_summary(actor: Actor, solution: Solution) -> RatingSummary:
    """Return the mean of a solution's stars."""
    row = (
        Rating.objects.visible_to(actor)
        .filter(solution=solution)
        .aggregate(mean=Avg("stars"), count=Count("id"))
    )
    return RatingSummary(mean=row["mean"], count=row["count"])


def rating_summaries(actor: Actor, solutions: list[Solution]) -> dict[object, RatingSummary]:
    """Return the mean of the stars of each of these solutions that has any, in one query."""
    rows = (
        Rating.objects.visible_to(actor)
        .filter(solution__in=solutions)
        .order_by()
        .values("solution_id")
        .annotate(mean=Avg("stars"), count=Count("id"))
    )
    return {row["solution_id"]: RatingSummary(row["mean"], row["count"]) for row in rows}


@dataclass(frozen=True, slots=True)
class RecallUse:
    """How often a solution was offered to agents, and how often one of them used it."""

    offered: int
    used: int


def recall_use(actor: Actor, solution: Solution) -> RecallUse:
    """Return how often recall offered a solution and how often it was used."""
    row = (
        RecallItem.objects.visible_to(actor)
        .filter(solution=solution)
        .aggregate(offered=Count("id"), used=Count("id", filter=Q(used=True)))
    )
    return RecallUse(offered=row["offered"], used=row["used"])

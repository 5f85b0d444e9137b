"""Reads of the review room: what waits and why, who may decide, what was decided and rated."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Avg, Count, F, Q, QuerySet

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can, require
from memory_hub.library.models import Revision, Solution
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
    """Return how many candidates wait for a decision."""
    return waiting(actor, project).count()


def waiting_counts(actor: Actor) -> dict[UUID, int]:
    """Return how many candidates wait in each of the actor's projects that has any, in one query."""
    rows = _candidates(actor).order_by().values("project_id").annotate(count=Count("id"))
    return {row["project_id"]: row["count"] for row in rows}


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

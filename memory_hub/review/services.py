"""Human judgement: decisions on revisions, ratings of solutions."""

from collections.abc import Mapping
from uuid import UUID

from memory_hub.access.actor import Actor, ActorKind
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.audit.events import Event
from memory_hub.common.errors import Conflict, InvalidInput, PermissionDenied
from memory_hub.common.nudge import nudge
from memory_hub.common.transitions import require_transition
from memory_hub.library.models import Evidence, Revision, Solution
from memory_hub.library.secret_scan import refuse_secrets
from memory_hub.library.services.evidence import evidence_record
from memory_hub.library.services.links import links_after_decision
from memory_hub.library.services.rows import (
    latest_of,
    lock_revision,
    lock_solution,
    record_about,
    record_about_revision,
    require_not_archived,
)
from memory_hub.library.texts import prose

from .models import Rating, Review
from .ownership import is_own_work

_STATUS = Revision.Status
# A refusal may be taken back, and an older revision put in service again; both are decisions of their own.
TRANSITIONS: Mapping[str, frozenset[str]] = {
    _STATUS.CANDIDATE: frozenset({_STATUS.APPROVED, _STATUS.REJECTED}),
    _STATUS.APPROVED: frozenset({_STATUS.DEPRECATED}),
    _STATUS.REJECTED: frozenset({_STATUS.APPROVED}),
    _STATUS.DEPRECATED: frozenset({_STATUS.APPROVED}),
}
MAX_NOTE = 10_000


def revision_approve(
    *,
    actor: Actor,
    revision: Revision,
    note: str = "",
    expected_latest: UUID | None = None,
    expected_status: str = Revision.Status.CANDIDATE,
) -> Review:
    """Let recall serve this revision; the one approved before becomes deprecated.

    `expected_latest` is the latest revision the reviewer knew of; without it this revision must be the latest.
    Raises Conflict where a newer revision exists or the status is not `expected_status` any more, PermissionDenied
    for the author's own work unless the project allows it.
    """
    solution, revision = _begin(actor, revision, expected_latest, expected_status)
    own = is_own_work(actor, revision)
    if own and not solution.project.allow_self_approval:
        raise PermissionDenied(
            "Nobody approves their own work. Another reviewer of the project has to decide on it.",
            code="own_work",
        )
    require_transition(TRANSITIONS, revision.status, _STATUS.APPROVED, "revision")
    before = solution.approved_revision
    if before is not None:
        before.status = _STATUS.DEPRECATED
        before.save(update_fields=["status"])
    solution.approved_revision = revision
    replaced = {"replaced": str(before.id)} if before else {}
    return _decide(actor, solution, revision, Review.Decision.APPROVE, note, own=own, more=replaced)


def revision_reject(
    *,
    actor: Actor,
    revision: Revision,
    note: str,
    expected_latest: UUID | None = None,
    expected_status: str = Revision.Status.CANDIDATE,
) -> Review:
    """Refuse a candidate, with the reason for its author. One's own may be refused: that takes nothing in."""
    if not note.strip():
        message = "Say why, so that its author can do better."
        raise InvalidInput(message, code="note_needed", fields={"note": message})
    solution, revision = _begin(actor, revision, expected_latest, expected_status)
    require_transition(TRANSITIONS, revision.status, _STATUS.REJECTED, "revision")
    return _decide(actor, solution, revision, Review.Decision.REJECT, note, own=is_own_work(actor, revision))


def revision_deprecate(
    *, actor: Actor, revision: Revision, note: str = "", expected_latest: UUID | None = None
) -> Review:
    """Stop serving the approved revision, without putting another in its place."""
    latest = expected_latest or revision.solution.latest_revision_id
    solution, revision = _begin(actor, revision, latest, _STATUS.APPROVED)
    require_transition(TRANSITIONS, revision.status, _STATUS.DEPRECATED, "revision")
    solution.approved_revision = None
    return _decide(
        actor, solution, revision, Review.Decision.DEPRECATE, note, own=is_own_work(actor, revision)
    )


def solution_rate(*, actor: Actor, solution: Solution, stars: int, note: str = "") -> Rating:
    """Give 1 to 5 stars; a person's later rating takes the place of the earlier, as evidence too.

    It is about the revision that is served. Four and five stars speak for it, one and two against it. Stars for
    one's own work are shown, and count for nothing.
    """
    require(actor, Permission.SOLUTION_RATE, solution)
    if actor.user_id is None or actor.kind is ActorKind.RUN:
        raise PermissionDenied("Stars are given by people.")
    if stars not in range(1, 6):
        raise InvalidInput("Give 1 to 5 stars.", fields={"stars": "Give 1 to 5 stars."})
    note = prose(note, "note", limit=2_000)
    refuse_secrets({"note": note})
    solution = lock_solution(solution.id)
    require_not_archived(solution)
    revision = Revision.objects.get(id=solution.approved_revision_id or latest_of(solution))
    earlier = Evidence.objects.filter(
        kind=Evidence.Kind.RATED, revision__solution=solution, user_id=actor.user_id, superseded_by=None
    ).first()
    rating, _ = Rating.objects.update_or_create(
        solution=solution,
        user_id=actor.user_id,
        defaults={"revision": revision, "stars": stars, "note": note},
        create_defaults={
            "team_id": solution.team_id,
            "project_id": solution.project_id,
            "revision": revision,
            "stars": stars,
            "note": note,
        },
    )
    evidence_record(
        actor=actor,
        kind=Evidence.Kind.RATED,
        outcome=_outcome(stars),
        revision=revision,
        detail={"stars": stars, "own_work": is_own_work(actor, revision)},
        supersedes=earlier,
    )
    record_about(actor, Event.SOLUTION_RATED, solution, {"stars": stars, "revision": str(revision.id)})
    return rating


_EVENTS = {
    Review.Decision.APPROVE: Event.REVISION_APPROVED,
    Review.Decision.REJECT: Event.REVISION_REJECTED,
    Review.Decision.DEPRECATE: Event.REVISION_DEPRECATED,
}
_RESULTS = {
    Review.Decision.APPROVE: _STATUS.APPROVED,
    Review.Decision.REJECT: _STATUS.REJECTED,
    Review.Decision.DEPRECATE: _STATUS.DEPRECATED,
}


def _begin(
    actor: Actor, revision: Revision, expected_latest: UUID | None, expected_status: str
) -> tuple[Solution, Revision]:
    """Lock what a decision is about, and refuse it where it is not what the reviewer saw."""
    require(actor, Permission.REVISION_REVIEW, revision)
    if actor.kind is ActorKind.RUN:
        raise PermissionDenied("A decision is a person's; an agent run makes none.")
    # Of two decisions at once one waits here, and then finds that the status has moved.
    revision = lock_revision(revision)
    solution = revision.solution
    require_not_archived(solution)
    if solution.latest_revision_id != (expected_latest or revision.id):
        raise Conflict(
            "A newer revision was added since you opened this page. Look at it before you decide.",
            code="stale_revision",
            latest=str(solution.latest_revision_id),
        )
    if revision.status != expected_status:
        raise Conflict(
            f"Somebody decided meanwhile: this revision is {revision.status}, not {expected_status}.",
            code="status_moved",
            revision_status=revision.status,
        )
    return solution, revision


def _decide(
    actor: Actor,
    solution: Solution,
    revision: Revision,
    decision: Review.Decision,
    note: str,
    *,
    own: bool,
    more: Mapping[str, str] | None = None,
) -> Review:
    note = prose(note, "note", limit=MAX_NOTE)
    refuse_secrets({"note": note})
    revision.status = _RESULTS[decision]
    revision.save(update_fields=["status"])
    solution.needs_index = True
    solution.save(update_fields=["approved_revision", "needs_index", "updated_at"])
    links_after_decision(solution=solution)
    review = Review.objects.create(
        team_id=solution.team_id,
        project_id=solution.project_id,
        solution=solution,
        revision=revision,
        reviewer_id=actor.user_id,
        decision=decision,
        note=note,
        is_own_work=own,
    )
    about = {"review": str(review.id), "note": note, "own_work": own, **(more or {})}
    record_about_revision(actor, _EVENTS[decision], revision, about)
    nudge("recall.index_solution", solution.id)
    return review


def _outcome(stars: int) -> str:
    if stars == 3:
        return Evidence.Outcome.NOT_APPLICABLE
    return Evidence.Outcome.SUCCESS if stars > 3 else Evidence.Outcome.FAILURE

"""Human judgement: decisions on revisions, ratings of solutions."""

from uuid import UUID

from memory_hub.access.actor import Actor
from memory_hub.library.models import Revision, Solution
from memory_hub.review.models import Rating, Review


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
    for the author's own work.
    """
    raise NotImplementedError


def revision_reject(
    *,
    actor: Actor,
    revision: Revision,
    note: str,
    expected_latest: UUID | None = None,
    expected_status: str = Revision.Status.CANDIDATE,
) -> Review:
    """Refuse a candidate, with the reason for its author."""
    raise NotImplementedError


def revision_deprecate(
    *, actor: Actor, revision: Revision, note: str = "", expected_latest: UUID | None = None
) -> Review:
    """Stop serving the approved revision, without putting another in its place."""
    raise NotImplementedError


def solution_rate(*, actor: Actor, solution: Solution, stars: int, note: str = "") -> Rating:
    """Give 1 to 5 stars; a person's later rating takes the place of the earlier, as evidence too."""
    raise NotImplementedError

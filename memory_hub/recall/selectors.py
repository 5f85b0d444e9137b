"""Reads of the recall room: a recall on record, and search for people, who may also see what agents are not offered."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can, require
from memory_hub.common.errors import NotFound
from memory_hub.library.models import Lesson, Revision, Solution

from .errors import looks_like_error
from .models import Recall
from .ranking import Scored, reason_of
from .search import search
from .services.lessons import find_lessons
from .values import ErrorDetails

MAX_RESULTS = 30


@dataclass(frozen=True, slots=True)
class Hit:
    """A solution that a person's search found, in whatever status, and why."""

    solution: Solution
    revision: Revision
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found. `weak` hits are below the line at which agents are offered nothing."""

    hits: Sequence[Hit]
    weak: Sequence[Hit]
    lessons: Sequence[Lesson]
    is_error: bool


def recall_get(actor: Actor, recall_id: UUID) -> Recall:
    """Return a recall with its items. Raises NotFound for what the actor cannot see."""
    found = Recall.objects.visible_to(actor).prefetch_related("items").filter(id=recall_id).first()
    if found is None:
        raise NotFound
    require(actor, Permission.LIBRARY_READ, found)
    return found


def search_for_people(
    actor: Actor, projects: Sequence[Project], text: str, *, status: str = "", verification: str = ""
) -> SearchResult:
    """Return what these of the actor's projects hold on a question, or on a pasted error. Nothing is written.

    status and verification narrow to what the shown revision is.
    """
    readable = [project for project in projects if can(actor, Permission.LIBRARY_READ, project)]
    if not readable or not text.strip():
        return SearchResult((), (), (), is_error=False)
    is_error = looks_like_error(text)
    lessons: list[Lesson] = []
    if is_error:
        for project in readable:
            lessons += find_lessons(actor, project, ErrorDetails(traceback=text))
    found = search(text=text, projects=[project.id for project in readable])
    hits = [
        hit
        for hit in _hits(actor, found.scored)
        if status in ("", hit.revision.status) and verification in ("", hit.revision.verification)
    ][:MAX_RESULTS]
    return SearchResult(
        hits=[hit for hit in hits if hit.score >= found.threshold],
        weak=[hit for hit in hits if hit.score < found.threshold],
        lessons=lessons[:MAX_RESULTS],
        is_error=is_error,
    )


def _hits(actor: Actor, scored: Sequence[Scored]) -> list[Hit]:
    ids = [item.candidate.solution_id for item in scored if item.candidate.solution_id]
    rows = {
        row.id: row
        for row in Solution.objects.visible_to(actor)
        .filter(id__in=ids, archived_at=None)
        .select_related("approved_revision", "latest_revision", "project__team", "author")
    }
    hits = []
    for item in scored:
        solution = rows.get(item.candidate.solution_id) if item.candidate.solution_id else None
        revision = (solution.approved_revision or solution.latest_revision) if solution else None
        if solution is not None and revision is not None:
            hits.append(Hit(solution, revision, round(item.score, 4), reason_of(item)))
    return hits

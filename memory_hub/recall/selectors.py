"""Reads of the recall room: what was recalled, what is known of an error."""

import re
from collections.abc import Sequence
from uuid import UUID

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can, require
from memory_hub.common.errors import NotFound
from memory_hub.library.fingerprint import error_fingerprint, normalised_message
from memory_hub.library.models import Lesson, Solution

from .errors import ParsedError
from .lesson_features import ErrorParts
from .lesson_ranking import RankedLesson, rank_lessons, reason_of_lesson
from .models import Recall
from .ranking import Scored
from .search import search
from .statements import error_statement
from .values import FoundLesson

# Somewhat likelier the same error than not. Measured (benchmark_recall --only error_fix) with message and failing line,
# local names replaced: 96 of 100 errors get their lesson; of 100 whose lesson is not there 3 to 4 get another, mostly on
# the same mistake in another program. By the message alone, where only one lesson has it: 48 and 11.
LESSON_THRESHOLD = 0.6
# Candidates of each arm. Errors of one class say the same in their messages, so that many lessons are alike until lines
# are compared: among 5,000 such lessons, 60 a side lost 35 of 1,000 right ones, 150 a side 18.
_LESSONS_COMPARED = 120
# What comes nearest is shown from half of the score that fits: less is no help.
_NEAREST_SHARE = 0.5
_PLACEHOLDER = re.compile(r"<\w+>|\W+")


def recall_get(actor: Actor, recall_id: UUID) -> Recall:
    """Return a recall with its items. Raises NotFound for what the actor cannot see."""
    found = _recall(actor, recall_id)
    require(actor, Permission.LIBRARY_READ, found)
    return found


def recall_to_add_to(actor: Actor, project: Project, recall_id: UUID) -> Recall:
    """Return the recall of the project that further questions of the same run belong to. Raises NotFound."""
    found = _recall(actor, recall_id)
    if found.project_id != project.id:
        raise NotFound
    require(actor, Permission.RECALL, found)
    return found


def recall_to_report(actor: Actor, recall_id: UUID) -> Recall:
    """Return the recall whose outcome is to be told. Raises NotFound, PermissionDenied."""
    found = _recall(actor, recall_id)
    require(actor, Permission.RECALL, found)
    return found


def lessons_on_error(
    actor: Actor, projects: Sequence[UUID], error: ParsedError, *, threshold: float = LESSON_THRESHOLD
) -> list[FoundLesson]:
    """Return the lessons that are likely on this very error, open ones too, the likeliest first."""
    return [item for item in _ranked_lessons(actor, projects, error) if item.score >= threshold]


def search_errors(actor: Actor, projects: Sequence[Project], error: ParsedError) -> list[FoundLesson]:
    """Return what the readable of these projects know of an error, open lessons too.

    A person can judge: so lessons on the same message follow whose program is another, and those that come near.
    """
    found = _ranked_lessons(actor, readable(actor, projects), error)
    fingerprint = error_fingerprint(error.exception_type, error.message, error.library_frames)
    says_much = _says_much(error.message)
    return [
        item
        for item in found
        if item.score >= LESSON_THRESHOLD * _NEAREST_SHARE
        or (says_much and item.lesson.fingerprint == fingerprint)
    ]


def _ranked_lessons(actor: Actor, projects: Sequence[UUID], error: ParsedError) -> list[FoundLesson]:
    """Return all lessons that share something with an error; the search finds them, the comparison ranks them."""
    if not error.exception_type:
        return []
    statement = error_statement(error.exception_type, error.message)
    text = f"{statement}\n{error.failing_line}"
    lessons = [
        lesson
        for lesson, _ in _lessons(actor, projects, search(text=text, projects=projects, kind="lesson").scored)
    ]
    lessons.sort(key=lambda lesson: lesson.id, reverse=True)  # of equals, the newer
    met = ErrorParts(
        error.exception_type, error.message, error.failing_line, error.code, error.library_frames
    )
    ranked = rank_lessons(met, [_parts_of(lesson) for lesson in lessons])
    return [_on_error(lessons[item.place], item) for item in ranked]


def _parts_of(lesson: Lesson) -> ErrorParts:
    return ErrorParts(
        lesson.exception_type, lesson.message, lesson.failing_line, lesson.failing_code, lesson.library_frames
    )


def _on_error(lesson: Lesson, ranked: RankedLesson) -> FoundLesson:
    parts = {name: round(value, 4) for name, value in ranked.parts.items()}
    return FoundLesson(lesson, round(ranked.score, 4), parts, reason_of_lesson(ranked.parts))


def shown_status(solution: Solution) -> str:
    """Return the status under which people see a solution: archived, or that of the revision that stands for it."""
    if solution.archived_at is not None:
        return "archived"
    revision = solution.approved_revision or solution.latest_revision
    return revision.status if revision else ""


def _recall(actor: Actor, recall_id: UUID) -> Recall:
    found = (
        Recall.objects.visible_to(actor)
        .select_related("project", "run")
        .prefetch_related("items")
        .filter(id=recall_id)
        .first()
    )
    if found is None:
        raise NotFound
    return found


def readable(actor: Actor, projects: Sequence[Project]) -> list[UUID]:
    """Return the ids of those of the projects whose library the actor may read."""
    return [project.id for project in projects if can(actor, Permission.LIBRARY_READ, project)]


def _lessons(actor: Actor, projects: Sequence[UUID], scored: Sequence[Scored]) -> list[tuple[Lesson, Scored]]:
    rows = (
        Lesson.objects.visible_to(actor)
        .filter(project_id__in=projects)
        .select_related("project__team")
        .in_bulk([item.candidate.lesson_id for item in scored])
    )
    pairs = [(rows.get(item.candidate.lesson_id), item) for item in scored]
    return [(lesson, item) for lesson, item in pairs if lesson is not None]


def _says_much(message: str) -> bool:
    """Say whether a message names its error apart from its values: `KeyError: 'x'` does not."""
    return len(_PLACEHOLDER.sub(" ", normalised_message(message)).split()) >= 3

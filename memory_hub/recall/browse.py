"""What people find when they search: solutions, lessons and runs, by words and by filters. Nothing is recorded.

Access narrows first, then the filters, then the words. Up to among.MOST things that pass the filters are all compared
with the words, so that a filter loses nothing that fits; where more pass, more candidates than usual are filtered
after the search, and the result says that it is not the whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can
from memory_hub.common.text import storable
from memory_hub.library.models import Lesson, Solution
from memory_hub.library.selectors import qualities_of_revisions, served_revision
from memory_hub.runs.models import Run

from .among import MOST
from .narrowing import narrowed, narrowed_lessons, narrows_runs, run_condition
from .query_words import NO_FILTERS, Filters, without
from .ranking import Scored, matched_terms, rank_value, reason_of
from .search import ARM_SIZE, Found, Kind, search
from .selectors import readable
from .snippets import Piece, snippet
from .values import FoundLesson
from .worth import Place, worth_of, worth_parts

# What comes nearest is shown from half of the score that fits: less is no help.
_NEAREST_SHARE = 0.5
_NEAREST_SHOWN = 3
_RUNS_SHOWN = 5
_RUN_WORDS = 8
# Candidates of each arm where they are filtered afterwards.
_WIDE_ARM = 300


@dataclass(frozen=True, slots=True)
class FoundSolution:
    """A solution, how well it fits and why: parts of the score by name, and where the matched words stand."""

    solution: Solution
    score: float
    reason: str
    score_parts: dict[str, float]
    matched_on: Sequence[Piece]


@dataclass(frozen=True, slots=True)
class FoundSolutions:
    """The solutions that fit, best first; where none does, those that come nearest within the filters.

    is_partial: so many pass the filters that not all of them were compared with the words.
    """

    fitting: Sequence[FoundSolution]
    nearest: Sequence[FoundSolution]
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class KeptAway:
    """How many more would be there without one filter."""

    name: str
    value: str
    count: int


def search_solutions(
    actor: Actor, projects: Sequence[Project], text: str, filters: Filters = NO_FILTERS
) -> FoundSolutions:
    """Return the solutions that pass the filters and fit a text, whatever their status; archived ones only where
    `status` asks for them. What has every word of the text fits as well, however little else they share."""
    ids = readable(actor, projects)
    wanted = narrowed(actor, ids, filters)
    found, is_partial = _found(text, ids, "solution", wanted if filters else None)
    rows = wanted.in_bulk([item.candidate.solution_id for item in found.scored])
    fitting = _found_solutions(actor, rows, _fitting(found))
    if fitting:
        return FoundSolutions(fitting, [], is_partial)
    near = [
        item
        for item in found.scored
        if item.score >= found.threshold * _NEAREST_SHARE and item.candidate.solution_id in rows
    ]
    return FoundSolutions([], _found_solutions(actor, rows, near[:_NEAREST_SHOWN]), is_partial)


def list_solutions(actor: Actor, projects: Sequence[Project], filters: Filters) -> "QuerySet[Solution]":
    """Return the solutions that pass the filters, newest first: a question without free words."""
    return narrowed(actor, readable(actor, projects), filters)


def search_lessons(
    actor: Actor, projects: Sequence[Project], text: str, filters: Filters = NO_FILTERS
) -> list[FoundLesson]:
    """Return the lessons that pass the filters and fit a question in words, open ones too."""
    ids = readable(actor, projects)
    wanted = narrowed_lessons(actor, ids, filters)
    found, _ = _found(text, ids, "lesson", wanted if filters else None)
    fitting = _fitting(found)
    rows = wanted.in_bulk([item.candidate.lesson_id for item in fitting])
    return [
        FoundLesson(rows[item.candidate.lesson_id], round(item.score, 4), _rounded(item), reason_of(item))
        for item in fitting
        if item.candidate.lesson_id in rows
    ]


def list_lessons(actor: Actor, projects: Sequence[Project], filters: Filters) -> "QuerySet[Lesson]":
    """Return the lessons that pass the filters, newest first."""
    return narrowed_lessons(actor, readable(actor, projects), filters)


def lessons_that_pass(
    actor: Actor, projects: Sequence[Project], found: Sequence[FoundLesson], filters: Filters
) -> list[FoundLesson]:
    """Return those of the found lessons that pass the filters."""
    if not filters:
        return list(found)
    rows = list_lessons(actor, projects, filters).filter(id__in=[item.lesson.id for item in found])
    passing = set(rows.values_list("id", flat=True))
    return [item for item in found if item.lesson.id in passing]


def search_runs(
    actor: Actor, projects: Sequence[Project], text: str, filters: Filters = NO_FILTERS
) -> list[Run]:
    """Return the latest runs whose task has every word of a short question; none where a filter asks what no run has."""
    if narrows_runs(filters):
        return []
    ids = [project.id for project in projects if can(actor, Permission.RUN_READ, project)]
    wanted = run_condition(actor, filters)
    for word in storable(text).split()[:_RUN_WORDS]:
        wanted &= Q(task__icontains=word)
    rows = Run.objects.visible_to(actor).filter(wanted, project_id__in=ids)
    return list(rows.select_related("starter", "connection", "project__team").order_by("-id")[:_RUNS_SHOWN])


def kept_away(
    actor: Actor, projects: Sequence[Project], text: str, filters: Filters, dropped: tuple[str, str]
) -> KeptAway:
    """Return how many solutions there are without one of the filters."""
    rest = without(filters, dropped)
    if text:
        count = len(search_solutions(actor, projects, text, rest).fitting)
    else:
        count = list_solutions(actor, projects, rest).count() if rest else 0
    return KeptAway(*dropped, count)


def _found(
    text: str, projects: Sequence[UUID], kind: Kind, wanted: "QuerySet[Solution] | QuerySet[Lesson] | None"
) -> tuple[Found, bool]:
    """Return the candidates that a filter leaves, and whether there were too many to compare them all."""
    if wanted is None:
        return search(text=text, projects=projects, kind=kind), False
    ids = list(wanted.order_by().values_list("id", flat=True)[: MOST + 1])
    if len(ids) > MOST:
        return search(text=text, projects=projects, kind=kind, arm_size=_WIDE_ARM), True
    return search(text=text, projects=projects, kind=kind, among=ids, arm_size=ARM_SIZE), False


def _fitting(found: Found) -> list[Scored]:
    return [item for item in found.scored if item.score >= found.threshold or item.has_every_word]


def _found_solutions(
    actor: Actor, rows: dict[UUID, Solution], scored: Sequence[Scored]
) -> list[FoundSolution]:
    """Return what was found in the order of relevance and, within it, worth: as agents are offered it."""
    pairs = [
        (rows[item.candidate.solution_id], item) for item in scored if item.candidate.solution_id in rows
    ]
    standing = {solution.id: served_revision(solution) for solution, _ in pairs}
    qualities = qualities_of_revisions(actor, [revision.id for revision in standing.values()])
    found = []
    for solution, item in pairs:
        revision = standing[solution.id]
        worth = worth_of(worth_parts(solution, revision, qualities[revision.id], Place()))
        one = FoundSolution(
            solution=solution,
            score=round(item.score, 4),
            reason=reason_of(item),
            score_parts=_rounded(item) | {"worth": round(worth, 4)},
            matched_on=snippet(solution.problem, matched_terms(item)),
        )
        found.append((rank_value(item.score, worth), one))
    return [one for _, one in sorted(found, key=lambda pair: -pair[0])]


def _rounded(scored: Scored) -> dict[str, float]:
    return {name: round(value, 4) for name, value in scored.parts.items()}

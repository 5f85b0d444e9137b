"""What the search pages show: the form, the filters in force, and rows with the reasons why each was found."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can
from memory_hub.library.filters import SolutionFilter
from memory_hub.library.models import Lesson, Solution
from memory_hub.recall.browse import FoundSolution
from memory_hub.recall.query_words import NAMES, NO_FILTERS, Filters, pairs_of, without
from memory_hub.recall.snippets import asked_words, snippet
from memory_hub.recall.values import FoundLesson

from .answers import url_in
from .library_context import rows_of

# Of each part of a score: what it is called, and what it says.
_PARTS = {
    "words": ("Words", "share of your words that it has, rare ones count more"),
    "letters": ("Letters", "how alike it is letter by letter"),
    "phrases": ("Phrases", "words that stand side by side in both"),
    "order": ("Order", "words in the same order"),
    "meaning": ("Meaning", "how close it is in meaning"),
    "worth": ("Worth", "status, check and evidence; decides among what fits alike"),
    "text": ("Message", "how alike the messages are"),
}
_SELECTED = ("status", "check", "kind")
_TYPED = {
    "lib": ("Library imported", "pandas"),
    "tag": ("Tag", "csv"),
    "author": ("Author", "name, address or me"),
    "error": ("Error met", "KeyError"),
    "sandbox": ("Proven in sandbox", "bubblewrap"),
    "quality": ("Quality at least", "0 to 1"),
}
_GAP_TARGETS = 8
_LESSON_CHARACTERS = 300


def address(
    url: str, words: str, filters: Filters = NO_FILTERS, dropped: tuple[str, str] | None = None
) -> str:
    """Return the address of a search, without one of its filters where one is dropped."""
    left = without(filters, dropped) if dropped else filters
    pairs = [("q", words), *pairs_of(left)] if words else pairs_of(left)
    return f"{url}?{urlencode(pairs)}" if pairs else url


def chips(url: str, words: str, filters: Filters) -> list[dict[str, str]]:
    """Return each filter in force with the address that drops it."""
    return [
        {"text": f"{name}:{value}", "url": address(url, words, filters, (name, value))}
        for name, value in pairs_of(filters)
    ]


def fields(filters: Filters, projects: Sequence[Project]) -> dict[str, Any]:
    """Return the form's fields for the filters: those to choose from, those to type, and further values of the former."""
    choices = {
        "status": list(SolutionFilter.base_filters["status"].extra["choices"]),
        "check": list(SolutionFilter.base_filters["verification"].extra["choices"]),
        "kind": list(SolutionFilter.base_filters["kind"].extra["choices"]),
    }
    selects = [_select(name, choices[name], filters) for name in _SELECTED]
    if len(projects) > 1:
        paths = [(project.path, project.path) for project in projects]
        known = {project.slug: project.path for project in projects}
        chosen = {**filters, "in": tuple(known.get(value, value) for value in filters.get("in", ()))}
        selects.append(_select("in", paths, chosen))
    typed = [
        {"name": name, "label": label, "example": example, "value": ", ".join(filters.get(name, ()))}
        for name, (label, example) in _TYPED.items()
    ]
    shown = {item["name"] for item in selects}
    hidden = [
        pair
        for pair in pairs_of(filters)
        if pair[0] not in _TYPED and (pair[0] not in shown or pair[1] in filters[pair[0]][1:])
    ]
    return {
        "selects": selects,
        "typed": typed,
        "hidden": hidden,
        "typed_count": sum(bool(item["value"]) for item in typed),
    }


def _select(name: str, choices: list[tuple[str, str]], filters: Any) -> dict[str, Any]:
    value = next(iter(filters.get(name, ())), "")
    if value and value not in dict(choices):
        choices = [*choices, (value, value)]
    return {"name": name, "label": NAMES[name][0], "choices": choices, "value": value}


def solution_rows(actor: Actor, found: Sequence[FoundSolution], *, several: bool) -> list[dict[str, Any]]:
    """Return the rows of the library's list, each with how well it fits and why, in the order found."""
    rows = listed_rows(actor, [item.solution for item in found], several=several)
    return [
        row
        | {
            "score": item.score,
            "reason": item.reason,
            "pieces": item.matched_on,
            "parts": _parts(item.score_parts),
        }
        for row, item in zip(rows, found, strict=True)
    ]


def listed_rows(actor: Actor, solutions: Sequence[Solution], *, several: bool) -> list[dict[str, Any]]:
    """Return the rows of the library's list for solutions of any projects, in this order."""
    of_project: defaultdict[Project, list[Solution]] = defaultdict(list)
    for solution in solutions:
        of_project[solution.project].append(solution)
    rows: dict[UUID, dict[str, Any]] = {}
    for project, own in of_project.items():
        for solution, row in zip(own, rows_of(actor, project, own), strict=True):
            rows[solution.id] = row | {"kind": _placed(row["kind"], project, several=several)}
    return [rows[solution.id] for solution in solutions]


def lesson_row(found: FoundLesson, text: str, *, several: bool) -> dict[str, Any]:
    """Return what recall/parts/lessons.html needs of a lesson that was found."""
    return listed_lesson_row(found.lesson, several=several) | {
        "score": found.score,
        "reason": found.reason,
        "pieces": snippet(found.lesson.message, asked_words(text), limit=_LESSON_CHARACTERS),
        "parts": _parts(found.score_parts),
    }


def listed_lesson_row(lesson: Lesson, *, several: bool) -> dict[str, Any]:
    """Return what recall/parts/lessons.html needs of a lesson, without a score."""
    return {
        "lesson": lesson,
        "url": url_in(lesson.project, "lesson", lesson.id),
        "score": None,
        "reason": "",
        "pieces": snippet(lesson.message, (), limit=_LESSON_CHARACTERS),
        "parts": [],
        "place": _placed("", lesson.project, several=several),
    }


def _parts(parts: Any) -> list[dict[str, Any]]:
    """Return the parts of a score as bars, in the order of _PARTS; a part that is new here goes by its own name."""
    order = [*(name for name in _PARTS if name in parts), *(name for name in parts if name not in _PARTS)]
    shown = []
    for name in order:
        label, says = _PARTS.get(name, (name.replace("_", " ").capitalize(), ""))
        shown.append({"label": label, "says": says, "value": min(1.0, max(0.0, parts[name]))})
    return shown


def _placed(kind: str, project: Project, *, several: bool) -> str:
    """Return the kind, and where several projects are searched, in which one it is."""
    return ", ".join(part for part in (project.path if several else "", kind) if part)


def run_new_url(actor: Actor, project: Project | None) -> str:
    """Return where one starts a run; empty without a project, or without the right to."""
    if project is None or not can(actor, Permission.RUN_START, project):
        return ""
    return url_in(project, "run_new")


def gap_targets(actor: Actor, projects: Sequence[Project], filters: Filters) -> list[dict[str, str]]:
    """Return the projects in which what was asked can be kept as a gap: those that a filter names, or all."""
    named = set(filters.get("in", ()))
    chosen = [p for p in projects if {p.slug, p.path, p.name.lower()} & named] if named else list(projects)
    return [
        {"path": project.path, "name": project.name, "url": url_in(project, "gaps")}
        for project in chosen[:_GAP_TARGETS]
        if can(actor, Permission.GAP_RECORD, project)
    ]

"""The search pages: over all of a person's projects, and within one. A question, a name, or a pasted traceback."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can, require
from memory_hub.access.selectors import my_projects
from memory_hub.library.filters import SolutionFilter
from memory_hub.library.models import Solution
from memory_hub.recall import selectors
from memory_hub.recall.errors import looks_like_error, parse_traceback
from memory_hub.recall.values import FoundLesson

from .answers import url_in
from .library_context import rows_of
from .run_context import run_row
from .shell import HubRequest, page, project_page

_QUERY_CHARACTERS = 8_000
_RESULTS = 30
_FILTERS = ("kind", "status", "verification")


@page
@require_GET
def search(request: HubRequest) -> HttpResponse:
    """Search every project one is in."""
    return _search(request, list(my_projects(request.actor)), reverse("search"))


@project_page
@require_GET
def project_search(request: HubRequest, project: Project) -> HttpResponse:
    """Search one project."""
    require(request.actor, Permission.LIBRARY_READ, project)
    return _search(request, [project], url_in(project, "project_search"))


def _search(request: HubRequest, projects: list[Project], url: str) -> HttpResponse:
    text = request.GET.get("q", "").strip()[:_QUERY_CHARACTERS]
    filters = [_filter(name, request.GET.get(name, "")) for name in _FILTERS]
    context: dict[str, Any] = {
        "q": text,
        "url": url,
        "filters": filters,
        "clear_url": f"{url}?{urlencode({'q': text})}",
        "is_filtered": any(item["value"] for item in filters),
        "everywhere_url": _everywhere(request, text),
        "run_new_url": _run_new_url(request.actor, request.project),
    }
    if text:
        wanted = {item["name"]: item["value"] for item in filters}
        context |= _results(request.actor, projects, text, wanted)
    return render(request, "recall/search.html", context)


def _results(actor: Actor, projects: list[Project], text: str, wanted: dict[str, str]) -> dict[str, Any]:
    error = parse_traceback(text) if looks_like_error(text) else None
    is_error = error is not None and bool(error.exception_type)
    found = selectors.search_solutions(
        actor,
        projects,
        text,
        kind=wanted["kind"],
        status=wanted["status"],
        check=wanted["verification"],
    )
    if error is not None and is_error:
        lessons = selectors.search_errors(actor, projects, error)
    else:
        lessons = selectors.search_lessons(actor, projects, text)
    runs = [] if is_error else selectors.search_runs(actor, projects, text)
    several = len(projects) > 1
    return {
        "is_error": is_error,
        "error": error,
        "solutions": _solution_rows(actor, found.fitting[:_RESULTS], several=several),
        "nearest": [] if lessons else _solution_rows(actor, found.nearest, several=several),
        "lessons": [_lesson_row(lesson, several=several) for lesson in lessons[:_RESULTS]],
        "runs": [run_row(run.project, run) for run in runs],
    }


def _solution_rows(
    actor: Actor, found: Sequence[selectors.FoundSolution], *, several: bool
) -> list[dict[str, Any]]:
    """Return the rows of the library's list, each with how well it fits and why, in the order found."""
    of_project: defaultdict[Project, list[Solution]] = defaultdict(list)
    for item in found:
        of_project[item.solution.project].append(item.solution)
    rows: dict[UUID, dict[str, Any]] = {}
    for project, solutions in of_project.items():
        for solution, row in zip(solutions, rows_of(actor, project, solutions), strict=True):
            rows[solution.id] = row
    return [
        rows[item.solution.id]
        | {
            "score": item.score,
            "reason": item.reason,
            "kind": _placed(rows[item.solution.id]["kind"], item.solution.project, several=several),
        }
        for item in found
    ]


def _lesson_row(found: FoundLesson, *, several: bool) -> dict[str, Any]:
    lesson = found.lesson
    return {
        "lesson": lesson,
        "url": url_in(lesson.project, "lesson", lesson.id),
        "score": found.score,
        "reason": found.reason,
        "place": _placed("", lesson.project, several=several),
    }


def _placed(kind: str, project: Project, *, several: bool) -> str:
    """Return the kind, and where several projects are searched, in which one it is."""
    return ", ".join(part for part in (project.path if several else "", kind) if part)


def _filter(name: str, value: str) -> dict[str, Any]:
    """Return a filter of the library's list as the form shows it; a value that it does not know filters nothing."""
    known = SolutionFilter.base_filters[name]
    choices = list(known.extra["choices"])
    return {
        "name": name,
        "label": known.label,
        "choices": choices,
        "value": value if value in dict(choices) else "",
    }


def _everywhere(request: HubRequest, text: str) -> str:
    """Return the address of the same search over all projects; empty on that page itself."""
    return f"{reverse('search')}?{urlencode({'q': text})}" if request.project else ""


def _run_new_url(actor: Actor, project: Project | None) -> str:
    if project is None or not can(actor, Permission.RUN_START, project):
        return ""
    return url_in(project, "run_new")


urlpatterns = [path("search/", search, name="search")]
project_urlpatterns = [path("search/", project_search, name="project_search")]

"""The search pages: over all of a person's projects, and within one. A question, a name, filters, or a traceback."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.views.decorators.http import require_GET

from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.access.selectors import my_projects
from memory_hub.library.fingerprint import short_type
from memory_hub.recall import browse
from memory_hub.recall.errors import ParsedError, looks_like_error, parse_traceback
from memory_hub.recall.query_words import Filters, pairs_of, parse, read_parameters, together
from memory_hub.recall.selectors import search_errors

from . import gaps
from .answers import url_in
from .run_context import run_row
from .search_context import (
    address,
    chips,
    fields,
    gap_targets,
    lesson_row,
    listed_lesson_row,
    listed_rows,
    run_new_url,
    solution_rows,
)
from .shell import HubRequest, page, project_page

QUERY_CHARACTERS = 8_000
_RESULTS = 30
_PAGE_SIZE = 25
_LISTED_LESSONS = 10
# So many filters are each left out in turn, to see what one keeps away.
_RELAXED = 6


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
    asked = parse(request.GET.get("q", "").strip()[:QUERY_CHARACTERS])
    given, left_out = read_parameters(
        (name, value) for name, values in request.GET.lists() for value in values
    )
    filters = together(asked.filters, given)
    is_asked = bool(asked.words or filters)
    context: dict[str, Any] = {
        "q": asked.words,
        "url": url,
        "notes": [*asked.notes, *left_out],
        "fields": fields(filters, projects),
        "chips": chips(url, asked.words, filters),
        "clear_url": address(url, asked.words),
        "everywhere_url": address(reverse("search"), asked.words, filters) if request.project else "",
        "is_asked": is_asked,
    }
    if is_asked and asked.words:
        context |= _found(request, projects, asked.words, filters)
    elif is_asked:
        context |= _listed(request, projects, filters)
    if is_asked and not context["solutions"] and not context["lessons"]:
        context |= _help(request, projects, url, asked.words, filters)
    return render(request, "recall/search.html", context)


def _found(request: HubRequest, projects: list[Project], text: str, filters: Filters) -> dict[str, Any]:
    """Return what fits words, within the filters, best first."""
    actor = request.actor
    error = parse_traceback(text) if looks_like_error(text) else None
    is_error = error is not None and bool(error.exception_type)
    found = browse.search_solutions(actor, projects, text, filters)
    if error is not None and is_error:
        lessons = browse.lessons_that_pass(actor, projects, search_errors(actor, projects, error), filters)
    else:
        lessons = browse.search_lessons(actor, projects, text, filters)
    runs = [] if is_error else browse.search_runs(actor, projects, text, filters)
    several = len(projects) > 1
    return {
        "is_error": is_error,
        "error": error,
        "same_class": _same_class(request, projects, error) if error and is_error and not lessons else {},
        "is_partial": found.is_partial,
        "most": browse.MOST,
        "solutions": solution_rows(actor, found.fitting[:_RESULTS], several=several),
        "nearest": [] if lessons else solution_rows(actor, found.nearest, several=several),
        "lessons": [lesson_row(lesson, text, several=several) for lesson in lessons[:_RESULTS]],
        "runs": [run_row(run.project, run) for run in runs],
    }


def _same_class(request: HubRequest, projects: list[Project], error: ParsedError) -> dict[str, Any]:
    """Return how many lessons there are on errors of this class, and where; empty for none."""
    filters = together([("error", short_type(error.exception_type))])
    count = browse.list_lessons(request.actor, projects, filters).count()
    return {"count": count, "url": address(request.path, "", filters)} if count else {}


def _listed(request: HubRequest, projects: list[Project], filters: Filters) -> dict[str, Any]:
    """Return what passes the filters where there are no words: solutions, newest first, and the lessons on an error."""
    actor, several = request.actor, len(projects) > 1
    rows = browse.list_solutions(actor, projects, filters)
    found = Paginator(rows, _PAGE_SIZE).get_page(request.GET.get("page"))
    lessons = browse.list_lessons(actor, projects, filters)[:_LISTED_LESSONS] if "error" in filters else []
    return {
        "page": found,
        "solutions": listed_rows(actor, list(found.object_list), several=several),
        "lessons": [listed_lesson_row(lesson, several=several) for lesson in lessons],
    }


def _help(
    request: HubRequest, projects: list[Project], url: str, text: str, filters: Filters
) -> dict[str, Any]:
    """Return what helps on where nothing was found: the filter that kept results away, a run, a gap to record."""
    relaxed = []
    for pair in pairs_of(filters)[:_RELAXED]:
        item = browse.kept_away(request.actor, projects, text, filters, pair)
        if item.count:
            relaxed.append(
                {"text": f"{item.name}:{item.value}", "count": item.count, "url": address(url, text, filters, pair)}
            )  # fmt: skip
    return {
        "kept_away": relaxed,
        "run_new_url": run_new_url(request.actor, request.project),
        "gap_targets": gap_targets(request.actor, projects, filters),
        "gap_question": gaps.as_asked(text, filters),
    }


urlpatterns = [path("search/", search, name="search")]
project_urlpatterns = [path("search/", project_search, name="project_search"), *gaps.urlpatterns]

"""The search pages: over all of a person's projects, and within one. A question, or a pasted traceback."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.views.decorators.http import require_GET

from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can
from memory_hub.access.selectors import my_projects
from memory_hub.library.models import Revision
from memory_hub.recall.selectors import Hit, search_for_people

from .answers import url_in
from .shell import HubRequest, page, project_page

_QUERY_CHARACTERS = 8_000


@page
@require_GET
def search(request: HubRequest) -> HttpResponse:
    """Search every project one is in."""
    return _search(request, list(my_projects(request.actor)), reverse("search"))


@project_page
@require_GET
def project_search(request: HubRequest, project: Project) -> HttpResponse:
    """Search one project."""
    return _search(request, [project], url_in(project, "project_search"))


def _search(request: HubRequest, projects: list[Project], url: str) -> HttpResponse:
    text = request.GET.get("q", "")[:_QUERY_CHARACTERS]
    chosen = {
        "status": _known(request.GET.get("status", ""), Revision.Status.values),
        "verification": _known(request.GET.get("verification", ""), Revision.Verification.values),
    }
    found = search_for_people(request.actor, projects, text, **chosen)
    one = projects[0] if len(projects) == 1 else None
    context: dict[str, Any] = {
        "q": text,
        "url": url,
        "hits": [_row(hit) for hit in found.hits],
        "weak": [_row(hit) for hit in found.weak],
        "lessons": [
            {"lesson": lesson, "url": url_in(lesson.project, "lesson", lesson.id)} for lesson in found.lessons
        ],
        "is_error": found.is_error,
        "statuses": Revision.Status.values,
        "verifications": Revision.Verification.values,
        **chosen,
        "may_run": one is not None and can(request.actor, Permission.RUN_START, one),
        "run_new_url": url_in(one, "run_new") if one else "",
    }
    return render(request, "recall/search.html", context)


def _known(value: str, values: list[str]) -> str:
    return value if value in values else ""


def _row(hit: Hit) -> dict[str, Any]:
    return {"hit": hit, "url": url_in(hit.solution.project, "solution", hit.solution.id)}


urlpatterns = [path("search/", search, name="search")]
project_urlpatterns = [path("search/", project_search, name="project_search")]

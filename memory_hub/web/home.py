"""The first page, and the overview of a project."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_GET

from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can
from memory_hub.access.selectors import administered_teams, my_projects
from memory_hub.library.selectors import solutions
from memory_hub.recall.gaps import open_gaps
from memory_hub.review import selectors as review
from memory_hub.runs import selectors as runs

from .answers import attach_snippet, url_in
from .run_context import run_row
from .shell import HubRequest, page, project_page

_SHOWN = 5


@page
@require_GET
def home(request: HubRequest) -> HttpResponse:
    """My projects, with what is under way and what waits in each."""
    waiting, under_way = review.waiting_counts(request.actor), runs.under_way_counts(request.actor)
    rows = [
        {
            "project": project,
            "waiting": waiting.get(project.id, 0),
            "under_way": under_way.get(project.id, 0),
        }
        for project in my_projects(request.actor)
    ]
    return render(request, "home/home.html", {"rows": rows, "teams": administered_teams(request.actor)})


@project_page
@require_GET
def project(request: HubRequest, project: Project) -> HttpResponse:
    """What a project holds, what waits, what ran last, and how an agent is attached."""
    active = solutions(request.actor, project).filter(archived_at=None)
    context = {
        "solutions": active.count(),
        "approved": active.exclude(approved_revision=None).count(),
        "waiting": review.waiting_count(request.actor, project),
        "under_way": runs.under_way_counts(request.actor).get(project.id, 0),
        "gaps": open_gaps(request.actor, project),
        "waiting_rows": [
            {
                "revision": row,
                "url": url_in(project, "revision", row.solution_id, row.number),
                "reason": review.why_it_waits(row)[0],
            }
            for row in review.waiting(request.actor, project)[:_SHOWN]
        ],
        "run_rows": [run_row(project, run) for run in runs.runs(request.actor, project)[:_SHOWN]],
        "may_start": can(request.actor, Permission.RUN_START, project),
        "snippet": attach_snippet(request, project),
    }
    return render(request, "home/project.html", context)


urlpatterns = [path("", home, name="home")]
project_urlpatterns = [path("", project, name="project")]

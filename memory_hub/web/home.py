"""The first page, and the overview of a project."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path

from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can
from memory_hub.access.selectors import administered_teams, my_projects
from memory_hub.library.selectors import solutions
from memory_hub.review.selectors import waiting_count
from memory_hub.runs.models import Run

from .answers import attach_snippet
from .shell import HubRequest, page, project_page

_LATEST = 5


@page
def home(request: HubRequest) -> HttpResponse:
    """My projects, with what is under way and what waits in each."""
    rows = [
        {
            "project": project,
            "waiting": waiting_count(request.actor, project),
            "running": _under_way(request, project),
        }
        for project in my_projects(request.actor)
    ]
    return render(request, "home/home.html", {"rows": rows, "teams": administered_teams(request.actor)})


@project_page
def project(request: HubRequest, project: Project) -> HttpResponse:
    """What a project holds, what waits, what ran last, and how an agent is attached."""
    runs = Run.objects.visible_to(request.actor).filter(project=project).select_related("starter")
    context = {
        "solutions": solutions(request.actor, project).filter(archived_at=None).count(),
        "approved": solutions(request.actor, project).exclude(approved_revision=None).count(),
        "waiting": waiting_count(request.actor, project),
        "under_way": _under_way(request, project),
        "latest": runs.order_by("-id")[:_LATEST],
        "may_start": can(request.actor, Permission.RUN_START, project),
        "snippet": attach_snippet(request, project),
    }
    return render(request, "home/project.html", context)


def _under_way(request: HubRequest, project: Project) -> int:
    unfinished = (Run.State.QUEUED, Run.State.RUNNING)
    return Run.objects.visible_to(request.actor).filter(project=project, state__in=unfinished).count()


urlpatterns = [path("", home, name="home")]
project_urlpatterns = [path("", project, name="project")]

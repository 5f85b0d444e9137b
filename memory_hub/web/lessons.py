"""Pages of lessons: errors and what resolved them."""

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_GET, require_POST

from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can
from memory_hub.common.errors import NotFound
from memory_hub.library import selectors
from memory_hub.library.filters import LessonFilter
from memory_hub.library.models import Lesson
from memory_hub.library.services.lessons import lesson_delete

from .answers import url_in
from .shell import HubRequest, project_page

PAGE_SIZE = 25


@project_page
@require_GET
def lessons(request: HubRequest, project: Project) -> HttpResponse:
    """List the lessons that the address asks for."""
    everything = selectors.lessons(request.actor, project)
    found = LessonFilter(request.GET, queryset=everything)
    valid = found.is_valid()
    page = Paginator(found.qs if valid else everything.none(), PAGE_SIZE).get_page(request.GET.get("page"))
    qualities = selectors.qualities_of_lessons(request.actor, [row.id for row in page.object_list])
    context = {
        "filter": found,
        "page": page,
        "rows": [{"lesson": row, "quality": qualities[row.id]} for row in page.object_list],
        "is_empty": not page.paginator.count and not everything.exists(),
        "may_run": can(request.actor, Permission.RUN_START, project),
    }
    return render(request, "library/lessons.html", context, status=200 if valid else 422)


@project_page
@require_GET
def lesson(request: HubRequest, project: Project, lesson: UUID) -> HttpResponse:
    """Show a lesson."""
    found = _lesson_of(request, project, lesson)
    context = {
        "lesson": found,
        "quality": selectors.qualities_of_lessons(request.actor, [found.id])[found.id],
        "alike": list(selectors.alike_lessons(request.actor, found)[:10]),
        "may_delete": can(request.actor, Permission.SOLUTION_DELETE, found),
    }
    return render(request, "library/lesson.html", context)


@project_page
@require_POST
def delete(request: HubRequest, project: Project, lesson: UUID) -> HttpResponse:
    """Delete a lesson for good."""
    lesson_delete(actor=request.actor, lesson=_lesson_of(request, project, lesson))
    messages.success(request, "The lesson is deleted.")
    return redirect(url_in(project, "lessons"))


def _lesson_of(request: HubRequest, project: Project, lesson_id: UUID) -> Lesson:
    found = selectors.lesson_get(request.actor, lesson_id)
    if found.project_id != project.id:
        raise NotFound
    return found


urlpatterns = [
    path("lessons/", lessons, name="lessons"),
    path("lessons/<uuid:lesson>/", lesson, name="lesson"),
    path("lessons/<uuid:lesson>/delete/", delete, name="lesson_delete"),
]

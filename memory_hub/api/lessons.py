"""REST of lessons: errors and their resolutions."""

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from memory_hub.library import selectors
from memory_hub.library.drafts import NewLesson
from memory_hub.library.filters import LessonFilter
from memory_hub.library.services.lessons import lesson_delete, lesson_record

from .base import RETRY, HubView, filter_parameters, filtered, idempotent, remember
from .library_input import LessonIn
from .library_output import LessonOut, show_lessons


class LessonsView(HubView):
    """The lessons of a project."""

    @extend_schema(
        operation_id="lessons_list",
        parameters=filter_parameters(LessonFilter),
        responses=LessonOut(many=True),
        tags=["lessons"],
    )
    def get(self, request: Request, **_: Any) -> Response:
        """List lessons, newest first."""
        rows = filtered(LessonFilter, request, selectors.lessons(self.actor, self.project()))
        return self.paged(rows, lambda page: show_lessons(self.actor, page))

    @extend_schema(
        operation_id="lessons_record",
        parameters=[RETRY],
        request=LessonIn,
        responses={201: LessonOut, 200: LessonOut},
        tags=["lessons"],
    )
    def post(self, request: Request, **_: Any) -> Response:
        """Record an error and its resolution; 200 where the project knew this error with this code already."""
        project = self.project()
        answer = idempotent(request, self.actor, project)
        if isinstance(answer, Response):
            return answer
        values = dict(self.input(LessonIn))
        named, run = values.pop("solution"), selectors.run_behind(self.actor, values.pop("run"))
        solution = selectors.solution_get(self.actor, named) if named else None
        recorded = lesson_record(
            actor=self.actor, project=project, draft=NewLesson(**values), solution=solution, run=run
        )
        code = status.HTTP_200_OK if recorded.deduplicated else status.HTTP_201_CREATED
        return remember(answer, Response(show_lessons(self.actor, [recorded.lesson])[0], status=code))


class LessonView(HubView):
    """One lesson."""

    @extend_schema(operation_id="lessons_get", responses=LessonOut, tags=["lessons"])
    def get(self, request: Request, lesson: UUID) -> Response:
        """Return a lesson."""
        return Response(show_lessons(self.actor, [selectors.lesson_get(self.actor, lesson)])[0])

    @extend_schema(operation_id="lessons_delete", responses={204: None}, tags=["lessons"])
    def delete(self, request: Request, lesson: UUID) -> Response:
        """Remove a lesson."""
        lesson_delete(actor=self.actor, lesson=selectors.lesson_get(self.actor, lesson))
        return Response(status=status.HTTP_204_NO_CONTENT)


urlpatterns = [
    path("projects/<slug:team>/<slug:project>/lessons/", LessonsView.as_view(), name="api-lessons"),
    path("lessons/<uuid:lesson>/", LessonView.as_view(), name="api-lesson"),
]

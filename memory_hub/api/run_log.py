"""REST of what happens in a run: its steps, its log, and the log live."""

import json
from functools import partial
from typing import Any
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpResponseBase, StreamingHttpResponse
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.pagination import CursorPagination
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from memory_hub.common.pagination import BySequence
from memory_hub.common.sse import last_event_id, sse_response
from memory_hub.runs import selectors
from memory_hub.runs.feed import LogEntry, follow, release_connection, require_room
from memory_hub.runs.models import Run

from .base import HubView
from .runs_output import EventOut, StepOut

_CURSOR = [OpenApiParameter("cursor", str), OpenApiParameter("page_size", int)]


class ByNumber(CursorPagination):
    """A stable cursor over the steps of a run, oldest first."""

    ordering = "number"
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200


class EventStreamRenderer(JSONRenderer):
    """Stands for text/event-stream when the answer is negotiated; a refusal is rendered by it as the problem it is."""

    media_type = "text/event-stream"
    format = "stream"


class RunStepsView(HubView):
    """The steps of a run."""

    @extend_schema(operation_id="runs_steps", parameters=_CURSOR, responses=StepOut(many=True), tags=["runs"])
    def get(self, request: Request, run: UUID) -> Response:
        """List steps, oldest first, in pages that stay as they are while more steps come."""
        found = selectors.run_get(self.actor, run)
        paginator = ByNumber()
        page = paginator.paginate_queryset(selectors.steps(self.actor, found), request, view=self)
        return paginator.get_paginated_response(StepOut(page, many=True).data)


class RunEventsView(HubView):
    """The log of a run, at rest or live."""

    renderer_classes = [JSONRenderer, EventStreamRenderer]

    @extend_schema(
        operation_id="runs_events",
        parameters=[
            *_CURSOR,
            OpenApiParameter("after", int, description="Only events behind this sequence."),
            OpenApiParameter(
                "Last-Event-ID", int, OpenApiParameter.HEADER, description="The same, of a stream."
            ),
        ],
        responses={(200, "application/json"): EventOut(many=True), (200, "text/event-stream"): str},
        tags=["runs"],
    )
    def get(self, request: Request, run: UUID) -> HttpResponseBase:
        """List events, oldest first; with `Accept: text/event-stream`, follow them until an event `end`.

        Each message of the stream has its sequence as id, its kind as event and the same JSON as data. After a lost
        connection, send the last id as Last-Event-ID: nothing is missed and nothing comes twice.
        """
        found = selectors.run_get(self.actor, run)
        after = last_event_id(request.headers.get("Last-Event-ID"), request.query_params.get("after"))
        if request.accepted_renderer.format == EventStreamRenderer.format:
            return self._stream(found, after)
        paginator = BySequence()
        rows = selectors.events(self.actor, found, after=after)
        page = paginator.paginate_queryset(rows, request, view=self)
        return paginator.get_paginated_response(EventOut(page, many=True).data)

    def _stream(self, run: Run, after: int) -> StreamingHttpResponse:
        assert self.actor.user_id is not None  # keys and sessions belong to people
        require_room(self.actor.user_id)
        return sse_response(
            follow(
                run.id,
                after=after,
                person_id=self.actor.user_id,
                render=_as_json,
                shown_as="json",
                event_name=lambda entry: entry.event.kind,
                still_allowed=partial(selectors.still_sees, self.actor, run.id),
            )
        )

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        if response.streaming:
            release_connection()
        return response


def _as_json(entry: LogEntry) -> str:
    return json.dumps(EventOut(entry.event).data, cls=DjangoJSONEncoder)


urlpatterns = [
    path("runs/<uuid:run>/steps/", RunStepsView.as_view(), name="api-run-steps"),
    path("runs/<uuid:run>/events/", RunEventsView.as_view(), name="api-run-events"),
]

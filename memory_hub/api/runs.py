"""REST of runs: started, listed, read, cancelled, recorded."""

from typing import Any
from uuid import UUID

from django.http import QueryDict
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.parsers import JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from memory_hub.access.models import Project
from memory_hub.common.errors import InvalidInput
from memory_hub.runs import selectors
from memory_hub.runs.filters import RunFilter
from memory_hub.runs.models import Connection, Run
from memory_hub.runs.services import UploadedInput, run_cancel, run_record, run_start

from . import connections, run_log
from .base import RETRY, HubView, filter_parameters, filtered, idempotent, remember
from .runs_input import RunFormIn, RunIn, RunRecordIn, recorded_run, uploads_of, uploads_of_form
from .runs_output import RunOut, RunRowOut, show_run


class RunsView(HubView):
    """The runs of a project."""

    parser_classes = [JSONParser, MultiPartParser]

    @extend_schema(
        operation_id="runs_list",
        parameters=filter_parameters(RunFilter),
        responses=RunRowOut(many=True),
        tags=["runs"],
    )
    def get(self, request: Request, **_: Any) -> Response:
        """List runs, newest first."""
        rows = filtered(RunFilter, request, selectors.runs(self.actor, self.project()))
        return self.paged(rows, lambda page: RunRowOut(page, many=True).data)

    @extend_schema(
        operation_id="runs_start",
        parameters=[RETRY],
        request={"application/json": RunIn, "multipart/form-data": RunFormIn},
        responses={201: RunOut},
        tags=["runs"],
    )
    def post(self, request: Request, **_: Any) -> Response:
        """Start a run. Follow it at `runs/{id}/events/`."""
        project = self.project()
        answer = idempotent(request, self.actor, project)
        if isinstance(answer, Response):
            return answer
        values, inputs = self._values(request)
        values["connection"] = self._connection(project, values["connection"])
        run = run_start(actor=self.actor, project=project, inputs=inputs, origin=Run.Origin.API, **values)
        return remember(answer, Response(show_run(self.actor, run), status=status.HTTP_201_CREATED))

    def _values(self, request: Request) -> tuple[dict[str, Any], list[UploadedInput]]:
        if isinstance(request.data, QueryDict):
            # Without `inputs`, and a plain dictionary: in a form, DRF takes a switch that is absent for off.
            said = {name: value for name, value in request.data.items() if name != "inputs"}
            values = self.input_of(RunIn, said)
            values.pop("inputs")
            return values, uploads_of_form(request.FILES.getlist("inputs"))
        values = dict(self.input(RunIn))
        return values, uploads_of(values.pop("inputs"))

    def input_of(self, serializer: type[RunIn], said: dict[str, Any]) -> dict[str, Any]:
        """Return these values, validated."""
        shaped = serializer(data=said)
        shaped.is_valid(raise_exception=True)
        return dict(shaped.validated_data)

    def _connection(self, project: Project, named: str) -> Connection:
        rows = selectors.connections(self.actor, project)
        found = next((row for row in rows if named in (str(row.id), row.name)), None)
        if found is None:
            message = f"The project has no connection “{named}”. GET connections/ lists them."
            raise InvalidInput(message, fields={"connection": message})
        return found


class RunView(HubView):
    """One run."""

    @extend_schema(operation_id="runs_get", responses=RunOut, tags=["runs"])
    def get(self, request: Request, run: UUID) -> Response:
        """Return a run; its steps are at `runs/{id}/steps/`."""
        return Response(show_run(self.actor, selectors.run_get(self.actor, run)))


class RunCancelView(HubView):
    """Cancelling a run."""

    @extend_schema(operation_id="runs_cancel", request=None, responses=RunOut, tags=["runs"])
    def post(self, request: Request, run: UUID) -> Response:
        """End a queued run at once; ask a running one to end. Asking twice changes nothing."""
        cancelled = run_cancel(actor=self.actor, run=selectors.run_get(self.actor, run))
        return Response(show_run(self.actor, cancelled))


class RunRecordView(HubView):
    """Runs that happened elsewhere."""

    @extend_schema(
        operation_id="runs_record",
        parameters=[RETRY],
        request=RunRecordIn,
        responses={201: RunRowOut},
        tags=["runs"],
    )
    def post(self, request: Request, **_: Any) -> Response:
        """Record a run with its steps. What it learnt is written to the library in the background."""
        project = self.project()
        answer = idempotent(request, self.actor, project)
        if isinstance(answer, Response):
            return answer
        run = run_record(actor=self.actor, project=project, recorded=recorded_run(self.input(RunRecordIn)))
        return remember(answer, Response(RunRowOut(run).data, status=status.HTTP_201_CREATED))


urlpatterns = [
    path("projects/<slug:team>/<slug:project>/runs/", RunsView.as_view(), name="api-runs"),
    path("projects/<slug:team>/<slug:project>/runs/record/", RunRecordView.as_view(), name="api-run-record"),
    path("runs/<uuid:run>/", RunView.as_view(), name="api-run"),
    path("runs/<uuid:run>/cancel/", RunCancelView.as_view(), name="api-run-cancel"),
    *run_log.urlpatterns,
    *connections.urlpatterns,
]

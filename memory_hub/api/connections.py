"""REST of model connections. A secret goes in and never comes out."""

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from memory_hub.runs import selectors
from memory_hub.runs.services import connection_change, connection_create, connection_retire

from .base import RETRY, HubView, idempotent, remember
from .runs_input import ConnectionChangeIn, ConnectionIn
from .runs_output import ConnectionOut


class ConnectionsView(HubView):
    """The model connections of a project."""

    @extend_schema(operation_id="connections_list", responses=ConnectionOut(many=True), tags=["connections"])
    def get(self, request: Request, **_: Any) -> Response:
        """List the connections in use, by name."""
        rows = selectors.connections(self.actor, self.project())
        return self.paged(rows, lambda page: ConnectionOut(page, many=True).data)

    @extend_schema(
        operation_id="connections_create",
        parameters=[RETRY],
        request=ConnectionIn,
        responses={201: ConnectionOut},
        tags=["connections"],
    )
    def post(self, request: Request, **_: Any) -> Response:
        """Add a connection."""
        project = self.project()
        answer = idempotent(request, self.actor, project)
        if isinstance(answer, Response):
            return answer
        connection = connection_create(actor=self.actor, project=project, **self.input(ConnectionIn))
        return remember(answer, Response(ConnectionOut(connection).data, status=status.HTTP_201_CREATED))


class ConnectionView(HubView):
    """One connection."""

    @extend_schema(operation_id="connections_get", responses=ConnectionOut, tags=["connections"])
    def get(self, request: Request, connection: UUID) -> Response:
        """Return a connection."""
        return Response(ConnectionOut(selectors.connection_get(self.actor, connection)).data)

    @extend_schema(
        operation_id="connections_change",
        request=ConnectionChangeIn,
        responses=ConnectionOut,
        tags=["connections"],
    )
    def patch(self, request: Request, connection: UUID) -> Response:
        """Change a connection. With another server in the address, the secret must come along."""
        found = selectors.connection_get(self.actor, connection)
        connection_change(actor=self.actor, connection=found, **self.input(ConnectionChangeIn))
        return Response(ConnectionOut(selectors.connection_get(self.actor, connection)).data)

    @extend_schema(operation_id="connections_retire", responses={204: None}, tags=["connections"])
    def delete(self, request: Request, connection: UUID) -> Response:
        """Take a connection out of use and delete its secret. Runs that used it still name it."""
        connection_retire(actor=self.actor, connection=selectors.connection_get(self.actor, connection))
        return Response(status=status.HTTP_204_NO_CONTENT)


urlpatterns = [
    path(
        "projects/<slug:team>/<slug:project>/connections/", ConnectionsView.as_view(), name="api-connections"
    ),
    path("connections/<uuid:connection>/", ConnectionView.as_view(), name="api-connection"),
]

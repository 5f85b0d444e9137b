"""REST of the memory graph: what surrounds a solution."""

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memory_hub.common.errors import InvalidInput
from memory_hub.library import selectors
from memory_hub.library.graph import MAX_HOPS, Node, neighbourhood

from .base import HubView


class NodeOut(serializers.Serializer):
    """A solution or a lesson, `hop` steps from the one that was asked about."""

    id = serializers.UUIDField()
    hop = serializers.IntegerField()
    what = serializers.SerializerMethodField()
    title = serializers.CharField()

    def get_what(self, node: Node) -> str:
        return "solution" if node.solution else "lesson"


class EdgeOut(serializers.Serializer):
    kind = serializers.CharField()
    source = serializers.UUIDField()  # type: ignore[assignment]
    target = serializers.UUIDField()
    reason = serializers.CharField()


class GraphOut(serializers.Serializer):
    """`is_cut`: more is linked than is listed."""

    nodes = NodeOut(many=True)
    edges = EdgeOut(many=True)
    is_cut = serializers.BooleanField()


class GraphView(HubView):
    """The neighbourhood of a solution."""

    @extend_schema(
        operation_id="solutions_graph",
        parameters=[OpenApiParameter("hops", int, enum=[1, 2], description="Default: 1.")],
        responses=GraphOut,
        tags=["solutions"],
    )
    def get(self, request: Request, solution: UUID) -> Response:
        """Return the solutions and lessons within one or two links, and the links among them."""
        hops: Any = request.query_params.get("hops", "1")
        if hops not in map(str, range(1, MAX_HOPS + 1)):
            raise InvalidInput("hops is 1 or 2.", fields={"hops": "1 or 2"})
        found = neighbourhood(self.actor, selectors.solution_get(self.actor, solution), hops=int(hops))
        return Response(GraphOut(found).data)


urlpatterns = [path("solutions/<uuid:solution>/graph/", GraphView.as_view(), name="api-solution-graph")]

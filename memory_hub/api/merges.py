"""REST of merging: pairs of solutions to be merged or kept apart, and the decision."""

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from memory_hub.common.errors import InvalidInput
from memory_hub.library import selectors as library
from memory_hub.library.models import MergeProposal, Solution
from memory_hub.library.services.merge_proposals import merge_propose
from memory_hub.review import selectors
from memory_hub.review.merges import merge_accept, merge_decline, solution_merge

from .base import RETRY, HubView, idempotent, remember
from .library_output import PersonOut, person

_SEEN = "Its latest revision as you saw it: 409 where there is a newer one."


class MergeProposalIn(serializers.Serializer):
    """Two solutions of the project that a reviewer should look at."""

    solution = serializers.UUIDField()
    other = serializers.UUIDField()
    note = serializers.CharField(required=False, allow_blank=True, default="", help_text="Why.")


class SeenIn(serializers.Serializer):
    solution = serializers.UUIDField()
    latest_revision = serializers.UUIDField(help_text=_SEEN)


class MergeDecisionIn(serializers.Serializer):
    """What becomes of a pair, as you saw it."""

    decision = serializers.ChoiceField(choices=["accept", "decline"])
    survivor = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="The one that stays; required to accept."
    )
    seen = SeenIn(many=True, help_text="Both solutions.")
    note = serializers.CharField(
        required=False, allow_blank=True, default="", help_text="The reason; required to decline."
    )


class MergeIn(serializers.Serializer):
    """Which solution is to stand for this one, and both as you saw them."""

    into = serializers.UUIDField()
    latest_revision = serializers.UUIDField(help_text="Of this solution. " + _SEEN)
    into_latest_revision = serializers.UUIDField(help_text="Of `into`. " + _SEEN)
    note = serializers.CharField(required=False, allow_blank=True, default="")


class PairedOut(serializers.Serializer):
    """One of the two, with the revision that stands for it."""

    id = serializers.UUIDField()
    title = serializers.CharField()
    problem = serializers.CharField()
    status = serializers.SerializerMethodField()
    verification = serializers.SerializerMethodField()
    latest_revision = serializers.UUIDField(source="latest_revision_id")
    archived = serializers.SerializerMethodField()

    def get_status(self, solution: Solution) -> str:
        return library.served_revision(solution).status

    def get_verification(self, solution: Solution) -> str:
        return library.served_revision(solution).verification

    def get_archived(self, solution: Solution) -> bool:
        return solution.archived_at is not None


class MergeProposalOut(serializers.Serializer):
    """A pair: `near_duplicate` with the measures in `detail`, `conflict` with the revisions, or `asked` by a person."""

    id = serializers.UUIDField()
    kind = serializers.CharField()
    state = serializers.CharField()
    reason = serializers.SerializerMethodField()
    detail = serializers.DictField()
    solutions = serializers.SerializerMethodField()
    note = serializers.CharField()
    proposed_by = serializers.SerializerMethodField()
    survivor = serializers.UUIDField(source="survivor_id", allow_null=True)
    decided_by = serializers.SerializerMethodField()
    decided_at = serializers.DateTimeField(allow_null=True)
    decision_note = serializers.CharField()
    created_at = serializers.DateTimeField()

    def get_reason(self, row: MergeProposal) -> str:
        return selectors.why_proposed(row)

    @extend_schema_field(PairedOut(many=True))
    def get_solutions(self, row: MergeProposal) -> list[dict[str, Any]]:
        return list(PairedOut([row.one, row.two], many=True).data)

    @extend_schema_field(PersonOut(allow_null=True))
    def get_proposed_by(self, row: MergeProposal) -> dict[str, Any] | None:
        return person(row.proposed_by)

    @extend_schema_field(PersonOut(allow_null=True))
    def get_decided_by(self, row: MergeProposal) -> dict[str, Any] | None:
        return person(row.decided_by)


class MergeProposalsView(HubView):
    """The pairs of a project."""

    @extend_schema(
        operation_id="merge_proposals_list",
        parameters=[
            OpenApiParameter("state", str, enum=[*MergeProposal.State.values], description="Default: all.")
        ],
        responses=MergeProposalOut(many=True),
        tags=["reviews"],
    )
    def get(self, request: Request, **_: Any) -> Response:
        """List pairs, the oldest first. `state=open` is what waits for a decision."""
        state = request.query_params.get("state", "")
        if state and state not in MergeProposal.State.values:
            raise InvalidInput("There is no such state.", fields={"state": "open, accepted or declined"})
        rows = selectors.merge_proposals(self.actor, self.project(), state)
        return self.paged(rows, lambda page: MergeProposalOut(page, many=True).data)

    @extend_schema(
        operation_id="merge_proposals_add",
        parameters=[RETRY],
        request=MergeProposalIn,
        responses={201: MergeProposalOut},
        tags=["reviews"],
    )
    def post(self, request: Request, **_: Any) -> Response:
        """Ask a reviewer to merge two solutions; nothing else changes. A pair that is open already is returned."""
        project = self.project()
        answer = idempotent(request, self.actor, project)
        if isinstance(answer, Response):
            return answer
        values = self.input(MergeProposalIn)
        found = [library.solution_get(self.actor, values[name]) for name in ("solution", "other")]
        for solution in found:
            if solution.project_id != project.id:
                raise InvalidInput("Both solutions belong to this project.", fields={"other": "Elsewhere."})
        row = merge_propose(actor=self.actor, solution=found[0], other=found[1], note=values["note"])
        return remember(answer, _shown(self, row.id, status.HTTP_201_CREATED))


class MergeProposalView(HubView):
    """One pair."""

    @extend_schema(operation_id="merge_proposals_get", responses=MergeProposalOut, tags=["reviews"])
    def get(self, request: Request, proposal: UUID) -> Response:
        """Return a pair with both solutions."""
        return _shown(self, proposal)


class MergeDecisionView(HubView):
    """The decision on a pair."""

    @extend_schema(
        operation_id="merge_proposals_decide",
        parameters=[RETRY],
        request=MergeDecisionIn,
        responses=MergeProposalOut,
        tags=["reviews"],
    )
    def post(self, request: Request, proposal: UUID) -> Response:
        """Merge the two, or keep them apart. 409 where one has moved since you saw it."""
        found = selectors.merge_proposal_get(self.actor, proposal)
        answer = idempotent(request, self.actor, found.project)
        if isinstance(answer, Response):
            return answer
        values = self.input(MergeDecisionIn)
        seen = {item["solution"]: item["latest_revision"] for item in values["seen"]}
        said = {"actor": self.actor, "proposal": found, "seen": seen, "note": values["note"]}
        if values["decision"] == "decline":
            merge_decline(**said)
        elif values["survivor"] is None:
            raise InvalidInput("Say which of the two stays.", fields={"survivor": "Required to accept."})
        else:
            merge_accept(survivor_id=values["survivor"], **said)
        return remember(answer, _shown(self, proposal))


class MergeView(HubView):
    """Merging a solution into another."""

    @extend_schema(
        operation_id="solutions_merge",
        parameters=[RETRY],
        request=MergeIn,
        responses=MergeProposalOut,
        tags=["reviews"],
    )
    def post(self, request: Request, solution: UUID) -> Response:
        """Let another solution stand for this one, which is archived with all that belongs to it."""
        found = library.solution_get(self.actor, solution)
        answer = idempotent(request, self.actor, found.project)
        if isinstance(answer, Response):
            return answer
        values = self.input(MergeIn)
        into = library.solution_get(self.actor, values["into"])
        row = solution_merge(
            actor=self.actor,
            solution=found,
            into=into,
            seen={found.id: values["latest_revision"], into.id: values["into_latest_revision"]},
            note=values["note"],
        )
        return remember(answer, _shown(self, row.id))


def _shown(view: HubView, proposal: UUID, code: int = status.HTTP_200_OK) -> Response:
    row = selectors.merge_proposal_get(view.actor, proposal)
    return Response(MergeProposalOut(row).data, status=code)


urlpatterns = [
    path(
        "projects/<slug:team>/<slug:project>/merge-proposals/",
        MergeProposalsView.as_view(),
        name="api-merge-proposals",
    ),
    path("merge-proposals/<uuid:proposal>/", MergeProposalView.as_view(), name="api-merge-proposal"),
    path(
        "merge-proposals/<uuid:proposal>/decision/",
        MergeDecisionView.as_view(),
        name="api-merge-decision",
    ),
    path("solutions/<uuid:solution>/merge/", MergeView.as_view(), name="api-solution-merge"),
]

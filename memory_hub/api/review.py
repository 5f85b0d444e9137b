"""REST of review: decisions on revisions, and ratings."""

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from memory_hub.library import selectors as library
from memory_hub.library.models import Revision
from memory_hub.review import selectors
from memory_hub.review.models import Rating, Review
from memory_hub.review.services import revision_approve, revision_deprecate, revision_reject, solution_rate

from .base import RETRY, HubView, idempotent, remember
from .library_output import PersonOut, person


class ReviewIn(serializers.Serializer):
    """A decision on one revision, as you saw it."""

    revision = serializers.UUIDField()
    decision = serializers.ChoiceField(choices=Review.Decision.choices)
    note = serializers.CharField(
        required=False, allow_blank=True, default="", help_text="The reason; required to reject."
    )
    expected_latest = serializers.UUIDField(
        required=False,
        allow_null=True,
        default=None,
        help_text="The latest revision you know of, where that is not `revision`: 409 where there is a newer one.",
    )
    expected_status = serializers.ChoiceField(
        choices=Revision.Status.choices,
        required=False,
        help_text="The status you saw: 409 where it has moved. Default: candidate (approved to deprecate).",
    )


class ReviewOut(serializers.Serializer):
    id = serializers.UUIDField()
    revision = serializers.UUIDField(source="revision_id")
    number = serializers.IntegerField(source="revision.number")
    decision = serializers.CharField()
    note = serializers.CharField()
    reviewer = serializers.SerializerMethodField()
    is_own_work = serializers.BooleanField()
    created_at = serializers.DateTimeField()

    @extend_schema_field(PersonOut(allow_null=True))
    def get_reviewer(self, review: Review) -> dict[str, Any] | None:
        return person(review.reviewer)


class RatingIn(serializers.Serializer):
    stars = serializers.IntegerField(min_value=1, max_value=5)
    note = serializers.CharField(required=False, allow_blank=True, default="")


class StarsOut(serializers.Serializer):
    stars = serializers.IntegerField()
    note = serializers.CharField()
    revision = serializers.UUIDField(source="revision_id")
    updated_at = serializers.DateTimeField()


class RatingOut(serializers.Serializer):
    """Everybody's mean and your own stars."""

    mean = serializers.FloatField(allow_null=True)
    count = serializers.IntegerField()
    mine = StarsOut(allow_null=True)


class WaitingOut(serializers.Serializer):
    """A candidate in the review queue."""

    revision = serializers.UUIDField(source="id")
    number = serializers.IntegerField()
    solution = serializers.UUIDField(source="solution_id")
    title = serializers.CharField(source="solution.title")
    verification = serializers.CharField()
    author = serializers.SerializerMethodField()
    reasons = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()

    @extend_schema_field(PersonOut(allow_null=True))
    def get_author(self, revision: Revision) -> dict[str, Any] | None:
        return person(revision.author)

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_reasons(self, revision: Revision) -> list[str]:
        return selectors.why_it_waits(revision)


class QueueView(HubView):
    """What waits for a decision in a project."""

    @extend_schema(operation_id="reviews_queue", responses=WaitingOut(many=True), tags=["reviews"])
    def get(self, request: Request, **_: Any) -> Response:
        """List the candidates that wait, oldest first, each with what to know before opening it."""
        return self.paged(
            selectors.queue(self.actor, self.project()), lambda page: WaitingOut(page, many=True).data
        )


class ReviewsView(HubView):
    """The decisions on a solution's revisions."""

    @extend_schema(operation_id="reviews_list", responses=ReviewOut(many=True), tags=["reviews"])
    def get(self, request: Request, solution: UUID) -> Response:
        """List decisions, newest first."""
        found = library.solution_get(self.actor, solution)
        return self.paged(
            selectors.reviews_of(self.actor, found), lambda page: ReviewOut(page, many=True).data
        )

    @extend_schema(
        operation_id="reviews_decide",
        parameters=[RETRY],
        request=ReviewIn,
        responses={201: ReviewOut},
        tags=["reviews"],
    )
    def post(self, request: Request, solution: UUID) -> Response:
        """Approve, reject or deprecate a revision. Nobody approves their own work; 409 where it has moved."""
        found = library.solution_get(self.actor, solution)
        answer = idempotent(request, self.actor, found.project)
        if isinstance(answer, Response):
            return answer
        values = dict(self.input(ReviewIn))
        revision = library.revision_in(self.actor, found.id, values.pop("revision"))
        review = self._decide(values.pop("decision"), revision, values)
        return remember(answer, Response(ReviewOut(review).data, status=status.HTTP_201_CREATED))

    def _decide(self, decision: str, revision: Revision, values: dict[str, Any]) -> Review:
        if decision == Review.Decision.DEPRECATE:
            values.pop("expected_status", None)
            return revision_deprecate(actor=self.actor, revision=revision, **values)
        decide = revision_approve if decision == Review.Decision.APPROVE else revision_reject
        return decide(actor=self.actor, revision=revision, **values)


class RatingView(HubView):
    """The stars of a solution."""

    @extend_schema(operation_id="rating_get", responses=RatingOut, tags=["reviews"])
    def get(self, request: Request, solution: UUID) -> Response:
        """Return everybody's mean and your own stars."""
        found = library.solution_get(self.actor, solution)
        return self._rating(found, selectors.rating_of(self.actor, found))

    @extend_schema(operation_id="rating_put", request=RatingIn, responses=RatingOut, tags=["reviews"])
    def put(self, request: Request, solution: UUID) -> Response:
        """Give 1 to 5 stars; your later stars take the place of the earlier."""
        found = library.solution_get(self.actor, solution)
        rating = solution_rate(actor=self.actor, solution=found, **self.input(RatingIn))
        return self._rating(found, rating)

    def _rating(self, solution: Any, mine: Rating | None) -> Response:
        summary = selectors.rating_summary(self.actor, solution)
        return Response(RatingOut({"mean": summary.mean, "count": summary.count, "mine": mine}).data)


urlpatterns = [
    path("projects/<slug:team>/<slug:project>/reviews/", QueueView.as_view(), name="api-review-queue"),
    path("solutions/<uuid:solution>/reviews/", ReviewsView.as_view(), name="api-reviews"),
    path("solutions/<uuid:solution>/rating/", RatingView.as_view(), name="api-rating"),
]

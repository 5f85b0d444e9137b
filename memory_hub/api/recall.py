"""REST of recall: ask the memory, look a recall up, say what became of it."""

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from memory_hub.common.errors import InvalidInput
from memory_hub.library.drafts import Metric
from memory_hub.library.models import Evidence
from memory_hub.recall import selectors
from memory_hub.recall.models import Recall, RecallItem
from memory_hub.recall.packing import pack_lesson
from memory_hub.recall.services import (
    ErrorDetails,
    OfferedItem,
    RecallAnswer,
    RecallRequest,
    recall_make,
    recall_outcome,
)
from memory_hub.recall.services.recalls import MAX_TOKENS, MAX_TOP_K

from .base import HubView


class ErrorIn(serializers.Serializer):
    """An error: its parts, or a whole traceback in `traceback` or `message`."""

    type = serializers.CharField(required=False, allow_blank=True, default="")
    message = serializers.CharField(required=False, allow_blank=True, default="", trim_whitespace=False)
    failing_line = serializers.CharField(required=False, allow_blank=True, default="")
    traceback = serializers.CharField(required=False, allow_blank=True, default="", trim_whitespace=False)
    code = serializers.CharField(required=False, allow_blank=True, default="", trim_whitespace=False)

    def to_internal_value(self, data: Any) -> Any:
        """Take plain text for a pasted traceback."""
        return super().to_internal_value({"traceback": data} if isinstance(data, str) else data)


class FiltersIn(serializers.Serializer):
    """Narrow what is offered; a filter never reaches beyond the project."""

    status = serializers.ListField(child=serializers.CharField(), required=False)
    verification = serializers.ListField(child=serializers.CharField(), required=False)
    kind = serializers.ListField(child=serializers.CharField(), required=False)


class RecallIn(serializers.Serializer):
    task = serializers.CharField(required=False, allow_blank=True, default="", help_text="In your own words")
    query = serializers.CharField(required=False, allow_blank=True, default="", help_text="The same as task")
    error = ErrorIn(required=False, allow_null=True, default=None)
    sandbox = serializers.CharField(
        required=False, allow_blank=True, allow_null=True, default="", max_length=20
    )
    filters = FiltersIn(required=False, default=dict)
    top_k = serializers.IntegerField(default=3, min_value=1, max_value=MAX_TOP_K)
    max_tokens = serializers.IntegerField(default=2000, min_value=1, max_value=MAX_TOKENS)
    threshold = serializers.FloatField(
        required=False, allow_null=True, default=None, min_value=0, max_value=1
    )
    explain = serializers.BooleanField(default=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs["task"] = attrs["task"] or attrs.pop("query")
        if not attrs["task"].strip() and attrs["error"] is None:
            raise serializers.ValidationError({"task": "Say what the task is, or which error was met."})
        return attrs


class ItemOut(serializers.Serializer):
    """One offered revision."""

    revision = serializers.UUIDField(source="revision_id")
    solution = serializers.UUIDField(source="solution_id")
    title = serializers.CharField()
    rank = serializers.IntegerField()
    score = serializers.FloatField(help_text="0 to 1")
    reason = serializers.CharField()
    kind = serializers.CharField()
    status = serializers.CharField(help_text="A human decision")
    verification = serializers.CharField(help_text="A machine fact")
    entry_point = serializers.CharField()
    signature = serializers.CharField()
    code = serializers.CharField(help_text="Exactly as stored")
    usage_example = serializers.CharField()
    score_parts = serializers.DictField(child=serializers.FloatField())


class CallableOut(serializers.Serializer):
    name = serializers.CharField()
    signature = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]  # a field of this name
    revision = serializers.UUIDField(source="revision_id")


class LessonHintOut(serializers.Serializer):
    id = serializers.UUIDField()
    title = serializers.CharField()
    text = serializers.CharField(help_text="Packed for a prompt: quoted data")


class AnswerOut(serializers.Serializer):
    """What the memory offers. `block` is ready for a prompt; it never claims that a function is defined."""

    id = serializers.UUIDField()
    no_match = serializers.BooleanField()
    items = ItemOut(many=True)
    block = serializers.CharField()
    tokens = serializers.IntegerField(help_text="Of the block, estimated at four characters each")
    callables = CallableOut(many=True)
    lessons = LessonHintOut(many=True)
    best_rejected = ItemOut(
        allow_null=True, required=False, help_text="With explain: the best that did not pass"
    )


class RecalledOut(serializers.Serializer):
    """One item of a recall as it was offered, and what became of it."""

    rank = serializers.IntegerField()
    score = serializers.FloatField()
    score_parts = serializers.DictField(child=serializers.FloatField())
    reason = serializers.CharField()
    solution = serializers.UUIDField(source="solution_id", allow_null=True)
    revision = serializers.UUIDField(source="revision_id", allow_null=True)
    lesson = serializers.UUIDField(source="lesson_id", allow_null=True)
    status = serializers.CharField()
    verification = serializers.CharField()
    used = serializers.BooleanField(allow_null=True)
    outcome = serializers.CharField()


class RecallOut(serializers.Serializer):
    """A recall as it is on record."""

    id = serializers.UUIDField()
    query = serializers.CharField()
    error = serializers.JSONField(allow_null=True)
    sandbox = serializers.CharField()
    run = serializers.UUIDField(source="run_id", allow_null=True)
    no_match = serializers.BooleanField()
    tokens = serializers.IntegerField()
    milliseconds = serializers.FloatField()
    outcome = serializers.CharField()
    created_at = serializers.DateTimeField()
    items = serializers.SerializerMethodField()

    @extend_schema_field(RecalledOut(many=True))
    def get_items(self, recall: Recall) -> Any:
        rows: list[RecallItem] = list(recall.items.all())
        return RecalledOut(rows, many=True).data


class OutcomeMetricIn(serializers.Serializer):
    name = serializers.CharField(max_length=60)
    value = serializers.FloatField()
    unit = serializers.CharField(max_length=20, required=False, allow_blank=True, default="")
    higher_is_better = serializers.BooleanField(required=False, allow_null=True, default=None)


class OutcomeIn(serializers.Serializer):
    used = serializers.ListField(child=serializers.UUIDField(), help_text="The revisions that were used")
    outcome = serializers.ChoiceField(choices=Evidence.Outcome.choices)
    metrics = OutcomeMetricIn(many=True, required=False, default=list)
    sandbox = serializers.CharField(required=False, allow_blank=True, default="", max_length=20)


class RecallView(HubView):
    """Asking the memory."""

    @extend_schema(operation_id="recall", request=RecallIn, responses=AnswerOut, tags=["recall"])
    def post(self, request: Request, **_: Any) -> Response:
        """Return at most `top_k` fitting solutions within a token budget, and lessons for an error; each with why."""
        project = self.project()
        data = self.input(RecallIn)
        error = data["error"]
        answer = recall_make(
            actor=self.actor,
            project=project,
            query=RecallRequest(
                task=data["task"],
                error=_error(error) if error is not None else None,
                sandbox=data["sandbox"] or "",
                filters=data["filters"],
                top_k=data["top_k"],
                max_tokens=data["max_tokens"],
                threshold=data["threshold"],
                explain=data["explain"],
            ),
        )
        return Response(_shown(answer, explain=data["explain"]), status=status.HTTP_200_OK)


class RecallRecordView(HubView):
    """One recall on record."""

    @extend_schema(operation_id="recall_get", responses=RecallOut, tags=["recall"])
    def get(self, request: Request, recall: UUID) -> Response:
        """Return what was asked, what was offered, and what became of it."""
        return Response(RecallOut(selectors.recall_get(self.actor, recall)).data)


class RecallOutcomeView(HubView):
    """What became of a recall."""

    @extend_schema(operation_id="recall_outcome", request=OutcomeIn, responses=RecallOut, tags=["recall"])
    def post(self, request: Request, recall: UUID) -> Response:
        """Report which offered revisions were used and whether it worked. Said again, the last word counts."""
        data = self.input(OutcomeIn)
        recall_outcome(
            actor=self.actor,
            recall_id=recall,
            used=data["used"],
            outcome=data["outcome"],
            metrics=[_metric(said) for said in data["metrics"]],
            sandbox=data["sandbox"],
        )
        return Response(RecallOut(selectors.recall_get(self.actor, recall)).data)


def _error(said: dict[str, str]) -> ErrorDetails:
    details = ErrorDetails(
        exception_type=said["type"],
        message=said["message"],
        failing_line=said["failing_line"],
        traceback=said["traceback"],
        code=said["code"],
    )
    if not (details.exception_type or details.message or details.traceback):
        raise InvalidInput("Say what the error is: its type and message, or its traceback.")
    return details


def _metric(said: dict[str, Any]) -> Metric:
    higher = said["higher_is_better"]
    better = "" if higher is None else "higher" if higher else "lower"
    return Metric(said["name"], said["value"], said["unit"], better)


def _shown(answer: RecallAnswer, *, explain: bool) -> dict[str, Any]:
    shown = {
        "id": str(answer.recall.id),
        "no_match": answer.no_match,
        "items": ItemOut(list(answer.items), many=True).data,
        "block": answer.block,
        "tokens": answer.recall.tokens,
        "callables": CallableOut(list(answer.callables), many=True).data,
        "lessons": [
            {"id": str(lesson.id), "title": str(lesson), "text": pack_lesson(lesson)}
            for lesson in answer.lessons
        ],
    }
    if explain:
        rejected: OfferedItem | None = answer.best_rejected
        shown["best_rejected"] = ItemOut(rejected).data if rejected else None
    return shown


urlpatterns = [
    path("projects/<slug:team>/<slug:project>/recall/", RecallView.as_view(), name="api-recall"),
    path("recalls/<uuid:recall>/", RecallRecordView.as_view(), name="api-recall-get"),
    path("recalls/<uuid:recall>/outcome/", RecallOutcomeView.as_view(), name="api-recall-outcome"),
]

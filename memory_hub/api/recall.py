"""REST of recall: ask the memory, read what was offered, report what became of it."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memory_hub.common.errors import NotFound
from memory_hub.library.drafts import Metric
from memory_hub.library.models import Evidence, Revision, Solution
from memory_hub.library.selectors import run_behind
from memory_hub.recall import selectors
from memory_hub.recall.packing import pack_lesson
from memory_hub.recall.services import (
    ErrorDetails,
    FoundLesson,
    RecallAnswer,
    RecallRequest,
    recall_lessons,
    recall_make,
    recall_outcome,
)
from memory_hub.recall.services.recalls import MAX_TOKENS, MAX_TOP_K

from .base import RETRY, HubView, idempotent, remember
from .library_input import CodeField


class ErrorIn(serializers.Serializer):
    """An error that was met: its parts, or a whole traceback as `traceback`, `message` or plain text."""

    type = CodeField(required=False, default="")
    message = CodeField(required=False, default="")
    failing_line = CodeField(required=False, default="")
    traceback = CodeField(required=False, default="")
    code = CodeField(required=False, default="")

    def to_internal_value(self, data: Any) -> Any:
        return super().to_internal_value({"traceback": data} if isinstance(data, str) else data)


class RecallFiltersIn(serializers.Serializer):
    """What is offered must have one of the values named; filters narrow, they never reach another project."""

    status = serializers.MultipleChoiceField(choices=Revision.Status.choices, required=False)
    verification = serializers.MultipleChoiceField(choices=Revision.Verification.choices, required=False)
    kind = serializers.MultipleChoiceField(choices=Solution.Kind.choices, required=False)


class RecallIn(serializers.Serializer):
    """A question: a task in words, an error, or both."""

    task = CodeField(required=False, allow_null=True, default="", help_text="In your own words.")
    query = CodeField(required=False, allow_null=True, default="", help_text="Another name for `task`.")
    error = ErrorIn(required=False, allow_null=True, default=None)
    recall = serializers.UUIDField(
        required=False,
        allow_null=True,
        default=None,
        help_text="The earlier recall of the run that met this error: what is offered is added to it.",
    )
    run = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="The run of the project that asks."
    )
    sandbox = serializers.CharField(
        required=False, allow_blank=True, allow_null=True, max_length=20, default=""
    )
    filters = RecallFiltersIn(required=False, allow_null=True, default=dict)
    top_k = serializers.IntegerField(required=False, min_value=1, max_value=MAX_TOP_K, default=3)
    max_tokens = serializers.IntegerField(
        required=False, min_value=1, max_value=MAX_TOKENS, default=2_000, help_text="Budget of `block`."
    )
    threshold = serializers.FloatField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=1,
        default=None,
        help_text="The least score that is offered. Default: what tells apart for the embedding model.",
    )
    inputs = serializers.DictField(
        child=serializers.DictField(),
        required=False,
        allow_null=True,
        default=dict,
        help_text="{name: profile} of the data at hand, as `input_profile` of a solution: kind, columns with name and "
        "type, encoding, delimiter, decimal_mark, size_bytes. What was proven on alike data comes first.",
    )
    explain = serializers.BooleanField(required=False, default=False)


class PieceOut(serializers.Serializer):
    """A piece of a text, and whether it is a word of the question."""

    text = serializers.CharField()
    is_match = serializers.BooleanField()


class ItemOut(serializers.Serializer):
    """One offered revision. `status` and `verification` are apart: one is a person's word, one a machine's."""

    rank = serializers.IntegerField()
    score = serializers.FloatField(help_text="0 to 1; 1 is the same problem word for word.")
    score_parts = serializers.DictField(
        child=serializers.FloatField(), required=False, help_text="With `explain`."
    )
    matched_on = PieceOut(
        many=True,
        required=False,
        help_text="With `explain`: the part of the problem that matched; its pieces in order.",
    )
    worth_parts = serializers.DictField(
        child=serializers.FloatField(), required=False, help_text="With `explain`: what made up its worth."
    )
    rank_without_worth = serializers.IntegerField(
        required=False,
        allow_null=True,
        help_text="With `explain`: where relevance alone would have put it; null for what supersedes a found one.",
    )
    reason = serializers.CharField()
    solution = serializers.UUIDField(source="solution_id")
    revision = serializers.UUIDField(source="revision_id")
    title = serializers.CharField()
    problem = serializers.CharField()
    kind = serializers.CharField()
    status = serializers.CharField()
    verification = serializers.CharField()
    entry_point = serializers.CharField(help_text="Empty for a script.")
    signature = serializers.CharField()
    code = CodeField()
    usage_example = CodeField()
    applies_when = serializers.CharField()
    edge_cases = serializers.ListField(child=serializers.CharField())
    failed = serializers.ListField(child=serializers.CharField())
    run = serializers.UUIDField(source="run_id", allow_null=True)


class CallableOut(serializers.Serializer):
    """A function that can be defined in the agent's session: whole source, helpers first."""

    name = serializers.CharField()
    signature = serializers.CharField()
    source = CodeField()  # type: ignore[assignment]
    revision = serializers.UUIDField(source="revision_id")


class LessonHintOut(serializers.Serializer):
    """A known fix; `text` is quoted data, ready for a prompt."""

    id = serializers.UUIDField(source="lesson.id")
    title = serializers.CharField(source="lesson")
    text = serializers.SerializerMethodField()
    exception_type = serializers.CharField(source="lesson.exception_type")
    message = CodeField(source="lesson.message")
    failing_line = CodeField(source="lesson.failing_line")
    cause = CodeField(source="lesson.cause", help_text="In words.")
    diff = CodeField(source="lesson.diff", help_text="From the code that failed to the code that did not.")
    fixing_code = CodeField(source="lesson.fixing_code")
    score = serializers.FloatField()
    reason = serializers.CharField()

    def get_text(self, found: FoundLesson) -> str:
        return pack_lesson(found.lesson)


class RecallAnswerOut(serializers.Serializer):
    """What the memory offers. `block` holds the items as quoted data within the budget, for a prompt."""

    id = serializers.UUIDField(source="recall.id")
    items = ItemOut(many=True)
    block = CodeField()
    tokens = serializers.IntegerField(
        source="recall.tokens", help_text="Of `block`, at four characters a token."
    )
    callables = CallableOut(many=True)
    lessons = LessonHintOut(many=True)
    no_match = serializers.BooleanField()
    best_rejected = ItemOut(required=False, help_text="With `explain`: the best of what did not fit.")


class RecalledItemOut(serializers.Serializer):
    """One thing that was offered, as it stood then, and what became of it."""

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
    """A recall that was made."""

    id = serializers.UUIDField()
    query = serializers.CharField()
    error = serializers.DictField(child=serializers.CharField(), allow_null=True)
    filters = serializers.DictField()
    sandbox = serializers.CharField()
    run = serializers.UUIDField(source="run_id", allow_null=True)
    no_match = serializers.BooleanField()
    tokens = serializers.IntegerField()
    embedding_model = serializers.CharField()
    milliseconds = serializers.FloatField()
    outcome = serializers.CharField()
    outcome_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    items = RecalledItemOut(many=True)


class UseMetricIn(serializers.Serializer):
    """A number that says how well it went."""

    name = serializers.CharField(max_length=60)
    value = serializers.FloatField()
    unit = serializers.CharField(max_length=20, required=False, allow_blank=True, default="")
    higher_is_better = serializers.BooleanField(required=False, allow_null=True, default=None)


class OutcomeIn(serializers.Serializer):
    """Which offered revisions were used, and whether it worked. Said again, it takes the earlier one's place."""

    used = serializers.ListField(child=serializers.UUIDField(), max_length=MAX_TOP_K)
    outcome = serializers.ChoiceField(choices=Evidence.Outcome.choices)
    metrics = UseMetricIn(many=True, required=False, default=list)


class RecallsView(HubView):
    """Questions to a project's memory."""

    @extend_schema(operation_id="recalls_make", request=RecallIn, responses=RecallAnswerOut, tags=["recall"])
    def post(self, request: Request, **_: Any) -> Response:
        """Return what the memory offers for a task, an error, or both; `no_match` where nothing fits."""
        project = self.project()
        values = self.input(RecallIn)
        task, said = values["task"] or values["query"] or "", values["error"]
        error = None if said is None else ErrorDetails(**_error_parts(said))
        earlier = None
        if values["recall"] is not None:
            earlier = selectors.recall_to_add_to(self.actor, project, values["recall"])
        if earlier is not None and error is not None and not task.strip():
            lessons = recall_lessons(
                actor=self.actor, project=project, error=error, recall=earlier, top_k=values["top_k"]
            )
            return Response(_show_lessons(earlier.id, lessons))
        run = run_behind(self.actor, values["run"]) or (earlier.run if earlier else None)
        if run is not None and run.project_id != project.id:
            raise NotFound("There is no such run in this project.")
        answer = recall_make(
            actor=self.actor,
            project=project,
            query=RecallRequest(
                task=task,
                error=error,
                sandbox=values["sandbox"] or "",
                filters={name: sorted(wanted) for name, wanted in (values["filters"] or {}).items()},
                top_k=values["top_k"],
                max_tokens=values["max_tokens"],
                threshold=values["threshold"],
                explain=values["explain"],
                inputs=values["inputs"] or {},
            ),
            run=run,
        )
        return Response(_show_answer(answer, explain=values["explain"]))


class RecallView(HubView):
    """One recall."""

    @extend_schema(operation_id="recalls_get", responses=RecallOut, tags=["recall"])
    def get(self, request: Request, recall: UUID) -> Response:
        """Return what was asked, what was offered at which rank and why, and what became of it."""
        return Response(RecallOut(selectors.recall_get(self.actor, recall)).data)


class OutcomeView(HubView):
    """What became of a recall."""

    @extend_schema(
        operation_id="recalls_outcome",
        parameters=[RETRY],
        request=OutcomeIn,
        responses=RecallOut,
        tags=["recall"],
    )
    def post(self, request: Request, recall: UUID) -> Response:
        """Report which offered revisions were used and whether it worked: evidence on each of them."""
        found = selectors.recall_to_report(self.actor, recall)
        answer = idempotent(request, self.actor, found.project)
        if isinstance(answer, Response):
            return answer
        values = self.input(OutcomeIn)
        reported = recall_outcome(
            actor=self.actor,
            recall_id=recall,
            used=values["used"],
            outcome=values["outcome"],
            metrics=[_metric(said) for said in values["metrics"]],
        )
        return remember(answer, Response(RecallOut(reported).data))


def _error_parts(said: dict[str, str]) -> dict[str, str]:
    return {"exception_type" if name == "type" else name: value for name, value in said.items()}


def _metric(said: dict[str, Any]) -> Metric:
    better = {True: "higher", False: "lower", None: ""}[said["higher_is_better"]]
    return Metric(name=said["name"], value=said["value"], unit=said["unit"], better=better)


def _show_answer(answer: RecallAnswer, *, explain: bool) -> dict[str, Any]:
    shown = dict(RecallAnswerOut(answer).data)
    if not explain:
        shown.pop("best_rejected", None)
        for item in shown["items"]:
            for part in ("score_parts", "worth_parts", "rank_without_worth", "matched_on"):
                item.pop(part)
    return shown


def _show_lessons(recall_id: UUID, lessons: Sequence[FoundLesson]) -> dict[str, Any]:
    """The same shape for an error that was met after the recall."""
    return {
        "id": str(recall_id),
        "items": [],
        "block": "",
        "tokens": 0,
        "callables": [],
        "lessons": LessonHintOut(lessons, many=True).data,
        "no_match": not lessons,
    }


urlpatterns = [
    path("projects/<slug:team>/<slug:project>/recall/", RecallsView.as_view(), name="api-recall"),
    path("recalls/<uuid:recall>/", RecallView.as_view(), name="api-recall-get"),
    path("recalls/<uuid:recall>/outcome/", OutcomeView.as_view(), name="api-recall-outcome"),
]

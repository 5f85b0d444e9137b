"""REST of search: what people find, by words and by filters, in the same order; and the gaps where nothing was found.

Unlike recall this is for looking around: nothing is recorded, whatever its status is found, and no prompt is packed.
"""

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.access.selectors import my_projects
from memory_hub.common.errors import InvalidInput
from memory_hub.library.selectors import solution_get
from memory_hub.recall import browse, gaps
from memory_hub.recall.errors import looks_like_error, parse_traceback
from memory_hub.recall.models import Gap
from memory_hub.recall.query_words import NAMES, Asked, parse, read_parameters, together
from memory_hub.recall.selectors import search_errors
from memory_hub.recall.services import gap_close, gap_dismiss, gap_record

from .base import RETRY, HubView, idempotent, remember
from .library_output import LessonOut, PersonOut, SolutionRowOut, person, show_lessons, show_solutions
from .recall import PieceOut

_QUERY_CHARACTERS = 8_000
_RESULTS = 30

_FILTERS = [
    OpenApiParameter(
        "q", str, description="Words, and filters among them: `sum lib:pandas status:approved`."
    ),
    *(
        OpenApiParameter(name, str, many=True, enum=choices or None, description=f"Filter: {label.lower()}.")
        for name, (label, choices) in NAMES.items()
    ),
]


class FoundSolutionOut(serializers.Serializer):
    """`score` and what explains it are null without words: then the newest come first."""

    solution = SolutionRowOut()
    score = serializers.FloatField(allow_null=True)
    score_parts = serializers.DictField(child=serializers.FloatField())
    reason = serializers.CharField()
    matched_on = PieceOut(many=True, help_text="The part of the problem that matched; its pieces in order.")


class FoundLessonOut(serializers.Serializer):
    lesson = LessonOut()
    score = serializers.FloatField(allow_null=True)
    score_parts = serializers.DictField(child=serializers.FloatField())
    reason = serializers.CharField()


class SearchOut(serializers.Serializer):
    """At most 30 of each, the best first. `nearest` has what comes near where no solution fits."""

    words = serializers.CharField()
    filters = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))
    notes = serializers.ListField(child=serializers.CharField(), help_text="What was not taken as a filter.")
    solutions = FoundSolutionOut(many=True)
    nearest = FoundSolutionOut(many=True)
    lessons = FoundLessonOut(many=True)
    is_partial = serializers.BooleanField(
        help_text="More solutions pass the filters than were compared with the words."
    )


class _Search(HubView):
    def found_in(self, request: Request, projects: list[Any]) -> Response:
        asked = _asked(request)
        if not asked.words and not asked.filters:
            raise InvalidInput("Say what you look for: words, filters, or both.", fields={"q": "Empty."})
        if asked.words:
            solutions, nearest, lessons, is_partial = self._by_words(projects, asked)
        else:
            rows = list(browse.list_solutions(self.actor, projects, asked.filters)[:_RESULTS])
            solutions = self._solutions([{"row": row} for row in rows])
            nearest, is_partial = [], False
            met = browse.list_lessons(self.actor, projects, asked.filters)[:_RESULTS]
            lessons = self._lessons([{"row": row} for row in met] if "error" in asked.filters else [])
        return Response(
            {
                "words": asked.words, "filters": dict(asked.filters), "notes": asked.notes, "solutions": solutions,
                "nearest": nearest, "lessons": lessons, "is_partial": is_partial,
            }
        )  # fmt: skip

    def _by_words(self, projects: list[Any], asked: Asked) -> tuple[Any, Any, Any, bool]:
        found = browse.search_solutions(self.actor, projects, asked.words, asked.filters)
        error = parse_traceback(asked.words) if looks_like_error(asked.words) else None
        if error is not None and error.exception_type:
            met = search_errors(self.actor, projects, error)
            lessons = browse.lessons_that_pass(self.actor, projects, met, asked.filters)
        else:
            lessons = browse.search_lessons(self.actor, projects, asked.words, asked.filters)
        return (
            self._solutions([_explained(item.solution, item) for item in found.fitting[:_RESULTS]]),
            self._solutions([_explained(item.solution, item) for item in found.nearest]),
            self._lessons([_explained(item.lesson, item) for item in lessons[:_RESULTS]]),
            found.is_partial,
        )

    def _solutions(self, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        shown = show_solutions(self.actor, [item["row"] for item in found])
        return [
            {
                "solution": row, "score": item.get("score"), "score_parts": item.get("score_parts", {}),
                "reason": item.get("reason", ""), "matched_on": item.get("matched_on", []),
            }
            for row, item in zip(shown, found, strict=True)
        ]  # fmt: skip

    def _lessons(self, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        shown = show_lessons(self.actor, [item["row"] for item in found])
        return [
            {
                "lesson": row, "score": item.get("score"), "score_parts": item.get("score_parts", {}),
                "reason": item.get("reason", ""),
            }
            for row, item in zip(shown, found, strict=True)
        ]  # fmt: skip


class SearchView(_Search):
    """Everything that one may read."""

    @extend_schema(operation_id="search", parameters=_FILTERS, responses=SearchOut, tags=["search"])
    def get(self, request: Request) -> Response:
        """Search all projects that one is in; with a key, its project."""
        return self.found_in(request, list(my_projects(self.actor)))


class ProjectSearchView(_Search):
    """One project."""

    @extend_schema(operation_id="projects_search", parameters=_FILTERS, responses=SearchOut, tags=["search"])
    def get(self, request: Request, **_: Any) -> Response:
        """Search a project by words, by filters, or by both. Filters narrow; nothing is recorded."""
        project = self.project()
        require(self.actor, Permission.LIBRARY_READ, project)
        return self.found_in(request, [project])


class GapIn(serializers.Serializer):
    """What was asked and not found."""

    q = serializers.CharField(
        max_length=_QUERY_CHARACTERS, help_text="As it was asked, filters among the words."
    )


class GapDecisionIn(serializers.Serializer):
    """How a gap is settled."""

    decision = serializers.ChoiceField(choices=["close", "dismiss"])
    solution = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="What answers it now; required to close."
    )
    note = serializers.CharField(required=False, allow_blank=True, default="")


class GapOut(serializers.Serializer):
    """Something that was asked and had no answer. `people` is how many asked, `times` how often."""

    id = serializers.UUIDField()
    question = serializers.CharField()
    filters = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))
    state = serializers.CharField()
    times = serializers.IntegerField()
    people = serializers.IntegerField()
    asked_by = serializers.SerializerMethodField()
    last_asked_at = serializers.DateTimeField()
    solution = serializers.UUIDField(source="solution_id", allow_null=True)
    closed_by = serializers.SerializerMethodField()
    closed_at = serializers.DateTimeField(allow_null=True)
    note = serializers.CharField()
    created_at = serializers.DateTimeField()

    @extend_schema_field(PersonOut(allow_null=True))
    def get_asked_by(self, gap: Gap) -> dict[str, Any] | None:
        return person(gap.asked_by)

    @extend_schema_field(PersonOut(allow_null=True))
    def get_closed_by(self, gap: Gap) -> dict[str, Any] | None:
        return person(gap.closed_by)


class GapsView(HubView):
    """The gaps of a project."""

    @extend_schema(
        operation_id="gaps_list",
        parameters=[OpenApiParameter("state", str, enum=Gap.State.values, description="Default: all.")],
        responses=GapOut(many=True),
        tags=["search"],
    )
    def get(self, request: Request, **_: Any) -> Response:
        """List gaps, what was asked last first."""
        state = request.query_params.get("state", "")
        if state and state not in Gap.State.values:
            raise InvalidInput("There is no such state.", fields={"state": "open, closed or dismissed"})
        rows = gaps.gaps(self.actor, self.project())
        return self.paged(
            rows.filter(state=state) if state else rows, lambda page: GapOut(page, many=True).data
        )

    @extend_schema(
        operation_id="gaps_record",
        parameters=[RETRY],
        request=GapIn,
        responses={201: GapOut},
        tags=["search"],
    )
    def post(self, request: Request, **_: Any) -> Response:
        """Keep what was asked as a gap; the same question and filters count up."""
        project = self.project()
        answer = idempotent(request, self.actor, project)
        if isinstance(answer, Response):
            return answer
        gap = gap_record(actor=self.actor, project=project, asked=parse(self.input(GapIn)["q"]))
        shown = GapOut(gaps.gap_get(self.actor, gap.id)).data
        return remember(answer, Response(shown, status=status.HTTP_201_CREATED))


class GapView(HubView):
    """One gap."""

    @extend_schema(operation_id="gaps_get", responses=GapOut, tags=["search"])
    def get(self, request: Request, gap: UUID) -> Response:
        """Return a gap."""
        return Response(GapOut(gaps.gap_get(self.actor, gap)).data)


class GapDecisionView(HubView):
    """How a gap is settled."""

    @extend_schema(operation_id="gaps_decide", request=GapDecisionIn, responses=GapOut, tags=["search"])
    def post(self, request: Request, gap: UUID) -> Response:
        """Close a gap with the solution that answers it now, or dismiss it. 409 where it is settled already."""
        found = gaps.gap_get(self.actor, gap)
        values = self.input(GapDecisionIn)
        if values["decision"] == "dismiss":
            gap_dismiss(actor=self.actor, gap=found, note=values["note"])
        elif values["solution"] is None:
            raise InvalidInput("Say which solution answers it.", fields={"solution": "Required to close."})
        else:
            solution = solution_get(self.actor, values["solution"])
            gap_close(actor=self.actor, gap=found, solution=solution, note=values["note"])
        return Response(GapOut(gaps.gap_get(self.actor, gap)).data)


def _asked(request: Request) -> Asked:
    """Return the question of the query string; a filter that there is not is said, not refused, as on the page."""
    asked = parse(request.query_params.get("q", "").strip()[:_QUERY_CHARACTERS])
    given, left_out = read_parameters(
        (name, value) for name, values in request.query_params.lists() for value in values
    )
    return Asked(asked.words, together(asked.filters, given), (*asked.notes, *left_out))


def _explained(row: Any, found: Any) -> dict[str, Any]:
    pieces = getattr(found, "matched_on", ())
    return {
        "row": row,
        "score": found.score,
        "score_parts": found.score_parts,
        "reason": found.reason,
        "matched_on": PieceOut(pieces, many=True).data,
    }


_PROJECT = "projects/<slug:team>/<slug:project>"
urlpatterns = [
    path("search/", SearchView.as_view(), name="api-search"),
    path(f"{_PROJECT}/search/", ProjectSearchView.as_view(), name="api-project-search"),
    path(f"{_PROJECT}/gaps/", GapsView.as_view(), name="api-gaps"),
    path("gaps/<uuid:gap>/", GapView.as_view(), name="api-gap"),
    path("gaps/<uuid:gap>/decision/", GapDecisionView.as_view(), name="api-gap-decision"),
]

"""How solutions, revisions, lessons and evidence look as JSON."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory_hub.access.actor import Actor
from memory_hub.access.models import User
from memory_hub.library.models import Evidence, Lesson, Link, Revision, Solution
from memory_hub.library.quality import Quality
from memory_hub.library.selectors import (
    qualities_of_lessons,
    qualities_of_revisions,
    served_revision,
    survivors,
)

from .library_input import CodeField, MetricIn


class PersonOut(serializers.Serializer):
    id = serializers.UUIDField()
    name = serializers.CharField()


class QualityOut(serializers.Serializer):
    """`score` is the lower end of the 95 % interval of the success share; null without evidence.

    Old evidence counts less (docs/decisions/0019). `last_verified`: when a check last passed; `last_used`: when it was
    last used and an outcome told. Reading and being offered change neither. `worth` is what ranking uses, 0 to 1.
    """

    score = serializers.FloatField(allow_null=True)
    share = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    reuses = serializers.IntegerField()
    reuse_successes = serializers.IntegerField()
    not_applicable = serializers.IntegerField()
    worth = serializers.FloatField()
    last_verified = serializers.DateTimeField(allow_null=True)
    last_used = serializers.DateTimeField(allow_null=True)


class RevisionOut(serializers.Serializer):
    id = serializers.UUIDField()
    solution = serializers.UUIDField(source="solution_id")
    number = serializers.IntegerField()
    status = serializers.CharField()
    verification = serializers.CharField()
    verification_detail = serializers.CharField()
    verified_in = serializers.CharField()
    verified_at = serializers.DateTimeField(allow_null=True)
    check_is_waiting = serializers.BooleanField(source="needs_verification")
    code = CodeField()
    content_hash = serializers.CharField()
    is_script = serializers.BooleanField()
    entry_point = serializers.CharField()
    signature = serializers.CharField()
    usage_example = serializers.CharField()
    check_spec = serializers.JSONField(allow_null=True)
    check_missing = serializers.CharField()
    explanation = serializers.CharField()
    depends_on = serializers.ListField(child=serializers.CharField())
    author = serializers.SerializerMethodField()
    author_run = serializers.UUIDField(source="author_run_id", allow_null=True)
    parent = serializers.UUIDField(source="parent_id", allow_null=True)  # type: ignore[assignment]
    change_note = serializers.CharField()
    created_at = serializers.DateTimeField()
    quality = serializers.SerializerMethodField()

    @extend_schema_field(PersonOut(allow_null=True))
    def get_author(self, revision: Revision) -> dict[str, Any] | None:
        return person(revision.author)

    @extend_schema_field(QualityOut)
    def get_quality(self, revision: Revision) -> dict[str, Any]:
        return quality(self.context["qualities"][revision.id])


class SolutionRowOut(serializers.Serializer):
    """A solution in a list. `status`, `verification` and `quality` are those of the revision that stands for it."""

    id = serializers.UUIDField()
    title = serializers.CharField()
    problem = serializers.CharField()
    kind = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    status = serializers.SerializerMethodField()
    verification = serializers.SerializerMethodField()
    archived = serializers.SerializerMethodField()
    approved_revision = serializers.UUIDField(source="approved_revision_id", allow_null=True)
    latest_revision = serializers.UUIDField(source="latest_revision_id")
    author = serializers.SerializerMethodField()
    run = serializers.UUIDField(source="run_id", allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    quality = serializers.SerializerMethodField()

    def get_status(self, solution: Solution) -> str:
        return served_revision(solution).status

    def get_verification(self, solution: Solution) -> str:
        return served_revision(solution).verification

    def get_archived(self, solution: Solution) -> bool:
        return solution.archived_at is not None

    @extend_schema_field(PersonOut(allow_null=True))
    def get_author(self, solution: Solution) -> dict[str, Any] | None:
        return person(solution.author)

    @extend_schema_field(QualityOut)
    def get_quality(self, solution: Solution) -> dict[str, Any]:
        return quality(self.context["qualities"][served_revision(solution).id])


class SolutionOut(SolutionRowOut):
    """A whole solution with the revision that stands for it: the approved one, or else the latest."""

    applies_when = serializers.CharField()
    edge_cases = serializers.ListField(child=serializers.CharField())
    failed_alternatives = serializers.ListField(child=serializers.DictField())
    environment = serializers.DictField()
    input_profile = serializers.DictField()
    merged_into = serializers.SerializerMethodField(help_text="The solution that stands for it now, if any.")
    revision = serializers.SerializerMethodField()

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_merged_into(self, solution: Solution) -> str | None:
        survivor = self.context["survivor"]
        return str(survivor.id) if survivor else None

    @extend_schema_field(RevisionOut)
    def get_revision(self, solution: Solution) -> dict[str, Any]:
        return dict(RevisionOut(served_revision(solution), context=self.context).data)


class ProposedOut(serializers.Serializer):
    """`deduplicated`: this program for this problem was there before, comments and formatting apart.

    Then no solution was added. `duplicate_of` is the one that stands for it: `id`, or what that was merged into.
    """

    id = serializers.UUIDField()
    revision = serializers.UUIDField()
    deduplicated = serializers.BooleanField()
    duplicate_of = serializers.UUIDField(allow_null=True)


class DiffOut(serializers.Serializer):
    old = serializers.UUIDField()
    new = serializers.UUIDField()
    diff = serializers.CharField(help_text="Unified; empty where the code is the same.")
    changed = serializers.DictField(help_text="Other fields that differ: {name: {old, new}}.")


class EvidenceOut(serializers.Serializer):
    id = serializers.UUIDField()
    revision = serializers.UUIDField(source="revision_id", allow_null=True)
    lesson = serializers.UUIDField(source="lesson_id", allow_null=True)
    kind = serializers.CharField()
    outcome = serializers.CharField()
    metric = serializers.SerializerMethodField()
    sandbox = serializers.CharField()
    run = serializers.UUIDField(source="run_id", allow_null=True)
    user = serializers.SerializerMethodField()
    detail = serializers.DictField()
    superseded = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()

    @extend_schema_field(MetricIn(allow_null=True))
    def get_metric(self, evidence: Evidence) -> dict[str, Any] | None:
        if not evidence.metric_name:
            return None
        return {
            "name": evidence.metric_name,
            "value": evidence.metric_value,
            "unit": evidence.metric_unit,
            "better": evidence.metric_better,
        }

    @extend_schema_field(PersonOut(allow_null=True))
    def get_user(self, evidence: Evidence) -> dict[str, Any] | None:
        return person(evidence.user)

    def get_superseded(self, evidence: Evidence) -> bool:
        return hasattr(evidence, "superseded_by")


class LinkOut(serializers.Serializer):
    id = serializers.UUIDField()
    kind = serializers.CharField()
    source = serializers.UUIDField(source="source_id")  # type: ignore[assignment]
    target = serializers.UUIDField(source="target_id", allow_null=True)
    target_lesson = serializers.UUIDField(source="target_lesson_id", allow_null=True)
    reason = serializers.CharField(help_text="Why, where the hub itself drew it.")
    title = serializers.SerializerMethodField()

    def get_title(self, link: Link) -> str:
        return str(link.target or link.target_lesson)


class LessonOut(serializers.Serializer):
    id = serializers.UUIDField()
    exception_type = serializers.CharField()
    message = serializers.CharField()
    failing_line = serializers.CharField()
    library_frames = serializers.ListField(child=serializers.CharField())
    failing_code = CodeField()
    fixing_code = CodeField()
    diff = CodeField()
    cause = serializers.CharField()
    applies_where = serializers.CharField()
    fingerprint = serializers.CharField()
    is_open = serializers.BooleanField()
    solution = serializers.UUIDField(source="solution_id", allow_null=True)
    run = serializers.UUIDField(source="run_id", allow_null=True)
    author = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    quality = serializers.SerializerMethodField()

    @extend_schema_field(PersonOut(allow_null=True))
    def get_author(self, lesson: Lesson) -> dict[str, Any] | None:
        return person(lesson.author)

    @extend_schema_field(QualityOut)
    def get_quality(self, lesson: Lesson) -> dict[str, Any]:
        return quality(self.context["qualities"][lesson.id])


def person(user: User | None) -> dict[str, Any] | None:
    """Return how a person is shown; None for one who was deleted."""
    return {"id": str(user.id), "name": user.name} if user else None


def quality(found: Quality) -> dict[str, Any]:
    """Return how quality is shown."""
    return dict(QualityOut(found).data)


def show_solutions(actor: Actor, rows: list[Solution]) -> list[dict[str, Any]]:
    """Return a list of solutions as JSON, with their quality read at once."""
    qualities = qualities_of_revisions(actor, [served_revision(row).id for row in rows])
    return list(SolutionRowOut(rows, many=True, context={"qualities": qualities}).data)


def show_solution(actor: Actor, row: Solution) -> dict[str, Any]:
    """Return a whole solution as JSON."""
    qualities = qualities_of_revisions(actor, [served_revision(row).id])
    survivor = survivors(actor, [row.id]).get(row.id) if row.archived_at else None
    return dict(SolutionOut(row, context={"qualities": qualities, "survivor": survivor}).data)


def show_revisions(actor: Actor, rows: list[Revision]) -> list[dict[str, Any]]:
    """Return revisions as JSON, with their quality read at once."""
    qualities = qualities_of_revisions(actor, [row.id for row in rows])
    return list(RevisionOut(rows, many=True, context={"qualities": qualities}).data)


def show_lessons(actor: Actor, rows: list[Lesson]) -> list[dict[str, Any]]:
    """Return lessons as JSON, with their quality read at once."""
    qualities = qualities_of_lessons(actor, [row.id for row in rows])
    return list(LessonOut(rows, many=True, context={"qualities": qualities}).data)

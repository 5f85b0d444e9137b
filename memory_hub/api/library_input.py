"""What requests to the library may hold: they shape and check the form; the services decide."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory_hub.library.models import Evidence, Solution


@extend_schema_field(OpenApiTypes.STR)
class CodeField(serializers.Field):
    """Text that is kept exactly: nothing is trimmed, and what cannot be kept is said by the service with its line."""

    default_error_messages = {"type": "Code is a string."}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("type")
        return str(data)

    def to_representation(self, value: str) -> str:
        return value


class FailedAlternativeIn(serializers.Serializer):
    code = CodeField(required=False, default="")
    exception_type = serializers.CharField(required=False, allow_blank=True, default="", max_length=200)
    message = serializers.CharField(required=False, allow_blank=True, default="")
    diff = CodeField(required=False, default="")


class CheckIn(serializers.Serializer):
    """One call of the entry point, and the result it must give."""

    args = serializers.ListField(required=False, help_text="Positional arguments, JSON values.")
    kwargs = serializers.DictField(required=False, help_text="Named arguments, JSON values.")
    result = serializers.JSONField(required=True, allow_null=True)


class SolutionIn(serializers.Serializer):
    """A solution to propose."""

    problem = serializers.CharField()
    code = CodeField()
    title = serializers.CharField(
        required=False, allow_blank=True, default="", help_text="Default: the first sentence of the problem."
    )
    kind = serializers.ChoiceField(choices=Solution.Kind.choices, default=Solution.Kind.OTHER)
    applies_when = serializers.CharField(required=False, allow_blank=True, default="")
    edge_cases = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    failed_alternatives = FailedAlternativeIn(many=True, required=False, default=list)
    tags = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    environment = serializers.DictField(required=False, default=dict)
    input_profile = serializers.DictField(required=False, default=dict)
    entry_point = serializers.CharField(
        required=False,
        allow_blank=True,
        allow_null=True,
        default=None,
        max_length=120,
        help_text="A top-level function of the code, or empty for a script. Default: the only one that there is.",
    )
    usage_example = serializers.CharField(required=False, allow_blank=True, default="", trim_whitespace=False)
    check_spec = serializers.JSONField(
        required=False,
        allow_null=True,
        default=None,
        help_text='{"args": [...], "kwargs": {...}, "result": ...}: what the entry point must return.',
    )
    explanation = serializers.CharField(required=False, allow_blank=True, default="")
    depends_on = serializers.ListField(
        child=serializers.CharField(max_length=120), required=False, default=list
    )


class SolutionChangeIn(serializers.Serializer):
    """What may be changed of a solution; what is left out stays."""

    title = serializers.CharField(required=False)
    problem = serializers.CharField(required=False)
    kind = serializers.ChoiceField(choices=Solution.Kind.choices, required=False)
    applies_when = serializers.CharField(required=False, allow_blank=True)
    edge_cases = serializers.ListField(child=serializers.CharField(), required=False)
    tags = serializers.ListField(child=serializers.CharField(), required=False)
    seen_at = serializers.DateTimeField(
        required=False, help_text="`updated_at` as you saw it: 409 where somebody changed the solution since."
    )


class RevisionIn(serializers.Serializer):
    """A refinement of the latest revision."""

    based_on = serializers.UUIDField(help_text="The latest revision: 409 where there is a newer one.")
    code = CodeField()
    entry_point = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=120,
        help_text="Default: that of the revision it is based on.",
    )
    change_note = serializers.CharField(required=False, allow_blank=True, default="")
    explanation = serializers.CharField(required=False, allow_blank=True, allow_null=True, default=None)
    usage_example = serializers.CharField(
        required=False, allow_blank=True, allow_null=True, default=None, trim_whitespace=False
    )
    check_spec = serializers.JSONField(
        required=False,
        allow_null=True,
        help_text="Default: the check of the revision it is based on; null: none.",
    )


class MetricIn(serializers.Serializer):
    name = serializers.CharField(max_length=60)
    value = serializers.FloatField()
    unit = serializers.CharField(max_length=20, required=False, allow_blank=True, default="")
    better = serializers.ChoiceField(choices=["higher", "lower", ""], required=False, default="")


class EvidenceIn(serializers.Serializer):
    """How a revision worked for you, outside of a recall."""

    outcome = serializers.ChoiceField(choices=Evidence.Outcome.choices)
    revision = serializers.UUIDField(required=False, help_text="Default: the one that is served.")
    metric = MetricIn(required=False, allow_null=True, default=None)
    sandbox = serializers.CharField(max_length=20, required=False, allow_blank=True, default="")
    run = serializers.UUIDField(required=False, allow_null=True, default=None)
    note = serializers.CharField(required=False, allow_blank=True, default="")


class VerifyIn(serializers.Serializer):
    revision = serializers.UUIDField(required=False, help_text="Default: the latest.")


class LessonIn(serializers.Serializer):
    """An error and its resolution; without a fix in code or words it is open."""

    exception_type = serializers.CharField(max_length=200)
    message = serializers.CharField(allow_blank=True)
    failing_code = CodeField()
    failing_line = serializers.CharField(required=False, allow_blank=True, default="")
    library_frames = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    fixing_code = CodeField(required=False, default="")
    diff = CodeField(required=False, default="")
    cause = serializers.CharField(required=False, allow_blank=True, default="")
    applies_where = serializers.CharField(required=False, allow_blank=True, default="")
    solution = serializers.UUIDField(required=False, allow_null=True, default=None)
    run = serializers.UUIDField(required=False, allow_null=True, default=None)

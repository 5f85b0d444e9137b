"""How runs, steps, events and connections look as JSON. No secret is among them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory_hub.access.actor import Actor
from memory_hub.common.text import first_sentence
from memory_hub.runs import selectors
from memory_hub.runs.models import Connection, Run, RunEvent, Step

from .library_input import CodeField
from .library_output import PersonOut


class NamedOut(serializers.Serializer):
    id = serializers.UUIDField()
    name = serializers.CharField()


class RunRowOut(serializers.Serializer):
    """A run in a list."""

    id = serializers.UUIDField()
    title = serializers.SerializerMethodField()
    state = serializers.ChoiceField(choices=Run.State.choices)
    origin = serializers.ChoiceField(choices=Run.Origin.choices)
    starter = PersonOut()
    connection = NamedOut(allow_null=True)
    model = serializers.CharField(source="model_label")
    sandbox = serializers.CharField(help_text="What was asked for.")
    sandbox_used = serializers.CharField(help_text="What it ran in; empty until that is known.")
    memory_on = serializers.BooleanField()
    step_count = serializers.IntegerField()
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    seconds = serializers.FloatField(allow_null=True)
    settled = serializers.BooleanField(
        source="is_settled", help_text="Nothing more will be added to its log."
    )

    def get_title(self, run: Run) -> str:
        return first_sentence(run.task)


class InputOut(serializers.Serializer):
    name = serializers.CharField()
    size = serializers.IntegerField()
    sha256 = serializers.CharField()
    profile = serializers.JSONField()


class RunOut(RunRowOut):
    """A run with all that is known of it but its steps."""

    task = CodeField()
    max_steps = serializers.IntegerField()
    time_limit_seconds = serializers.IntegerField()
    cancel_requested_at = serializers.DateTimeField(allow_null=True)
    capture = serializers.ChoiceField(choices=Run.Capture.choices)
    answer = CodeField()
    reason = serializers.CharField(help_text="Why it failed, was cancelled or lost.")
    final_call = serializers.JSONField(allow_null=True)
    metrics = serializers.JSONField()
    environment = serializers.JSONField()
    memory_use = serializers.JSONField()
    last_sequence = serializers.IntegerField()
    inputs = serializers.SerializerMethodField()
    recalled = serializers.SerializerMethodField()
    captured = serializers.SerializerMethodField()

    @extend_schema_field(InputOut(many=True))
    def get_inputs(self, run: Run) -> Any:
        return InputOut(selectors.inputs(self.context["actor"], run), many=True).data

    @extend_schema_field(serializers.JSONField(allow_null=True, help_text="What memory offered."))
    def get_recalled(self, run: Run) -> Any:
        return self._moment(run, RunEvent.Kind.RECALLED)

    @extend_schema_field(
        serializers.JSONField(allow_null=True, help_text="The solutions and lessons it left.")
    )
    def get_captured(self, run: Run) -> Any:
        return self._moment(run, RunEvent.Kind.CAPTURED)

    def _moment(self, run: Run, kind: RunEvent.Kind) -> Any:
        event = self.context["moments"].get(kind)
        return event.data if event else None


class StepErrorOut(serializers.Serializer):
    kind = serializers.CharField(source="error_kind")
    type = serializers.CharField(source="error_type")
    message = CodeField(source="error_message")
    line = CodeField(source="error_line")
    line_number = serializers.IntegerField(source="error_line_number", allow_null=True)
    traceback = CodeField()


class StepOut(serializers.Serializer):
    number = serializers.IntegerField()
    thought = CodeField()
    code = CodeField()
    observations = CodeField()
    value = CodeField(help_text="The value of its last line.")
    error = serializers.SerializerMethodField()
    hint = CodeField(help_text="What memory said about the error.")
    is_final = serializers.BooleanField()
    seconds = serializers.FloatField()
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    created_at = serializers.DateTimeField()

    @extend_schema_field(StepErrorOut(allow_null=True))
    def get_error(self, step: Step) -> Any:
        return StepErrorOut(step).data if step.error_type else None


class EventOut(serializers.Serializer):
    """One entry of a run's log."""

    sequence = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=RunEvent.Kind.choices)
    at = serializers.DateTimeField(source="created_at")
    data = serializers.JSONField()  # type: ignore[assignment]
    step = StepOut(allow_null=True)


class ConnectionOut(serializers.Serializer):
    id = serializers.UUIDField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=Connection.Kind.choices)
    base_url = serializers.CharField()
    model_id = serializers.CharField()
    model = serializers.CharField(source="model_label")
    has_secret = serializers.SerializerMethodField()
    options = serializers.JSONField()
    created_by = PersonOut(allow_null=True)
    created_at = serializers.DateTimeField()

    def get_has_secret(self, connection: Connection) -> bool:
        return bool(connection.encrypted_secret)


def show_run(actor: Actor, run: Run) -> Any:
    """Return a run as JSON."""
    return RunOut(run, context={"actor": actor, "moments": selectors.moments(actor, run)}).data

"""What requests about runs and connections may hold: they shape and check the form; the services decide."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory_hub.common.errors import InvalidInput
from memory_hub.runs.models import Connection
from memory_hub.runs.services import RecordedRun, StepData, UploadedInput
from memory_hub.runs.services.runs import SANDBOXES

from .library_input import CodeField

_KINDS = ("execution", "parsing", "check", "limit", "other")


def _default_sandbox() -> str:
    return settings.SANDBOX_DEFAULT


class InputIn(serializers.Serializer):
    """A file for a run, for bodies in JSON; larger ones are sent as multipart/form-data."""

    name = CodeField(help_text="Its name under /inputs.")
    content_base64 = CodeField()


class RunIn(serializers.Serializer):
    """A run to start."""

    task = CodeField(help_text="What the agent shall do, in words.")
    connection = serializers.CharField(help_text="Id or name of a model connection of the project.")
    sandbox = serializers.ChoiceField(choices=SANDBOXES, default=_default_sandbox)
    memory_on = serializers.BooleanField(default=True)
    max_steps = serializers.IntegerField(default=8)
    time_limit_seconds = serializers.IntegerField(default=300)
    inputs = InputIn(many=True, required=False, default=list)


@extend_schema_field(OpenApiTypes.BINARY)
class FileField(serializers.FileField):
    """A file part."""


class RunFormIn(RunIn):
    """The same as multipart/form-data, with any number of file parts named `inputs`."""

    inputs = serializers.ListField(child=FileField(), required=False)  # type: ignore[assignment]


def uploads_of(inputs: list[dict[str, str]]) -> list[UploadedInput]:
    """Return the files of a JSON body. Raises InvalidInput for what is no base64."""
    return [UploadedInput(item["name"], _decoded(item)) for item in inputs]


def uploads_of_form(files: list[UploadedFile]) -> list[UploadedInput]:
    """Return the files of a form, as they lie on disk."""
    return [UploadedInput(file.name or "", file.file) for file in files if file.file is not None]


def _decoded(item: dict[str, str]) -> bytes:
    try:
        return base64.b64decode(item["content_base64"], validate=True)
    except (binascii.Error, ValueError):
        message = f"The content of “{item['name']}” is not base64."
        raise InvalidInput(message, fields={"inputs": message}) from None


class ErrorIn(serializers.Serializer):
    """What went wrong in a step, or in the whole run."""

    type = CodeField(required=False, default="")
    message = CodeField(required=False, default="")
    line = CodeField(required=False, default="")
    line_number = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=0)
    traceback = CodeField(required=False, default="")
    kind = serializers.ChoiceField(choices=_KINDS, default="execution")


class StepIn(serializers.Serializer):
    """One step as the agent took it."""

    number = serializers.IntegerField(required=False, default=0)
    thought = CodeField(required=False, allow_null=True, default="")
    code = CodeField(required=False, allow_null=True, default="", help_text="Exactly what ran.")
    observations = CodeField(required=False, allow_null=True, default="")
    error = ErrorIn(required=False, allow_null=True, default=None)
    seconds = serializers.FloatField(required=False, allow_null=True, default=None, min_value=0)
    input_tokens = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=0)
    output_tokens = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=0)
    is_final = serializers.BooleanField(default=False)


class RecordedMetricIn(serializers.Serializer):
    """A number that says how well the run did."""

    name = serializers.CharField(max_length=120)
    value = serializers.FloatField()
    unit = serializers.CharField(required=False, allow_blank=True, default="", max_length=40)
    higher_is_better = serializers.BooleanField(required=False, allow_null=True, default=None)


class RunRecordIn(serializers.Serializer):
    """A run that happened elsewhere, as memory-hub-client sends it."""

    task = CodeField()
    outcome = serializers.ChoiceField(choices=["succeeded", "failed", "cancelled", "max_steps", "exception"])
    steps = StepIn(many=True)
    answer = serializers.JSONField(required=False, allow_null=True, default=None)
    answer_is_repr = serializers.BooleanField(default=False)
    error = ErrorIn(required=False, allow_null=True, default=None)
    final_call = serializers.DictField(required=False, allow_null=True, default=None)
    environment = serializers.DictField(required=False, default=dict)
    recall_id = serializers.CharField(required=False, allow_null=True, default=None, max_length=64)
    offered_revision_ids = serializers.ListField(child=serializers.CharField(max_length=64), default=list)
    defined_revision_ids = serializers.ListField(child=serializers.CharField(max_length=64), default=list)
    used_revision_ids = serializers.ListField(child=serializers.CharField(max_length=64), default=list)
    lesson_ids = serializers.ListField(child=serializers.CharField(max_length=64), default=list)
    metrics = RecordedMetricIn(many=True, required=False, default=list)
    reported_success = serializers.BooleanField(required=False, allow_null=True, default=None)
    seconds = serializers.FloatField(required=False, allow_null=True, default=0.0, min_value=0)
    input_tokens = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=0)
    output_tokens = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=0)
    started_at = serializers.DateTimeField(required=False, allow_null=True, default=None)
    agent_name = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, default="", max_length=200
    )


def recorded_run(values: Mapping[str, Any]) -> RecordedRun:
    """Return what run_record takes from the validated body."""
    values = dict(values)
    error = values.pop("error") or {}
    return RecordedRun(
        **{
            **values,
            "steps": [_step(step) for step in values["steps"]],
            "metrics": [dict(metric) for metric in values["metrics"]],
            "error_type": error.get("type", ""),
            "error_message": error.get("message", ""),
            "seconds": values["seconds"] or 0.0,
            "agent_name": values["agent_name"] or "",
        }
    )


def _step(step: Mapping[str, Any]) -> StepData:
    error = step["error"]
    return StepData(
        number=step["number"],
        thought=step["thought"] or "",
        code=step["code"] or "",
        observations=step["observations"] or "",
        error_kind=error["kind"] if error else "",
        error_type=error["type"] if error else "",
        error_message=error["message"] if error else "",
        error_line=error["line"] if error else "",
        error_line_number=error["line_number"] if error else None,
        traceback=error["traceback"] if error else "",
        is_final=step["is_final"],
        seconds=step["seconds"] or 0.0,
        input_tokens=step["input_tokens"] or 0,
        output_tokens=step["output_tokens"] or 0,
    )


class ConnectionIn(serializers.Serializer):
    """A model connection to add."""

    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=Connection.Kind.choices, default=Connection.Kind.OPENAI)
    base_url = serializers.CharField(
        required=False, allow_blank=True, default="", help_text="Default: OpenAI itself."
    )
    model_id = serializers.CharField(required=False, allow_blank=True, default="")
    secret = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        write_only=True,
        help_text="Stored encrypted, never shown again.",
    )
    options = serializers.DictField(
        required=False, default=dict,
        help_text="temperature, max_tokens, timeout_seconds, flatten_messages; pause_seconds of a rehearsal.",
    )  # fmt: skip


class ConnectionChangeIn(serializers.Serializer):
    """What may be changed of a connection; what is left out stays. An empty secret removes the stored one."""

    name = serializers.CharField(required=False)
    base_url = serializers.CharField(required=False, allow_blank=True)
    model_id = serializers.CharField(required=False, allow_blank=True)
    secret = serializers.CharField(required=False, allow_blank=True, write_only=True)
    options = serializers.DictField(required=False)

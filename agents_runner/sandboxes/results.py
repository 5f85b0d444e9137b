"""Turns what came out of a sandbox into records. It is hostile data: every field is checked, cut and typed here."""

from __future__ import annotations

import json
from typing import Any, Literal, cast

from agents_runner.sandboxes.errors import CodeRaised, StepFailed, StepInterrupted, StepKilled, StepTimedOut
from agents_runner.sandboxes.inside import codec
from agents_runner.sandboxes.records import (
    ERROR_KINDS,
    MESSAGE_CHARACTERS,
    NAME_CHARACTERS,
    RECORDED_BYTES,
    TRACEBACK_CHARACTERS,
    ErrorKind,
    JsonValue,
    RecordedCall,
    StepError,
    StepRecord,
)
from agents_runner.sandboxes.session import Outcome

MESSAGES: dict[str, str] = {
    "timeout": "The step was stopped because it took too long.",
    "cpu": "The step was stopped because it used too much processor time.",
    "interrupted": "The step was interrupted: the run was cancelled.",
    "died": "The Python process ended.",
    "protocol": "The code disturbed the sandbox's own communication.",
}
REASONS = 500
NAMES_AT_MOST = 200


def text(given: Any, length: int) -> str:
    """A string without NUL and lone surrogates, so that it can be stored anywhere; "" for anything else."""
    if not isinstance(given, str):
        return ""
    value: str = given[:length].replace("\0", "\N{SYMBOL FOR NULL}")
    return value.encode("utf-8", "replace").decode("utf-8")


def names(value: Any) -> list[str]:
    """A list of Python names; whatever else is in it is left out."""
    if not isinstance(value, list):
        return []
    found = (text(item, NAME_CHARACTERS) for item in value[:NAMES_AT_MOST])
    return [name for name in found if name.isidentifier()]


def step_error(outcome: Outcome) -> StepError | None:
    """Why the request failed, or None when it did not."""
    inside = outcome.data.get("error")
    if outcome.kind == "done" and inside is None:
        return None
    error = inside if isinstance(inside, dict) else {}
    line = error.get("line")
    line = line if type(line) is int and 0 < line < 10_000_000 else None
    place: dict[str, Any] = {
        "traceback": text(error.get("traceback"), TRACEBACK_CHARACTERS),
        "line": line,
        "source_line": text(error.get("source_line"), 1000) if line else "",
        "source_name": text(error.get("source_name"), NAME_CHARACTERS) if line else "",
        "state_lost": outcome.state_lost,
    }
    if outcome.kind == "done":
        kind = text(error.get("type"), NAME_CHARACTERS) or "Exception"
        return StepError(
            kind="exception",
            message=text(error.get("message"), MESSAGE_CHARACTERS),
            exception_type=kind,
            **place,
        )
    assert outcome.kind in ERROR_KINDS
    message = text(outcome.detail, MESSAGE_CHARACTERS) or MESSAGES.get(outcome.kind, "The step was stopped.")
    return StepError(kind=cast("ErrorKind", outcome.kind), message=message, **place)


def failure(error: StepError) -> StepFailed:
    """The exception for an error record."""
    if error.kind == "exception":
        return CodeRaised(error)
    if error.kind == "interrupted":
        return StepInterrupted(error)
    if error.kind in ("timeout", "cpu"):
        return StepTimedOut(error)
    return StepKilled(error)


def recorded_call(data: Any) -> RecordedCall | None:
    """The recorded final call, when there is one that makes sense."""
    if not isinstance(data, dict):
        return None
    entry_point = text(data.get("entry_point"), NAME_CHARACTERS)
    if not entry_point.isidentifier():
        return None
    origin: Literal["step", "memory"] = "memory" if data.get("defined_in") == "memory" else "step"
    args, kwargs = data.get("args"), data.get("kwargs")
    reason = text(data.get("reason"), REASONS)
    if data.get("replayable") is True and isinstance(args, list) and isinstance(kwargs, dict):
        reason = unfit(args, kwargs, data.get("result"))
        if not reason:
            return RecordedCall(entry_point, True, args, kwargs, data.get("result"), "", origin)
    return RecordedCall(entry_point, False, reason=reason or "it was not recorded", defined_in=origin)


def unfit(args: JsonValue, kwargs: JsonValue, result: JsonValue) -> str:
    """Why these cannot be stored and replayed, or ""."""
    for what, value in (("the arguments", [args, kwargs]), ("the result", result)):
        try:
            if len(json.dumps(value)) > RECORDED_BYTES:
                return f"{what}: larger than {RECORDED_BYTES} bytes"
        except (ValueError, RecursionError):
            return f"{what}: cannot be stored"
    return ""


def step_record(number: int, outcome: Outcome) -> StepRecord:
    """Everything that is known about a step."""
    error = step_error(outcome)
    final = error is None and outcome.data.get("final") is True
    return StepRecord(
        number=number,
        seconds=outcome.seconds,
        tool_seconds=outcome.tool_seconds,
        tool_calls=outcome.tool_calls,
        logs=text(outcome.output, len(outcome.output)),
        logs_dropped=outcome.dropped,
        value=outcome.data.get("value") if error is None else None,
        is_final_answer=final,
        error=error,
        final_call=recorded_call(outcome.data.get("final_call")) if final else None,
        memory_functions=tuple(names(outcome.data.get("memory_functions"))),
    )


def decoded(value: JsonValue) -> Any:
    """The Python value of what came out; text that says so when it is malformed."""
    try:
        return codec.decode(value)
    except codec.CodecError as error:
        return f"<a value that could not be read: {error}>"

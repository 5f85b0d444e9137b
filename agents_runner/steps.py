"""What the runs room is told of a step: from smolagents' object and the sandbox's record to plain texts."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from smolagents import ActionStep

from agents_runner.distill import from_sandbox
from agents_runner.sandboxes.records import StepRecord
from memory_hub.runs.services import StepData
from memory_hub_client.harvest import record_step
from memory_hub_client.types import RecordedError

_REPR_CHARACTERS = 100_000


def step_data(
    step: ActionStep, ran: StepRecord | None, *, number: int, hint: str, opening_tag: str
) -> StepData:
    """Return the step as it is shown. `ran` is None where no code ran."""
    taken = record_step(step, None, opening_tag)
    shows_value = ran is not None and ran.value is not None and not ran.is_final_answer
    return StepData(
        number=number,
        thought=taken.thought,
        code=taken.code or "",
        observations=ran.logs if ran else "",
        value=as_text(ran.value) if ran and shows_value else "",
        **_error_fields(ran, taken.error),
        hint=hint,
        is_final=taken.is_final,
        seconds=taken.seconds or 0.0,
        input_tokens=taken.input_tokens or 0,
        output_tokens=taken.output_tokens or 0,
    )


def without(secrets: tuple[str, ...], step: StepData) -> StepData:
    """Return the step with none of the secrets in its texts."""
    values: dict[str, Any] = asdict(step)
    texts = {name: hidden(value, secrets) for name, value in values.items() if isinstance(value, str)}
    return StepData(**{**values, **texts})


def hidden(text: str, secrets: tuple[str, ...]) -> str:
    """Return the text with a mark in the place of each secret."""
    for secret in secrets:
        text = text.replace(secret, "[masked: key of the connection]")
    return text


def final_call_of(last: StepRecord) -> dict[str, Any] | None:
    """Return the call that made the answer as JSON, or None where no function did."""
    return None if last.final_call is None else asdict(last.final_call)


def as_text(value: Any) -> str:
    """Return a string as it is; anything else as JSON where it is JSON, else as Python shows it."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        try:
            return repr(value)[:_REPR_CHARACTERS]
        except Exception:  # noqa: BLE001 - whatever was nested or named so that it cannot be shown
            return f"<a {type(value).__name__} that cannot be shown>"


def _error_fields(ran: StepRecord | None, error: RecordedError | None) -> dict[str, Any]:
    """The error of a step, from the sandbox where code ran, else as smolagents tells it (no code block, say)."""
    if ran is not None and ran.error is not None:
        told = from_sandbox(ran.error)
        return {
            "error_kind": told.kind,
            "error_type": told.type,
            "error_message": told.message,
            "error_line": told.line,
            "error_line_number": told.line_number,
            "traceback": told.traceback,
        }
    if error is not None:
        return {
            "error_kind": error.kind,
            "error_type": error.type,
            "error_message": error.message,
            "error_line": error.line,
        }
    return {}

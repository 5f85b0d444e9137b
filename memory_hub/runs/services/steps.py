"""What a run shows while it works: steps, hints, and other entries of its log. Once written, never lost."""

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID

from memory_hub.access.actor import as_system
from memory_hub.common.errors import Conflict, NotFound
from memory_hub.common.text import storable
from memory_hub.runs.masking import mask
from memory_hub.runs.models import Run, RunEvent, Step
from memory_hub.runs.values import StepData

from .log import append, known_secrets, lock_held_run, lock_run

# Far above what a step needs; a program that prints without end must not fill the disk of the hub.
MAX_TEXT_CHARACTERS = 100_000
_TEXTS = (
    "thought", "code", "observations", "value", "error_type", "error_message", "error_line", "traceback", "hint",
)  # fmt: skip
# What a terminal would turn into colours and titles; on a page it is only noise.
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_PRINTED = ("observations", "value", "error_message", "traceback")


def step_append(*, run: Run, holder: str, step: StepData) -> Step:
    """Write a step the moment it ends, with its entry in the log, and wake those who watch.

    Secrets are masked, among them the run's own model key; text over MAX_TEXT_CHARACTERS loses its middle. A step
    whose number is there already is returned as it is. Raises LeaseLost where the run was ended meanwhile.
    """
    with as_system():
        locked = lock_held_run(run.id, holder)
        known = (
            Step.objects.filter(run=locked, number=step.number).first()
            if step.number <= locked.step_count
            else None
        )
        if known is not None:
            return known
        row = Step.objects.create(
            team_id=locked.team_id,
            project_id=locked.project_id,
            run=locked,
            **step_values(step, known_secrets(locked)),
        )
        append(locked, RunEvent.Kind.STEP, {"number": row.number}, step=row, changed=_count(locked, row))
        return row


def step_set_hint(*, step: Step, hint: str) -> Step:
    """Note what memory said about the error of a step that is shown already."""
    with as_system():
        locked = _open_run(step.run_id)
        step.hint = mask(clipped(storable(hint)))[0]
        step.save(update_fields=["hint"])
        append(locked, RunEvent.Kind.HINT, {"number": step.number}, step=step)
        return step


def event_append(
    *, run: Run, kind: RunEvent.Kind, data: Mapping[str, Any], step: Step | None = None
) -> RunEvent:
    """Add another entry to the log (what was recalled); `data` is JSON, its strings are masked.

    For RECALLED: {recall, no_match, items: [{solution, revision, title, rank, score, reason, status, verification,
    entry_point}]}, which the run page shows as it is. Raises NotFound where the run is gone, Conflict once it is settled.
    """
    with as_system():
        return append(_open_run(run.id), kind, data, step=step)


def step_values(step: StepData, secrets: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the columns of a step: what PostgreSQL can store, clipped, masked."""
    values = asdict(step)
    for name in _PRINTED:
        values[name] = _TERMINAL.sub("", values[name])
    for name in _TEXTS:
        values[name] = mask(clipped(storable(values[name])), secrets)[0]
    values["error_type"] = values["error_type"][:200]
    values["error_kind"] = values["error_kind"][:12]
    return values


def clipped(text: str, limit: int = MAX_TEXT_CHARACTERS) -> str:
    """Return the text, or its beginning and end with a word on how much is left out between them."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"


def _open_run(run_id: UUID) -> Run:
    """Return the run, locked. Raises NotFound, or Conflict once it is settled: who watched it has been told the end."""
    run = lock_run(run_id)
    if run is None:
        raise NotFound
    if run.is_settled:
        raise Conflict("Nothing more is added to the log of this run.", code="run_settled")
    return run


def _count(run: Run, step: Step) -> list[str]:
    """Add the step to what the run counts; return the fields to be saved."""
    run.step_count += 1
    run.input_tokens += step.input_tokens
    run.output_tokens += step.output_tokens
    return ["step_count", "input_tokens", "output_tokens"]

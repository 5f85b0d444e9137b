"""What the services of this room take in and give back: plain values, no rows of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class UploadedInput:
    """A file for a run: the name it gets under /inputs, and its bytes or an open binary file."""

    name: str
    content: bytes | IO[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepData:
    """One step as it was taken. `value` is the value of its last line as text; seconds is wall time.

    `error_kind` is execution (the code raised), parsing (the reply held no code), check, limit or other; empty
    where nothing failed.
    """

    number: int
    thought: str = ""
    code: str = ""
    observations: str = ""
    value: str = ""
    error_kind: str = ""
    error_type: str = ""
    error_message: str = ""
    error_line: str = ""
    error_line_number: int | None = None
    traceback: str = ""
    hint: str = ""
    is_final: bool = False
    seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """How a run ended. `state` is a Run.State; `final_call` and `metrics` as on Run; ids are ids of revisions.

    Tokens are those of the whole run where they are known (planning counts too); None adds up those of its steps.
    """

    state: str
    answer: str = ""
    reason: str = ""
    final_call: Mapping[str, Any] | None = None
    metrics: Sequence[Mapping[str, Any]] = ()
    environment: Mapping[str, Any] | None = None
    recall_id: str | None = None
    offered_revision_ids: Sequence[str] = ()
    defined_revision_ids: Sequence[str] = ()
    used_revision_ids: Sequence[str] = ()
    lesson_ids: Sequence[str] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class RunSignal:
    """What the engine must know each time it renews its lease."""

    cancel_requested: bool
    lease_lost: bool
    right_lost: bool = False


@dataclass(frozen=True, slots=True)
class Captured:
    """A solution or a lesson that a run left behind, and what its link says."""

    id: UUID
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """A run that happened elsewhere, as the client sends it. outcome: succeeded, failed, cancelled, max_steps, exception."""

    task: str
    outcome: str
    steps: Sequence[StepData] = ()
    answer: Any = None
    answer_is_repr: bool = False
    # Of the run itself, where an exception left it.
    error_type: str = ""
    error_message: str = ""
    final_call: Mapping[str, Any] | None = None
    environment: Mapping[str, Any] = field(default_factory=dict)
    recall_id: str | None = None
    offered_revision_ids: Sequence[str] = ()
    defined_revision_ids: Sequence[str] = ()
    used_revision_ids: Sequence[str] = ()
    lesson_ids: Sequence[str] = ()
    metrics: Sequence[Mapping[str, Any]] = ()
    reported_success: bool | None = None
    seconds: float = 0.0
    input_tokens: int | None = None
    output_tokens: int | None = None
    started_at: datetime | None = None
    agent_name: str = ""

"""What is known about a step after it ran. Everything that came from inside is untrusted and checked here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

# Plain JSON data: None, bool, int, float, str, list, dict with str keys.
JsonValue = Any

ErrorKind = Literal[
    "exception", "timeout", "cpu", "interrupted", "memory", "disk", "processes", "died", "protocol"
]
ERROR_KINDS: frozenset[str] = frozenset(
    ("exception", "timeout", "cpu", "interrupted", "memory", "disk", "processes", "died", "protocol")
)

MESSAGE_CHARACTERS = 8_000
TRACEBACK_CHARACTERS = 32_000
NAME_CHARACTERS = 200
RECORDED_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class StepError:
    """Why a step failed.

    kind:           "exception" for what the code raised, else the limit or event that ended the step.
    exception_type: "ValueError", "pandas.errors.ParserError"; "" unless the code raised something.
    message:        the exception's own text (at most 8,000 characters), or what happened.
    traceback:      as Python prints it, the sandbox's own frames left out, paths as seen inside
                    (at most 32,000 characters); "" when there is none.
    line:           line number (from 1) in the submitted code of the innermost frame that is agent code, or None.
    source_line:    the text of that line, stripped.
    source_name:    "<step 3>" or "<memory: clean>": which submitted code `line` refers to.
    state_lost:     True when the variables and files of earlier steps are gone.
    """

    kind: ErrorKind
    message: str
    exception_type: str = ""
    traceback: str = ""
    line: int | None = None
    source_line: str = ""
    source_name: str = ""
    state_lost: bool = False

    @property
    def text(self) -> str:
        """The error in a few lines, as shown to the agent."""
        parts = [": ".join(part for part in (self.exception_type, self.message) if part)]
        if self.line is not None:
            parts.append(f"  at line {self.line} of {self.source_name or 'the code'}: {self.source_line}")
        if self.state_lost:
            parts.append(
                "The variables, imports and files of earlier steps are gone; "
                "define again what you need. Tools and input files are still there."
            )
        return "\n".join(parts)


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """The call of a top-level function whose return value became the final answer.

    args, kwargs and result are wire values: plain JSON, where types that JSON lacks are {"$": tag, ...} objects
    (see inside/codec.py). They can be stored as JSON and given to `SandboxExecutor.call` as they are.
    They are None unless `replayable`; then `reason` is "". defined_in: "step" or "memory" (by `define`).
    """

    entry_point: str
    replayable: bool
    args: list[JsonValue] | None = None
    kwargs: dict[str, JsonValue] | None = None
    result: JsonValue = None
    reason: str = ""
    defined_in: Literal["step", "memory"] = "step"


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One executed step.

    seconds:          wall time (seconds) as measured on the host, tools included.
    tool_seconds:     of these, time spent in host tools.
    logs:             what the code printed (stdout and stderr in order), also when it failed.
    logs_dropped:     bytes of output that were dropped.
    value:            wire value of the final answer or of the last expression (None on error).
    memory_functions: names of functions defined by `define` that the code of this step mentions.
    """

    number: int
    seconds: float
    tool_seconds: float
    tool_calls: int
    logs: str
    logs_dropped: int
    value: JsonValue
    is_final_answer: bool
    error: StepError | None
    final_call: RecordedCall | None
    memory_functions: tuple[str, ...]

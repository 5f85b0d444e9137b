"""What the distiller is given: one run, as plain data.

The engine fills these from step objects as they are shown, never from a model or an ORM row, so that a run
that was cancelled or lost can be distilled from whatever steps exist. Secrets are masked by the caller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Outcome = Literal["succeeded", "failed", "cancelled", "lost"]

# execution: the code raised. parsing: the reply held no code block (says something of the model, not of Python).
# check: a final-answer check refused. limit: out of steps or time. other: anything else the agent reported.
ErrorKind = Literal["execution", "parsing", "check", "limit", "other"]


@dataclass(frozen=True, slots=True)
class StepError:
    """One failure of one step.

    ``type`` is the Python exception class ("ValueError"), ``""`` when it is unknown. ``line`` is the source text
    that failed and ``line_number`` its 1-based line within the step's code. ``traceback`` is plain text.
    Build it from structured fields when the sandbox reports them, else with ``errors.parse_error(text)``.
    """

    type: str
    message: str
    line: str = ""
    line_number: int | None = None
    traceback: str = ""
    kind: ErrorKind = "execution"


@dataclass(frozen=True, slots=True)
class StepData:
    """One step as it was shown: ``code`` is exactly what ran, ``""`` when the reply held none."""

    number: int
    code: str
    thought: str = ""
    observations: str = ""
    error: StepError | None = None
    is_final: bool = False

    @property
    def worked(self) -> bool:
        """Code ran to its end without an error."""
        return bool(self.code.strip()) and self.error is None


@dataclass(frozen=True, slots=True)
class FinalCall:
    """The call that produced the final answer, as the sandbox recorded it.

    ``args``, ``kwargs`` and ``result`` are JSON values and only meaningful when ``replayable`` (else may be None);
    ``reason`` says in words why a call cannot be replayed.
    """

    entry_point: str
    args: Sequence[Any] | None = ()
    kwargs: Mapping[str, Any] | None = field(default_factory=dict)
    result: Any = None
    replayable: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RecalledFunction:
    """A function from memory that was already defined in the session before the first step."""

    name: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A whole run: the user's own task text (without the memory block), its steps in order, and how it ended."""

    task: str
    steps: Sequence[StepData]
    outcome: Outcome = "succeeded"
    answer: Any = None
    final_call: FinalCall | None = None
    recalled: Sequence[RecalledFunction] = ()
    # e.g. {"python": "3.11.7", "sandbox": "landlock", "pandas": "3.1.1"}: versions of packages by import name
    environment: Mapping[str, str] = field(default_factory=dict)
    # one JSON object per input file, from ``input_profile.profile_file(path).as_dict()``
    input_profile: Sequence[Mapping[str, Any]] = ()

"""What the distiller returns: drafts that the caller stores (or not) with its own services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

DraftKind = Literal["function", "script"]


@dataclass(frozen=True, slots=True)
class FailedAlternative:
    """Code that did not work, why, and a unified diff from it to the code that did (``""`` if nothing did)."""

    code: str
    exception_type: str
    message: str
    diff: str
    step: int


@dataclass(frozen=True, slots=True)
class SolutionDraft:
    """A candidate solution.

    ``code`` is made of pieces of the submitted source, byte for byte. For kind ``function`` it is the entry point
    and everything at top level that it needs; for ``script`` all successful steps in order.
    ``check`` is ``{"args": [...], "kwargs": {...}, "result": ...}``, or None with ``check_reason`` saying why.
    ``complete`` is False when the run ended before a final answer. ``reused_only``: the answer came from a
    recalled function as it was, so there is evidence to record and no new solution to store; then
    ``entry_point`` names the recalled function and ``code`` is empty.
    ``depends_on`` names recalled functions that the code calls and does not define.
    """

    title: str
    problem: str
    kind: DraftKind
    code: str
    entry_point: str | None
    signature: str
    usage_example: str
    check: Mapping[str, Any] | None
    check_reason: str
    failed_alternatives: Sequence[FailedAlternative]
    environment: Mapping[str, str]
    input_profile: Sequence[Mapping[str, Any]]
    tags: Sequence[str]
    imports: Sequence[str]
    depends_on: Sequence[str]
    explanation: str
    complete: bool
    reused_only: bool


@dataclass(frozen=True, slots=True)
class LessonDraft:
    """Error → resolution. ``open`` is True while nothing resolved it; then ``fixing_code`` and ``diff`` are empty.

    ``cause`` quotes the agent's own words before the fix, or is empty: nothing is made up.
    ``library_frames`` are ``package/path.py:line in function``, outermost first, without machine paths.
    """

    exception_type: str
    message: str
    failing_source_line: str
    library_frames: Sequence[str]
    failing_code: str
    fixing_code: str
    diff: str
    cause: str
    where_it_applies: str
    open: bool
    step: int


@dataclass(frozen=True, slots=True)
class Distillate:
    """Everything one run leaves behind. ``solution`` is None when no step's code worked."""

    solution: SolutionDraft | None
    lessons: Sequence[LessonDraft]

"""What the services of the library take in and give back: plain values, no rows of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from .models import Lesson, Revision, Solution


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSolution:
    """A solution to be proposed, with its first revision.

    `code` is stored byte for byte. `entry_point` names a top-level function of it, or is empty for a script.
    `signature` may be empty: it is then read from the code. `check_spec` is {"args": [...], "kwargs": {...},
    "result": ...} in JSON values, or None with `check_missing` saying why. `failed_alternatives` are
    {code, exception_type, message, diff}, oldest first. `input_profile` is {file name: profile}.
    """

    title: str
    problem: str
    code: str
    kind: str = Solution.Kind.OTHER
    applies_when: str = ""
    edge_cases: Sequence[str] = ()
    failed_alternatives: Sequence[Mapping[str, Any]] = ()
    tags: Sequence[str] = ()
    environment: Mapping[str, Any] = field(default_factory=dict)
    input_profile: Mapping[str, Any] = field(default_factory=dict)
    entry_point: str = ""
    signature: str = ""
    usage_example: str = ""
    check_spec: Mapping[str, Any] | None = None
    check_missing: str = ""
    explanation: str = ""
    depends_on: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLesson:
    """An error and, unless `is_open`, its resolution. `fingerprint` is computed where it is empty."""

    exception_type: str
    message: str
    failing_code: str
    failing_line: str = ""
    library_frames: Sequence[str] = ()
    fixing_code: str = ""
    diff: str = ""
    cause: str = ""
    applies_where: str = ""
    is_open: bool = False
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class CheckFile:
    """A file that a check reads as /inputs/<name>: where it is now, and what it must hold."""

    name: str
    source: Path
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that says how well something did; `better` is "higher", "lower" or "" (only to be shown)."""

    name: str
    value: float
    unit: str = ""
    better: str = ""


@dataclass(frozen=True, slots=True)
class Proposed:
    """What came of a proposal. Where `deduplicated`, both rows were there before and no solution was added.

    `duplicate_of` is then the solution that stands for it: itself, or the one that it was merged into since.
    """

    solution: Solution
    revision: Revision
    deduplicated: bool
    duplicate_of: UUID | None = None


@dataclass(frozen=True, slots=True)
class RecordedLesson:
    """What came of a lesson. Where `deduplicated`, the project knew this error with this code already."""

    lesson: Lesson
    deduplicated: bool

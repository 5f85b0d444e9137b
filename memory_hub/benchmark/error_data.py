"""Bugs with the errors they end in: what is stored as a lesson, and the same bug in somebody else's program."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_hub.recall.lesson_features import ErrorParts

from .renaming import new_names, renamed, renamed_message

_OWN_FRAME = re.compile(r'File "[^"]*solution\.py", line (\d+)')
_SYNTAX = frozenset(["SyntaxError", "IndentationError", "TabError"])
# Ends without a traceback: no error that anybody could look up.
_NO_ERROR = frozenset(["Timeout", "Killed"])


@dataclass(frozen=True, slots=True)
class Bug:
    """A bug: its first error as it is stored, and another one of the same bug where all local names differ.

    `task` is the problem that the program was to solve: several bugs may be of one.
    """

    id: str
    task: str
    known: ErrorParts
    met: ErrorParts
    fixing_code: str
    cause: str

    @property
    def is_syntax(self) -> bool:
        """Whether the program did not even start."""
        return self.known.exception_type in _SYNTAX

    @property
    def is_held_out(self) -> bool:
        """Whether this bug took no part in choosing weights: a half, by a hash of its id."""
        return int(hashlib.sha256(self.id.encode()).hexdigest(), 16) % 2 == 0

    @property
    def diff(self) -> str:
        """From the code that failed to the code that does not."""
        lines = (self.known.code.splitlines(), self.fixing_code.splitlines())
        return "\n".join(difflib.unified_diff(*lines, lineterm=""))


def bugs(data: Path) -> list[Bug]:
    """Return the bugs of the data set that end in an error."""
    with (data / "error_fix" / "error_fix_verified.jsonl").open(encoding="utf-8") as lines:
        found = [_bug(json.loads(line)) for line in lines]
    return [bug for bug in found if bug is not None]


def _bug(row: Mapping[str, Any]) -> Bug | None:
    failed = [run for run in row["runs"] if "type" in run and run["type"] not in _NO_ERROR]
    if not failed:
        return None
    code = row["buggy_code"]
    first, other = _error(failed[0], code), _error(failed[min(1, len(failed) - 1)], code)
    names = new_names(code, row["id"])
    met = ErrorParts(
        exception_type=other.exception_type,
        message=renamed_message(other.message, names),
        failing_line=renamed(other.failing_line, names),
        code=renamed(code, names),
    )
    return Bug(row["id"], row["slug"], first, met, row["fixed_code"], row["explanation"])


def _error(run: Mapping[str, str], code: str) -> ErrorParts:
    lines, numbers = code.split("\n"), _OWN_FRAME.findall(run["tb"])
    at = int(numbers[-1]) if numbers else 0
    failing = lines[at - 1].strip() if 0 < at <= len(lines) else ""
    return ErrorParts(run["type"], run["msg"], failing, code)

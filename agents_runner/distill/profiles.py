"""What a profile of an input file says, and the bounds that every reader of one keeps."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from agents_runner.distill.cells import Column

TYPED_ROWS = 5_000
COMPARED_ROWS = 100_000
COLUMN_COUNT = 200
NAME_CHARACTERS = 100

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """``type``: integer, decimal, date, time, boolean, text, mixed or empty; formats in strptime's letters."""

    name: str
    type: str
    date_formats: Sequence[str]
    missing: int
    missing_marks: Sequence[str]


@dataclass(frozen=True, slots=True)
class FileProfile:
    """``kind``: csv, json, jsonl, text, empty, unreadable, binary, or zip, gzip, parquet, sqlite, pdf, png, jpeg, ole.

    ``rows`` counts records without the header; it is a lower bound unless ``rows_exact``. Types come from the first
    5,000 rows. ``quirks`` are the traps in words.
    """

    name: str
    size_bytes: int
    kind: str
    encoding: str = ""
    delimiter: str = ""
    decimal_mark: str = ""
    columns: Sequence[ColumnProfile] = ()
    rows: int | None = None
    rows_exact: bool = False
    quirks: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        """The profile as a JSON object."""
        return json.loads(json.dumps(asdict(self)))


def column_profile(column: Column) -> ColumnProfile:
    """What was counted, as a profile."""
    return ColumnProfile(
        column.name, column.type(), column.date_formats(), column.kinds["missing"], column.missing_marks()
    )


def clean_name(text: str) -> str:
    """A name from the file as one printable line of at most 100 characters."""
    return _UNPRINTABLE.sub(" ", text.encode("utf-8", "replace").decode()).strip()[:NAME_CHARACTERS]

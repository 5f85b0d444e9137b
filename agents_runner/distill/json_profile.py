"""The profile of JSON and of JSON lines."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from agents_runner.distill.cells import Column
from agents_runner.distill.profiles import (
    COLUMN_COUNT,
    TYPED_ROWS,
    ColumnProfile,
    FileProfile,
    clean_name,
    column_profile,
)

_KINDS: dict[type, str] = {bool: "boolean", int: "integer", float: "decimal", dict: "object", list: "list"}


def profile_json(text: str, base: FileProfile) -> FileProfile | None:
    """``base`` with the columns of the objects in ``text``; None if it is no JSON."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    records = value if isinstance(value, list) else [value]
    return replace(base, kind="json", columns=_columns(records), rows=len(records), rows_exact=True)


def profile_json_lines(lines: Iterable[str], base: FileProfile, deadline: float) -> FileProfile | None:
    """The same for one object a line; None unless the first two lines that are not blank are objects."""
    records: list[dict[str, Any]] = []
    rows = 0
    quirks: list[str] = []
    ended = True
    for line in lines:
        if time.monotonic() > deadline:
            ended = False
            break
        if not line.strip():
            continue
        rows += 1
        if rows > TYPED_ROWS:
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            records.append(value)
        elif rows <= 2:
            return None
        else:
            quirks = ["lines that are no JSON object"]
    if rows < 2:
        return None
    return replace(
        base,
        kind="jsonl",
        columns=_columns(records),
        rows=rows,
        rows_exact=ended,
        quirks=[*base.quirks, *quirks],
    )


def _columns(records: Sequence[Any]) -> list[ColumnProfile]:
    """One column for each key of the first 5,000 objects, at most 200."""
    columns: dict[str, Column] = {}
    for record in records[:TYPED_ROWS]:
        for key, value in record.items() if isinstance(record, dict) else ():
            if key not in columns:
                if len(columns) == COLUMN_COUNT:
                    continue
                columns[key] = Column(clean_name(key))
            if isinstance(value, str):
                columns[key].add(value)
            else:
                columns[key].kinds[_KINDS.get(type(value), "missing")] += 1
    return [column_profile(column) for column in columns.values()]

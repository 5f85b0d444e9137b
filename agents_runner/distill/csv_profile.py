"""The profile of delimited text."""

from __future__ import annotations

import csv
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from agents_runner.distill.cells import Column, classify
from agents_runner.distill.profiles import (
    COLUMN_COUNT,
    COMPARED_ROWS,
    TYPED_ROWS,
    FileProfile,
    clean_name,
    column_profile,
)

HEADER_ROWS = 30
SAMPLE_ROWS = 300

_DELIMITERS = (",", ";", "\t", "|")


def find_delimiter(sample: str, *, whole: bool) -> str:
    """The delimiter that cuts most rows into the same number (two or more) of cells, or ""; ``whole`` tells that
    the last line of the sample is no torn one."""
    best, best_score = "", (0.6, 1)
    lines = sample.splitlines(keepends=True)[: None if whole else -1]
    for delimiter in _DELIMITERS:
        widths = Counter(
            len(row) for row in _first_rows(lines, delimiter) if any(cell.strip() for cell in row)
        )
        wide = [(count, width) for width, count in widths.items() if width > 1]
        if wide and widths.total() > 1:
            count, width = max(wide)
            score = (count / widths.total(), width)
            if score > best_score:
                best, best_score = delimiter, score
    return best


def profile_csv(
    lines: Iterator[str], base: FileProfile, delimiter: str, quirks: Sequence[str], deadline: float
) -> FileProfile:
    """``base`` with what the rows tell; stops counting at ``deadline`` (monotonic seconds)."""
    table = _Table()
    valid = True
    ended = False
    try:
        for row in csv.reader(lines, delimiter=delimiter):
            if time.monotonic() > deadline:
                break
            if any(cell.strip() for cell in row):
                table.take(row)
        else:
            ended = True
    except csv.Error:
        valid = False
    table.find_header()
    kinds = sum((column.kinds for column in table.columns), Counter[str]())
    return replace(
        base,
        kind="csv",
        delimiter=delimiter,
        decimal_mark="," if kinds["decimal comma"] > kinds["decimal"] else "." if kinds["decimal"] else "",
        columns=[column_profile(column) for column in table.columns],
        rows=table.rows,
        rows_exact=ended,
        quirks=[*quirks, *table.quirks(), *([] if valid else ["not valid CSV to the end"])],
    )


class _Table:
    """Takes the rows of a table one by one; the header is looked for among the first 30."""

    def __init__(self) -> None:
        self.columns: list[Column] = []
        self.rows = 0
        self._head: list[list[str]] = []
        self._lines_above = False
        self._line_breaks = False
        self._widths: Counter[int] = Counter()
        self._seen: set[int] = set()
        self._repeated = False

    def take(self, row: list[str]) -> None:
        """Add one row, whatever it is."""
        if self.columns:
            self._count(row)
            return
        self._head.append(row)
        if len(self._head) == HEADER_ROWS:
            self.find_header()

    def find_header(self) -> None:
        """Settle which of the first rows is the header, and count the rows after it."""
        if self.columns or not self._head:
            return
        begin, names = _header(self._head)
        self._lines_above = begin > 1
        self.columns = [Column(name) for name in names[:COLUMN_COUNT]]
        for row in self._head[begin:]:
            self._count(row)

    def quirks(self) -> list[str]:
        """The traps of this table, in words."""
        found = {
            "lines above the header": self._lines_above,
            "rows of different length": len(self._widths) > 1,
            "line breaks inside quotes": self._line_breaks,
            "repeated rows": self._repeated,
            "thousands separators": any(column.kinds["thousands"] for column in self.columns),
            "mixed date formats": any(len(column.date_formats()) > 1 for column in self.columns),
        }
        return [words for words, present in found.items() if present]

    def _count(self, row: list[str]) -> None:
        self.rows += 1
        if self.rows <= TYPED_ROWS:
            self._widths[len(row)] += 1
            for column, cell in zip(self.columns, row, strict=False):
                column.add(cell)
            self._line_breaks = self._line_breaks or any("\n" in cell or "\r" in cell for cell in row)
        if self.rows <= COMPARED_ROWS and not self._repeated:
            mark = hash(tuple(row))
            self._repeated = mark in self._seen
            self._seen.add(mark)


def _first_rows(lines: Iterable[str], delimiter: str) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        for row in csv.reader(lines, delimiter=delimiter):
            rows.append(row)
            if len(rows) == SAMPLE_ROWS:
                break
    except csv.Error:
        pass
    return rows


def _header(head: Sequence[Sequence[str]]) -> tuple[int, list[str]]:
    """How many rows stand before the data (with the header), and the names of the columns.

    The header is the first row as wide as most rows, of which at least half the cells hold text and none a number;
    without such a row the columns are numbered.
    """
    width = Counter(map(len, head)).most_common(1)[0][0]
    for index, row in enumerate(head):
        kinds = [classify(cell) for cell in row]
        texts = kinds.count("text")
        if len(row) == width and 2 * texts >= width and texts + kinds.count("missing") == width:
            return index + 1, [clean_name(cell) or f"column {n}" for n, cell in enumerate(row, 1)]
    first = next(index for index, row in enumerate(head) if len(row) == width)
    return first, [f"column {n}" for n in range(1, width + 1)]

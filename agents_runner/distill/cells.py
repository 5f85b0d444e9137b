"""What kind of value a cell of text is: by short regular expressions, on bounded text, never by evaluating it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

CELL_CHARACTERS = 64

MISSING_MARKS = frozenset(
    (
        "",
        "-",
        "--",
        ".",
        "...",
        "?",
        "x",
        "/",
        "na",
        "n/a",
        "nan",
        "null",
        "none",
        "nil",
        "unknown",
        "-9999",
        "-9900",
    )
)
_INTEGER = re.compile(r"[+-]?\d{1,18}")
_DECIMAL = re.compile(
    r"[+-]?(?:\d{1,18}\.\d{0,18}|\.\d{1,18})(?:[eE][+-]?\d{1,3})?|[+-]?\d{1,18}[eE][+-]?\d{1,3}"
)
_DECIMAL_COMMA = re.compile(r"[+-]?(?:\d{1,3}(?:\.\d{3}){1,5}|\d{1,18}),\d{1,18}")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,9})?")
_MONTH = r"(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-zä]{0,6}\.?"
_CLOCK = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?: ?[AaPp][Mm])?(?:Z|[+-]\d{2}:?\d{2})?)?"
_DATES = (
    ("%Y-%m-%d", re.compile(r"\d{4}-\d{1,2}-\d{1,2}" + _CLOCK)),
    ("%Y/%m/%d", re.compile(r"\d{4}/\d{1,2}/\d{1,2}" + _CLOCK)),
    ("%d.%m.%Y", re.compile(r"\d{1,2}\.\d{1,2}\.\d{4}" + _CLOCK)),
    ("%d.%m.%y", re.compile(r"\d{1,2}\.\d{1,2}\.\d{2}" + _CLOCK)),
    ("%d %b %Y", re.compile(r"\d{1,2}[ -]" + _MONTH + r"[ -]\d{4}" + _CLOCK, re.IGNORECASE)),
    ("%d-%b-%y", re.compile(r"\d{1,2}[ -]" + _MONTH + r"[ -]\d{2}", re.IGNORECASE)),
    ("%b %d %Y", re.compile(_MONTH + r" \d{1,2},? \d{4}" + _CLOCK, re.IGNORECASE)),
    ("%b %Y", re.compile(_MONTH + r" \d{4}", re.IGNORECASE)),
)
_SLASHED = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4}|\d{2})" + _CLOCK)
_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?")
_BOOLEANS = frozenset(("true", "false", "yes", "no", "y", "n", "t", "f", "ja", "nein"))
_AMBIGUOUS = "%d/%m/%Y or %m/%d/%Y"


def classify(cell: str) -> str:
    """ "missing", "integer", "decimal", "decimal comma", "thousands", "boolean", "time", "text" or a date format."""
    text = cell[: CELL_CHARACTERS + 1].strip()
    if text.lower() in MISSING_MARKS:
        return "missing"
    if len(text) > CELL_CHARACTERS:
        return "text"
    if text[0].isdigit() or text[0] in "+-.":
        for name, pattern in (
            ("integer", _INTEGER),
            ("decimal", _DECIMAL),
            ("thousands", _THOUSANDS),
            ("decimal comma", _DECIMAL_COMMA),
            ("time", _TIME),
        ):
            if pattern.fullmatch(text):
                return name
        slashed = _SLASHED.fullmatch(text)
        if slashed:
            return _slashed_format(*slashed.groups()[:3])
    for name, pattern in _DATES:
        if pattern.fullmatch(text):
            return name
    return "boolean" if text.lower() in _BOOLEANS else "text"


def _slashed_format(first: str, second: str, year: str) -> str:
    year_format = "%Y" if len(year) == 4 else "%y"
    if int(first) > 12:
        return f"%d/%m/{year_format}"
    if int(second) > 12:
        return f"%m/%d/{year_format}"
    return _AMBIGUOUS.replace("%Y", year_format)


@dataclass(slots=True)
class Column:
    """Counts what the cells of one column are, and says what that makes the column."""

    name: str
    kinds: Counter[str] = field(default_factory=Counter)
    marks: Counter[str] = field(default_factory=Counter)

    def add(self, cell: str) -> None:
        """Count one cell."""
        kind = classify(cell)
        self.kinds[kind] += 1
        if kind == "missing":
            self.marks[cell.strip()] += 1

    def date_formats(self) -> list[str]:
        """The date formats seen; day and month that could be either way count with the format that is sure."""
        seen = {kind for kind in self.kinds if "%" in kind}
        for year in ("%Y", "%y"):
            either = _AMBIGUOUS.replace("%Y", year)
            if seen & {f"%d/%m/{year}", f"%m/%d/{year}"}:
                seen.discard(either)
        return sorted(seen)

    def type(self) -> str:
        """ "integer", "decimal", "date", "time", "boolean", "text", "mixed" or "empty"."""
        groups: Counter[str] = Counter()
        for kind, count in self.kinds.items():
            if kind != "missing":
                groups["number" if kind in _NUMBERS else "date" if "%" in kind else kind] += count
        if not groups:
            return "empty"
        [(group, count)] = groups.most_common(1)
        if count < 0.95 * groups.total():
            return "mixed" if group != "text" or count < 0.5 * groups.total() else "text"
        if group == "number":
            return "decimal" if self.kinds["decimal"] or self.kinds["decimal comma"] else "integer"
        return group

    def missing_marks(self) -> list[str]:
        """The marks that stand for a missing value, most frequent first, without the empty cell."""
        return [mark for mark, _ in self.marks.most_common(5) if mark]


_NUMBERS = frozenset(("integer", "decimal", "decimal comma", "thousands"))

"""The difference between two texts as rows for a table: unified or side by side, with the changed words marked."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Literal

from django.utils.safestring import mark_safe

from .hidden_characters import hidden_names
from .highlight import TokenLine, render_line, token_lines

# difflib is quadratic in the worst case: 0.2 s for 2,000 lines here. Larger texts are not compared in a page.
MAX_LINES = 5_000
MAX_CHARACTERS = 400_000
# Below this likeness two lines are shown as removed and added, not as one line with changed words.
MIN_RATIO = 0.4
_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)

Kind = Literal["same", "add", "del", "gap"]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the unified view; a gap stands for `skipped` unchanged lines."""

    kind: Kind
    old_number: int | None = None
    new_number: int | None = None
    html: str = ""
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Pair:
    """One line of the side-by-side view; None is an empty half."""

    old: Row | None
    new: Row | None
    gap: int = 0


@dataclass(frozen=True, slots=True)
class Diff:
    """A difference ready to be shown.

    `too_large`: nothing was compared. `hidden`: invisible characters that the new text has and the old one has not.
    `final_newline`: "added" or "removed" where only one of the texts ends with a line end.
    """

    rows: list[Row] = field(default_factory=list)
    added: int = 0
    removed: int = 0
    too_large: bool = False
    hidden: list[str] = field(default_factory=list)
    final_newline: Literal["", "added", "removed"] = ""

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.removed or self.too_large or self.final_newline)

    def pairs(self) -> Iterator[Pair]:
        """Yield the side-by-side view: removed lines beside the added ones of the same change."""
        removed: list[Row] = []
        added: list[Row] = []
        for row in [*self.rows, Row("gap")]:
            if row.kind == "del" and not added:
                removed.append(row)
            elif row.kind == "add":
                added.append(row)
            else:
                for index in range(max(len(removed), len(added))):
                    yield Pair(_at(removed, index), _at(added, index))
                removed, added = ([row], []) if row.kind == "del" else ([], [])
                if row.kind == "same":
                    yield Pair(row, row)
                elif row.kind == "gap" and row.skipped:
                    yield Pair(None, None, row.skipped)


def diff(old: str, new: str, *, language: str = "python", context: int = 3) -> Diff:
    """Compare two texts line by line, keeping `context` unchanged lines around each change.

    Line ends count: a line that only changed from LF to CRLF is a change, and its carriage return is shown.
    """
    hidden = [name for name in hidden_names(new) if name not in hidden_names(old)]
    old_tokens, new_tokens = _lines(old, language), _lines(new, language)
    too_long = len(old_tokens) > MAX_LINES or len(new_tokens) > MAX_LINES
    if too_long or len(old) > MAX_CHARACTERS or len(new) > MAX_CHARACTERS:
        return Diff(too_large=True, hidden=hidden)
    rows: list[Row] = []
    added = removed = shown_until = 0
    old_lines, new_lines = _texts(old_tokens), _texts(new_tokens)
    matcher = SequenceMatcher(None, old_lines, new_lines, autojunk=False)
    for group in matcher.get_grouped_opcodes(context):
        if skipped := group[0][1] - shown_until:
            rows.append(Row("gap", skipped=skipped))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                rows += (_row("same", i + 1, j1 + i - i1 + 1, old_tokens[i]) for i in range(i1, i2))
                continue
            added, removed = added + j2 - j1, removed + i2 - i1
            rows += _changed(old_tokens, new_tokens, (i1, i2), (j1, j2))
        shown_until = group[-1][2]
    if rows and (skipped := len(old_lines) - shown_until):
        rows.append(Row("gap", skipped=skipped))
    final_newline: Literal["", "added", "removed"] = ""
    if old and new and old.endswith("\n") != new.endswith("\n"):
        final_newline = "added" if new.endswith("\n") else "removed"
    return Diff(rows, added, removed, hidden=hidden, final_newline=final_newline)


def changed_words(old: str, new: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the character ranges that differ in each line; both empty where the lines have little in common."""
    old_words, new_words = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, old_words, new_words, autojunk=False)
    if matcher.quick_ratio() < MIN_RATIO or matcher.ratio() < MIN_RATIO:
        return [], []
    old_marks, new_marks = [], []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        old_marks += _range(old_words, i1, i2)
        new_marks += _range(new_words, j1, j2)
    return old_marks, new_marks


def _changed(
    old: list[TokenLine], new: list[TokenLine], olds: tuple[int, int], news: tuple[int, int]
) -> list[Row]:
    """Return the rows of one change: first all removed lines, then all added ones, words marked pair by pair."""
    (i1, i2), (j1, j2) = olds, news
    marks = [changed_words(_text(a), _text(b)) for a, b in zip(old[i1:i2], new[j1:j2], strict=False)]
    # Where only line ends differ, the carriage return is the change and must be seen.
    removed = [
        _row("del", i1 + k + 1, None, tokens, marks[k][0] if k < len(marks) else [])
        for k, tokens in enumerate(old[i1:i2])
    ]
    added = [
        _row("add", None, j1 + k + 1, tokens, marks[k][1] if k < len(marks) else [])
        for k, tokens in enumerate(new[j1:j2])
    ]
    return removed + added


def _row(
    kind: Kind,
    old_number: int | None,
    new_number: int | None,
    tokens: TokenLine,
    marks: list[tuple[int, int]] | None = None,
) -> Row:
    html = render_line(tokens, marks or [], keep_cr=kind != "same")
    return Row(kind, old_number, new_number, mark_safe(html))  # noqa: S308 - render_line escapes


def _lines(text: str, language: str) -> list[TokenLine]:
    """Tokens per line; one line end at the end of the text does not make an empty last line."""
    if not text:
        return []
    lines = token_lines(text, language)
    return lines[:-1] if not lines[-1] else lines


def _texts(lines: list[TokenLine]) -> list[str]:
    return [_text(tokens) for tokens in lines]


def _text(tokens: TokenLine) -> str:
    return "".join(text for _, text in tokens)


def _range(words: list[str], start: int, end: int) -> list[tuple[int, int]]:
    left = sum(map(len, words[:start]))
    right = left + sum(map(len, words[start:end]))
    return [(left, right)] if right > left else []


def _at(rows: list[Row], index: int) -> Row | None:
    return rows[index] if index < len(rows) else None

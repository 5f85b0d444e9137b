"""Text and JSON made ready to be stored; code never passes through here."""

import math
import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from memory_hub.common.errors import InvalidInput
from memory_hub.common.text import storable

MAX_TEXT = 20_000
MAX_TAGS = 20
MAX_ENTRIES = 50
_MAX_DEPTH = 12
# Aligning lines is quadratic; above this, and where only one kind of line end is used, none are aligned.
_ALIGNED_LINES = 4_000
_LINE_END = re.compile(r"(\r\n|\n|\r)")


def prose(text: str, field: str, *, limit: int = MAX_TEXT, required: bool = False) -> str:
    """Return text that a person reads: stripped, storable. Raises InvalidInput where it is missing or too long."""
    kept = storable(text).strip()
    if required and not kept:
        raise _invalid(field, "This cannot be empty.")
    if len(kept) > limit:
        raise _invalid(field, f"At most {limit:,} characters; this has {len(kept):,}.")
    return kept


def title_line(text: str) -> str:
    """Return a title on one line."""
    return prose(" ".join(storable(text).split()), "title", limit=200, required=True)


def tag_list(tags: Sequence[str]) -> list[str]:
    """Return lower-case tags, each once, in the order given."""
    kept = list(dict.fromkeys(" ".join(storable(tag).lower().split()) for tag in tags))
    kept = [tag for tag in kept if tag]
    if len(kept) > MAX_TAGS:
        raise _invalid("tags", f"At most {MAX_TAGS} tags.")
    if too_long := next((tag for tag in kept if len(tag) > 40), None):
        raise _invalid("tags", f"“{too_long[:40]}…” is longer than 40 characters.")
    return kept


def entries(values: Sequence[str], field: str) -> list[str]:
    """Return the entries of a list that are not empty."""
    kept = [text for text in (prose(value, field, limit=2_000) for value in values) if text]
    if len(kept) > MAX_ENTRIES:
        raise _invalid(field, f"At most {MAX_ENTRIES} entries.")
    return kept


def storable_json(value: Any, depth: int = 0) -> Any:
    """Return the value as JSON that the database takes: NUL made visible, NaN as a word, anything odd as its text."""
    if depth > _MAX_DEPTH:
        return storable(str(value))
    if isinstance(value, str):
        return storable(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {storable(str(key)): storable_json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable_json(item, depth + 1) for item in value]
    return storable(str(value))


def with_line_ends_of(original: str, submitted: str) -> str:
    """Return what a browser sent with the line ends that the original had.

    A textarea sends every line end as CRLF. Lines that were not touched get back their own; new lines get the one
    that the original uses most (LF where it has none).
    """
    old, new = _lines(original), _lines(submitted)
    ends = [end for _, end in old if end]
    usual = max(("\n", "\r\n", "\r"), key=ends.count)
    result = [[text, usual if end else ""] for text, end in new]
    if len(set(ends)) > 1 and len(old) <= _ALIGNED_LINES and len(new) <= _ALIGNED_LINES:
        matcher = SequenceMatcher(None, [text for text, _ in old], [text for text, _ in new], autojunk=False)
        for block in matcher.get_matching_blocks():
            for offset in range(block.size):
                if old[block.a + offset][1] and result[block.b + offset][1]:
                    result[block.b + offset][1] = old[block.a + offset][1]
    return "".join(text + end for text, end in result)


def _lines(text: str) -> list[tuple[str, str]]:
    """Split at CRLF, LF and CR alone: what str.splitlines also splits at may stand inside a string of the code."""
    parts = [*_LINE_END.split(text), ""]
    return list(zip(parts[::2], parts[1::2], strict=True))


def _invalid(field: str, message: str) -> InvalidInput:
    return InvalidInput(message, fields={field: message})

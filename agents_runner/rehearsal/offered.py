"""Reads, in a prompt, which functions from memory are offered to the agent.

The block stands after the user's task. It begins with a line `Functions from memory, already defined in your Python
session:` and has one part per item that names its signature in backticks, as in "### 1. `clean_dates(path)`".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_HEADING = re.compile(r"^.*Functions from memory, already defined in your Python session.*$", re.MULTILINE)
# An item begins with a heading that holds `name(` in backticks; without headings, with such a list line; without
# these, the first such name is the only item.
_SIGNATURE = r"[^`\n]{0,80}`(?:def\s+)?([^\W\d]\w*)\("
_ITEM_STYLES = (
    re.compile(r"^[ \t]*#+" + _SIGNATURE, re.MULTILINE),
    re.compile(r"^[ \t]*(?:[-*]|\d+[.)])" + _SIGNATURE, re.MULTILINE),
    re.compile(_SIGNATURE + r"[\s\S]*\Z"),
)


@dataclass(frozen=True, slots=True)
class OfferedFunction:
    """A callable named in the memory block, and the text of its item there."""

    name: str
    text: str


def offered_functions(prompt: str) -> list[OfferedFunction]:
    """The functions offered in the prompt's memory block, best first; [] without such a block."""
    heading = _HEADING.search(prompt)
    if heading is None:
        return []
    block = prompt[heading.end() :]
    starts = next((found for style in _ITEM_STYLES if (found := list(style.finditer(block)))), [])
    ends = [*(start.start() for start in starts[1:]), len(block)]
    return [
        OfferedFunction(start.group(1), block[start.start() : end])
        for start, end in zip(starts, ends, strict=False)
    ]

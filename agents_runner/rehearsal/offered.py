"""Reads, in a prompt, which functions from memory are offered to the agent.

The memory block stands after the user's task, between two marker lines. Its list `Functions from memory, already
defined in your Python session:` names, one signature in backticks a line, what can be called. What a function is for
stands in its card above the list, under a heading with the same signature: "### 1. `clean_dates(path)`".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MEMORY_MARK = "<<<memory"

_BLOCK = re.compile(r"<<<memory[^\n]*>>>\n(.*?)\n<<<end of memory", re.DOTALL)
_LIST = re.compile(r"^.*Functions from memory, already defined in your Python session.*$", re.MULTILINE)
_SIGNATURE = r"[^`\n]{0,80}`(?:def\s+)?([^\W\d]\w*)\("
_LIST_LINE = re.compile(r"^[ \t]*(?:[-*]|\d+[.)])" + _SIGNATURE + r"[^\n]*$", re.MULTILINE)
_CARD = re.compile(r"^#+" + _SIGNATURE, re.MULTILINE)


@dataclass(frozen=True, slots=True)
class OfferedFunction:
    """A callable named in the memory block, and all that the block says about it."""

    name: str
    text: str


def offered_functions(prompt: str) -> list[OfferedFunction]:
    """The functions offered in the prompt's memory block, best first; [] without such a block."""
    block = _BLOCK.search(prompt)
    text = block.group(1) if block else prompt
    start = _LIST.search(text)
    if start is None:
        return []
    cards = _cards(text[: start.start()])
    lines = _LIST_LINE.finditer(text, start.end())
    return [
        OfferedFunction(line.group(1), f"{cards.get(line.group(1), '')}\n{line.group(0)}") for line in lines
    ]


def _cards(text: str) -> dict[str, str]:
    """The part of each heading that names a function; the first of a name wins."""
    starts = list(_CARD.finditer(text))
    found: dict[str, str] = {}
    for number, start in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(text)
        found.setdefault(start.group(1), text[start.start() : end])
    return found

"""Titles, quotes and diffs: text taken from the trajectory, never made up."""

from __future__ import annotations

import difflib
import re

TITLE_CHARACTERS = 120
QUOTE_CHARACTERS = 2_000
DIFF_LINES = 1_500

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_SENTENCE_END = re.compile(r"[.!?。！？]+[\"'”’)\]]*(?=\s)|[。！？]")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|approx|vs|cf|no|nos|mr|mrs|ms|dr|st|fig|figs|eq|resp|incl|excl|ca|max|min|"
    r"bzw|z\.b|d\.h|u\.s|[a-z])\.$",
    re.IGNORECASE,
)


def title_of(task: str) -> str:
    """The first sentence of the task: one line, at most 120 characters, without its full stop."""
    paragraph = next((part for part in re.split(r"\n\s*\n", task) if part.strip()), "")
    text = _CONTROL.sub(" ", paragraph)
    text = " ".join(text.lstrip("#>*- \t").split())
    for end in _SENTENCE_END.finditer(text):
        if not _ABBREVIATION.search(text[: end.end()]):
            text = text[: end.end()]
            break
    text = text.rstrip(".。 ") or "Untitled task"
    if len(text) <= TITLE_CHARACTERS:
        return text
    cut = text[: TITLE_CHARACTERS - 1]
    return (cut.rpartition(" ")[0] if " " in cut[TITLE_CHARACTERS // 2 :] else cut).rstrip(" ,;:") + "…"


def quote(thought: str) -> str:
    """The agent's words, without the leading "Thought:"; at most 2,000 characters."""
    text = re.sub(r"^\s*Thoughts?:\s*", "", thought, count=1).strip()
    return text if len(text) <= QUOTE_CHARACTERS else text[: QUOTE_CHARACTERS - 1] + "…"


def diff(failed: str, worked: str) -> str:
    """A unified diff from the code that failed to the code that worked; ``""`` when they are equal.

    Beyond 1,500 lines on either side the code is not aligned: all of it is shown as removed and added.
    """
    if failed == worked:
        return ""
    old, new = _lines(failed), _lines(worked)
    if max(len(old), len(new)) > DIFF_LINES:
        head = ["--- failed\n", "+++ worked\n", f"@@ -1,{len(old)} +1,{len(new)} @@\n"]
        lines = [*head, *("-" + line for line in old), *("+" + line for line in new)]
    else:
        lines = list(difflib.unified_diff(old, new, "failed", "worked"))
    return "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines
    )


def _lines(text: str) -> list[str]:
    """Lines with their ends, split at line feeds alone, so that a diff never changes a byte of the code."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)

"""The difference between two revisions as text, for programs; pages draw theirs from the code itself."""

import difflib
import re

from memory_hub.common.errors import TooLarge

# Comparing is quadratic in the worst case.
MAX_LINES = 5_000


def unified_diff(old: str, new: str, old_name: str, new_name: str) -> str:
    """Return a unified diff that `patch` applies to the old code byte for byte; empty where they are equal."""
    if old == new:
        return ""
    before, after = _lines(old), _lines(new)
    if max(len(before), len(after)) > MAX_LINES:
        raise TooLarge(f"Code of more than {MAX_LINES:,} lines is not compared here. Fetch both revisions.")
    lines = difflib.unified_diff(before, after, old_name, new_name)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _lines(text: str) -> list[str]:
    """Split after line feeds alone: every other character belongs to its line."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)

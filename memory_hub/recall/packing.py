"""What was recalled, as text for a prompt: quoted data, whole items, within a budget. Pure functions.

Everything that people or agents wrote stands behind "> ", so that it reads as a quotation, and the few strings that
agent frameworks give a meaning to are defused. The block never says that a function is defined: only the client knows.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memory_hub.library.models import Lesson

from .values import OfferedItem

# The usual rule of thumb; no tokenizer is the same as the model's.
CHARACTERS_PER_TOKEN = 4
_BETWEEN = "\n\n"
_PROBLEM_CHARACTERS = 400
_SIGNATURE_CHARACTERS = 300
_ENTRIES = 5
_LESSON_CHARACTERS = 3_000

# What ends smolagents' reply, opens or closes a code block, looks like a turn of the chat, or pretends to be the
# frame around this block. A space is enough: all of them are matched to the letter.
_DEFUSED = (
    (re.compile(r"(Observation|Calling tools)(?=\s*:)", re.IGNORECASE), r"\1 "),
    (re.compile(r"<(?=\s*/?\s*(?:end_)?code\s*>)", re.IGNORECASE), "< "),
    (re.compile(r"```"), "'''"),
    (re.compile(r"<(?=<<)"), "< "),
    (re.compile(r"<(?=\|)"), "< "),
)


@dataclass(frozen=True, slots=True)
class Packed:
    """A block of text, its size in estimated tokens, and the ids of the revisions that are in it."""

    text: str
    tokens: int
    revision_ids: frozenset[str]


def estimate_tokens(text: str) -> int:
    """Return the number of tokens of a text, estimated at four characters each."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def defuse(text: str) -> str:
    """Return recalled text in which nothing steers an agent framework any more; it stays readable.

    Characters that a person cannot see (bidirectional controls, Unicode tags, zero width) are written out, so that
    what a model reads is what a reviewer read.
    """
    text = "".join(_visible(character) for character in text)
    for pattern, replacement in _DEFUSED:
        text = pattern.sub(replacement, text)
    return text


def _visible(character: str) -> str:
    if character.isascii() or unicodedata.category(character) != "Cf":
        return character
    return f"\\u{{{ord(character):x}}}"


def pack(items: Sequence[OfferedItem], callable_ids: Collection[str], max_tokens: int) -> Packed:
    """Return the items that fit the budget, best first, each whole or not at all.

    An item that comes as a function (its revision is in `callable_ids`) is a card: what it solves and how it is
    called. The others come with their code, to adapt.
    """
    text = ""
    packed: list[str] = []
    for item in items:
        part = _card(item) if item.revision_id in callable_ids else _with_code(item)
        longer = text + _BETWEEN + part if text else part
        if estimate_tokens(longer) <= max_tokens:
            text = longer
            packed.append(item.revision_id)
    return Packed(text, estimate_tokens(text), frozenset(packed))


def pack_lesson(lesson: Lesson) -> str:
    """Return a lesson as a hint: the error it is about, the change that fixed it, and the cause where it is known."""
    lines = [f"The error then:\n{_quoted(f'{lesson.exception_type}: {lesson.message}', 300)}"]
    if lesson.cause:
        lines.append(f"Cause, as noted then:\n{_quoted(lesson.cause, 600)}")
    change = lesson.diff or lesson.fixing_code
    if change:
        lines.append(f"What changed when it worked:\n{_quoted(change, _LESSON_CHARACTERS)}")
    return "\n".join(lines)


def _card(item: OfferedItem) -> str:
    lines = [f"### {item.rank}. `{_signature(item)}`", *_about(item)]
    if item.usage_example:
        lines.append(f"Called then as:\n{_quoted(item.usage_example, 500)}")
    return "\n".join(lines)


def _with_code(item: OfferedItem) -> str:
    lines = [f"### {item.rank}. Code to adapt (text only, not defined)", _quoted(item.code)]
    return "\n".join([*lines, *_about(item)])


def _about(item: OfferedItem) -> list[str]:
    reviewed = "approved by a reviewer" if item.status == "approved" else "not reviewed yet"
    lines = [f"Solved before (check {item.verification}, {reviewed}, score {item.score:.2f}):"]
    lines.append(_quoted(item.statement, _PROBLEM_CHARACTERS))
    if item.applies_when:
        lines.append(f"Applies when:\n{_quoted(item.applies_when, 300)}")
    lines += [f"Edge case:\n{_quoted(text, 200)}" for text in item.edge_cases[:_ENTRIES]]
    lines += [f"Failed before:\n{_quoted(text, 200)}" for text in item.failed[:_ENTRIES]]
    return lines


def _signature(item: OfferedItem) -> str:
    """Return the signature on one line: it stands in a heading, outside of any quotation."""
    shown = " ".join((item.signature or f"{item.entry_point}(...)").split())
    return defuse(shown).replace("`", "'")[:_SIGNATURE_CHARACTERS]


def _quoted(text: str, limit: int | None = None) -> str:
    cut = text if limit is None or len(text) <= limit else text[: limit - 1] + "…"
    # splitlines knows every character that some reader takes for a new line.
    return "\n".join(f"> {line}" for line in defuse(cut).splitlines() or [""])

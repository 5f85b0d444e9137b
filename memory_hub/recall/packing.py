"""What was recalled, as text for a prompt: quoted data, whole items, within a budget. Pure functions.

Everything that people or agents wrote stands behind "> ", so that it reads as a quotation, and the few strings that
smolagents gives a meaning to are defused. The block never says that a function is defined: only the client knows.
"""

import re
import unicodedata
from collections.abc import Sequence

from memory_hub.library.models import Lesson

from .values import CallableItem, OfferedItem

# The usual rule of thumb; no tokenizer is the same as the model's.
CHARACTERS_PER_TOKEN = 4
_PROBLEM_CHARACTERS = 400
_ITEM_LINES = 5
_LESSON_CHARACTERS = 3_000

# What ends smolagents' reply, opens or closes a code block, or pretends to be the frame around this block.
_DEFUSED = (
    (re.compile(r"(Observation|Calling tools)(?=\s*:)", re.IGNORECASE), r"\1 "),
    (re.compile(r"<(?=/?\s*(?:end_)?code\s*>)", re.IGNORECASE), "< "),
    (re.compile(r"```"), "'''"),
    (re.compile(r"<<<"), "<< <"),
)


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


def pack(items: Sequence[OfferedItem], callables: Sequence[CallableItem], max_tokens: int) -> str:
    """Return the items that fit the budget, best first, each whole or not at all.

    An item with a callable is a card: what it solves and how it is called. Others come with their code, to adapt.
    """
    names = {item.revision_id: item for item in callables}
    parts: list[str] = []
    left = max_tokens
    for item in items:
        text = _card(item, names[item.revision_id]) if item.revision_id in names else _with_code(item)
        cost = estimate_tokens(text)
        if cost > left:
            continue
        parts.append(text)
        left -= cost
    return "\n\n".join(parts)


def pack_lesson(lesson: Lesson) -> str:
    """Return a lesson as a hint: the error it is about, the change that fixed it, and the cause where it is known."""
    lines = [f"It is about {_quoted(f'{lesson.exception_type}: {lesson.message}', 300)}"]
    if lesson.cause:
        lines.append(f"Cause, as noted then:\n{_quoted(lesson.cause, 600)}")
    change = lesson.diff or lesson.fixing_code
    if change:
        lines.append(f"What changed when it worked:\n{_quoted(change, _LESSON_CHARACTERS)}")
    return "\n".join(lines)


def _card(item: OfferedItem, function: CallableItem) -> str:
    signature = " ".join(defuse(function.signature).replace("`", "'").split())
    lines = [f"### {item.rank}. `{signature}`", *_about(item)]
    if item.usage_example:
        lines.append(f"Called then as:\n{_quoted(item.usage_example, 500)}")
    return "\n".join(lines)


def _with_code(item: OfferedItem) -> str:
    lines = [f"### {item.rank}. Code to adapt (text only, not defined)", _quoted(item.code, len(item.code))]
    return "\n".join([*lines, *_about(item)])


def _about(item: OfferedItem) -> list[str]:
    reviewed = "approved by a reviewer" if item.status == "approved" else "not reviewed yet"
    lines = [f"Solved before (check {item.verification}, {reviewed}, score {item.score:.2f}):"]
    titled = (
        item.problem if item.problem.startswith(item.title.rstrip("….")) else f"{item.title}\n{item.problem}"
    )
    lines.append(_quoted(titled, _PROBLEM_CHARACTERS))
    if item.applies_when:
        lines.append(f"Applies when:\n{_quoted(item.applies_when, 300)}")
    lines += [f"Edge case:\n{_quoted(text, 200)}" for text in item.edge_cases[:_ITEM_LINES]]
    lines += [f"Failed before:\n{_quoted(text, 200)}" for text in item.failed[:_ITEM_LINES]]
    return lines


def _quoted(text: str, limit: int) -> str:
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return "\n".join(f"> {line}" for line in defuse(cut).splitlines())

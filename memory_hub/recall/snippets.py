"""The part of a text that shows why it was found, with the matched words marked. Pure functions."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .features import asked_terms, without_stop_words
from .tokens import terms

_NAME = re.compile(r"[^\W\d]\w*|\d+")
_LEAD = 60


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a text, and whether it is a matched word."""

    text: str
    is_match: bool


def asked_words(question: str) -> frozenset[str]:
    """Return the terms of a question that say something."""
    return frozenset(without_stop_words(asked_terms(question)))


def snippet(text: str, matched: Iterable[str], *, limit: int = 240) -> list[Piece]:
    """Return about `limit` characters of a text on one line, from where most of the matched terms stand.

    matched: terms as the index has them (tokens.terms). An ellipsis says where something was left out.
    """
    text = " ".join(text.split())
    wanted = frozenset(matched)
    spots = [
        (found.start(), found.end())
        for found in _NAME.finditer(text)
        if not wanted.isdisjoint(terms(found.group()))
    ]
    start = _start(text, spots, limit)
    end = min(len(text), start + limit)
    if end < len(text):
        space = text.rfind(" ", start + limit // 2, end)
        end = space if space > start else end
    pieces: list[Piece] = [Piece("… ", False)] if start else []
    at = start
    for first, last in spots:
        if first < at or last > end:
            continue
        pieces += [Piece(text[at:first], False), Piece(text[first:last], True)]
        at = last
    pieces.append(Piece(text[at:end], False))
    if end < len(text):
        pieces.append(Piece(" …", False))
    return [piece for piece in pieces if piece.text]


def _start(text: str, spots: list[tuple[int, int]], limit: int) -> int:
    """Return where to begin, so that the most matches are within the limit; at the beginning where that is as good."""
    if len(text) <= limit or not spots:
        return 0
    best, most = 0, sum(1 for _, end in spots if end <= limit)
    for first, _ in spots:
        begin = max(0, first - _LEAD)
        inside = sum(1 for start, end in spots if begin <= start and end <= begin + limit)
        if inside > most:
            best, most = begin, inside
    space = text.find(" ", best)
    return space + 1 if best and 0 <= space < best + _LEAD else best

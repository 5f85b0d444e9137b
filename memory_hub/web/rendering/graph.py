"""A small radial drawing of what surrounds one thing: where boxes and lines go. Pure functions, no HTML.

The one in the middle, what is one step away on an ellipse around it, what is two steps away on a wider one, each near
what leads to it. An ellipse grows until no two boxes touch.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import cos, hypot, pi, sin
from typing import Any

BOX_WIDTH, BOX_HEIGHT = 176, 66
_GAP_X, _GAP_Y = 22, 20
# Half axes of the first and the second ellipse: between two boxes beside each other there is room for a word.
_AXES = ((330.0, 190.0), (610.0, 350.0))
_GROWTH = 1.06
_MARGIN = 10
# How far a line moves aside for another one in the other direction.
_ASIDE = 9
# Beyond the middle's own, lines of what has no more links than this keep their words.
_FEW_LINKS = 2
_LINE_CHARACTERS = 19
_LINES = 2


@dataclass(frozen=True, slots=True)
class Spot:
    """A box to draw: its centre, its number, its title in lines that fit, and what the caller gave with it."""

    x: int
    y: int
    number: int
    lines: Sequence[str]
    about: Any

    @property
    def left(self) -> int:
        return self.x - BOX_WIDTH // 2

    @property
    def top(self) -> int:
        return self.y - BOX_HEIGHT // 2

    @property
    def badge_x(self) -> int:
        return self.left + 20

    @property
    def text_x(self) -> int:
        return self.left + 40

    @property
    def text_y(self) -> int:
        return self.y - (12 if len(self.lines) > 1 else 4)


@dataclass(frozen=True, slots=True)
class Line:
    """A line between the centres of two boxes; in its middle stand its word and its arrow.

    A cross line is one of many that do not touch the middle; it is drawn lighter and without its word.
    """

    x1: int
    y1: int
    x2: int
    y2: int
    word: str
    is_cross: bool = False
    # How far below the middle the word stands.
    word_y: int = -8

    @property
    def middle_x(self) -> int:
        return (self.x1 + self.x2) // 2

    @property
    def middle_y(self) -> int:
        return (self.y1 + self.y2) // 2


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is to be drawn, in a field of this size."""

    width: int
    height: int
    spots: Sequence[Spot]
    lines: Sequence[Line]


@dataclass(frozen=True, slots=True)
class Item:
    """Something to be placed: how many steps from the middle, and what it is called."""

    key: Hashable
    hop: int
    title: str
    about: Any = None


def draw(items: Sequence[Item], links: Sequence[tuple[Hashable, Hashable, str]]) -> Drawing:
    """Return the drawing of items (the one in the middle first) and links (from, to, word)."""
    places: dict[Hashable, tuple[float, float]] = {items[0].key: (0.0, 0.0)}
    angles: dict[Hashable, float] = {}
    for hop, axes in enumerate(_AXES, start=1):
        ring = [item for item in items if item.hop == hop]
        if hop > 1:
            ring = _beside_parents(ring, links, angles)
        _place(ring, axes, places, angles)
    left = min(x for x, _ in places.values()) - BOX_WIDTH / 2 - _MARGIN
    top = min(y for _, y in places.values()) - BOX_HEIGHT / 2 - _MARGIN
    right = max(x for x, _ in places.values()) + BOX_WIDTH / 2 + _MARGIN
    bottom = max(y for _, y in places.values()) + BOX_HEIGHT / 2 + _MARGIN
    at = {key: (round(x - left), round(y - top)) for key, (x, y) in places.items()}
    return Drawing(
        width=round(right - left),
        height=round(bottom - top),
        spots=[
            Spot(*at[item.key], number, wrapped(item.title), item.about)
            for number, item in enumerate(items, start=1)
        ],
        lines=_lines(items, links, at),
    )


def wrapped(title: str, width: int = _LINE_CHARACTERS, lines: int = _LINES) -> list[str]:
    """Return a title in at most `lines` lines of `width` characters, cut with an ellipsis where it is longer."""
    found: list[str] = []
    rest = " ".join(title.split())
    while rest and len(found) < lines:
        if len(rest) <= width:
            return [*found, rest]
        cut = rest.rfind(" ", 0, width + 1)
        cut = cut if cut > width // 2 else width
        found.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    if rest:
        found[-1] = found[-1][: width - 1].rstrip() + "…"
    return found


def _place(
    ring: Sequence[Item],
    axes: tuple[float, float],
    places: dict[Hashable, tuple[float, float]],
    angles: dict[Hashable, float],
) -> None:
    """Put the items of a ring around the middle, beginning on the right for two, else at the top."""
    start = 0.0 if len(ring) <= 2 else -pi / 2
    for number, item in enumerate(ring):
        angles[item.key] = start + 2 * pi * number / len(ring)
    across, up = axes
    while ring:
        spots = {i.key: (across * cos(angles[i.key]), up * sin(angles[i.key])) for i in ring}
        if not _touching([*places.values()], [*spots.values()]):
            places |= spots
            return
        across, up = across * _GROWTH, up * _GROWTH


def _touching(placed: Sequence[tuple[float, float]], new: Sequence[tuple[float, float]]) -> bool:
    return any(
        abs(x - other_x) < BOX_WIDTH + _GAP_X and abs(y - other_y) < BOX_HEIGHT + _GAP_Y
        for number, (x, y) in enumerate(new)
        for other_x, other_y in [*placed, *new[:number]]
    )


def _beside_parents(
    ring: Sequence[Item], links: Sequence[tuple[Hashable, Hashable, str]], angles: dict[Hashable, float]
) -> list[Item]:
    def angle(item: Item) -> float:
        ends = [end for pair in links if item.key in pair[:2] for end in pair[:2] if end in angles]
        return min((angles[end] for end in ends), default=0.0)

    return sorted(ring, key=angle)


def _lines(
    items: Sequence[Item],
    links: Sequence[tuple[Hashable, Hashable, str]],
    at: dict[Hashable, tuple[int, int]],
) -> list[Line]:
    """Links in one direction between the same two share a line; those the other way have one beside it."""
    middle = items[0].key
    degree = Counter(end for pair in {frozenset(link[:2]) for link in links} for end in pair)
    words: dict[tuple[Hashable, Hashable], list[str]] = {}
    for source, target, word in links:
        words.setdefault((source, target), []).append(word)
    lines = []
    for (source, target), said in words.items():
        (x1, y1), (x2, y2) = at[source], at[target]
        aside_x = aside_y = 0
        if (target, source) in words:  # each to its own right, so to different sides
            length = hypot(x2 - x1, y2 - y1) or 1.0
            aside_x, aside_y = round((y1 - y2) / length * _ASIDE), round((x2 - x1) / length * _ASIDE)
        below = (aside_y, aside_x) > (0, 0)
        moved = (x1 + aside_x, y1 + aside_y, x2 + aside_x, y2 + aside_y)
        is_cross = middle not in (source, target) and min(degree[source], degree[target]) > _FEW_LINKS
        lines.append(Line(*moved, ", ".join(said), is_cross, 18 if below else -8))
    return lines

"""How alike the data at hand and the data a solution was proven on are, by their profiles. Pure functions.

A profile is what agents_runner.distill describes of a file: its kind, columns with types, marks, size. Others may send
the same of variables.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .tokens import stem

Profiles = Mapping[str, Mapping[str, Any]]

MAX_PROFILES = 20
_BETWEEN = re.compile(r"[\W_]+")
_MAX_COLUMNS = 200
# What each aspect counts; those that neither profile says anything about are left out.
_COLUMNS, _TYPES, _KIND, _MARKS, _SIZE = 0.45, 0.2, 0.15, 0.1, 0.1


def likeness(at_hand: Profiles, proven: Profiles) -> float | None:
    """Return how well the data at hand matches, 0 to 1: for each file its best partner; None where one side says nothing."""
    mine = [profile for profile in list(at_hand.values())[:MAX_PROFILES] if isinstance(profile, Mapping)]
    theirs = [profile for profile in list(proven.values())[:MAX_PROFILES] if isinstance(profile, Mapping)]
    if not mine or not theirs:
        return None
    return sum(max(_alike(one, other) for other in theirs) for one in mine) / len(mine)


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    aspects = [(_KIND, float(one.get("kind") == other.get("kind"))), (_SIZE, _sizes(one, other))]
    mine, theirs = _columns(one), _columns(other)
    if mine or theirs:
        shared = mine.keys() & theirs.keys()
        aspects.append((_COLUMNS, len(shared) / len(mine.keys() | theirs.keys())))
        if shared:
            aspects.append((_TYPES, sum(mine[name] == theirs[name] for name in shared) / len(shared)))
    marks = [(one.get(name), other.get(name)) for name in ("encoding", "delimiter", "decimal_mark")]
    said = [(a, b) for a, b in marks if a or b]
    if said:
        aspects.append((_MARKS, sum(a == b for a, b in said) / len(said)))
    return sum(weight * value for weight, value in aspects) / sum(weight for weight, _ in aspects)


def _columns(profile: Mapping[str, Any]) -> dict[str, str]:
    """Return the type of each column by its name: "Order Date", order_date and OrderDates are the same."""
    columns = profile.get("columns")
    named = columns[:_MAX_COLUMNS] if isinstance(columns, Sequence) and not isinstance(columns, str) else []
    return {
        stem(_BETWEEN.sub("", str(column.get("name", "")).lower())): str(column.get("type", ""))
        for column in named
        if isinstance(column, Mapping)
    }


def _sizes(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    sizes = [profile.get("size_bytes") for profile in (one, other)]
    smaller, larger = sorted(float(size) if isinstance(size, int | float) else 0.0 for size in sizes)
    return (smaller + 1) / (larger + 1)

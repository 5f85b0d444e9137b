"""Where the right answer stood, and what that says of a search."""

from __future__ import annotations

from collections.abc import Sequence

LIMIT = 10


def place_of(topic: str, found: Sequence[str]) -> int | None:
    """Return the place of the first answer of the topic among the first ten, from 1; None where there is none."""
    return found.index(topic) + 1 if topic in found[:LIMIT] else None


def figures(places: Sequence[int | None]) -> dict[str, float]:
    """Return recall at 1 and 5 and the mean reciprocal rank among ten."""
    count = max(1, len(places))
    return {
        "recall_at_1": round(sum(place == 1 for place in places) / count, 4),
        "recall_at_5": round(sum(place is not None and place <= 5 for place in places) / count, 4),
        "mrr_at_10": round(sum(1 / place for place in places if place) / count, 4),
        "questions": len(places),
    }


def auroc(higher: Sequence[float], lower: Sequence[float]) -> float:
    """Return the chance that one of `higher` scores above one of `lower`, ties counting half."""
    wins = sum((one > other) + (one == other) / 2 for one in higher for other in lower)
    return wins / (len(higher) * len(lower))

"""From what a question and a text have in common to one score from 0 to 1; with learned numbers.

score = 1 / (1 + exp(offset - Σ weight · feature)): how likely the text answers the question. No weight is negative, so
that a score never falls while something in common grows. There are two sets of weights, with a cosine and without.
The same text word for word scores 1.

A question's vector is turned before the search: v + (v · down) · up, scaled to length 1, learned from questions and the
problems that answer them. Stored vectors stay as the model made them. data/README.md says from what all was learned.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp
from pathlib import Path
from typing import Any

from .features import Features, Usage

_DATA = Path(__file__).parent / "data"
_TURNED_MODEL = "all-MiniLM-L6-v2-onnx-int8"
# A model that nobody has measured: a cut that few wrong ones pass under either set of weights.
_UNMEASURED = 0.5


@dataclass(frozen=True, slots=True)
class Weights:
    """None is negative."""

    coverage: float
    grams: float
    pairs: float
    order: float
    cosine: float
    offset: float


def parts_of(features: Features, cosine: float | None) -> dict[str, float]:
    """Return the parts of a score by name, each from 0 to 1; "meaning" only where there is a vector."""
    parts = {
        "words": features.coverage,
        "letters": features.grams,
        "phrases": features.pairs,
        "order": features.order,
    }
    return parts if cosine is None else {**parts, "meaning": min(1.0, max(0.0, cosine))}


def score(features: Features, cosine: float | None, weights: Weights) -> float:
    """Return how likely a text answers a question, 0 to 1."""
    common = (
        weights.coverage * features.coverage
        + weights.grams * features.grams
        + weights.pairs * features.pairs
        + weights.order * features.order
        + weights.cosine * max(0.0, cosine or 0.0)
    )
    return 1 / (1 + exp(weights.offset - common))


def weights(*, with_vector: bool) -> Weights:
    """Return the learned weights."""
    return Weights(**_learned()["with_vector" if with_vector else "without_vector"])


@cache
def usage() -> Usage:
    """Return what was learned of words."""
    return Usage(_learned()["survival"], _learned()["usual_share"])


def shipped_no_match_below(model_id: str) -> float:
    """Return the score below which nothing fits, as measured for this release; "" is without a model."""
    return float(_learned()["no_match_below"].get(model_id, _UNMEASURED))


def turned(model_id: str, vector: Sequence[float]) -> list[float]:
    """Return a question's unit vector turned towards the problems that answer such questions."""
    if model_id != _TURNED_MODEL:
        return list(vector)
    import numpy

    down, up = _turn()
    moved = numpy.asarray(vector, dtype=numpy.float32)
    moved = moved + (moved @ down) @ up
    return [float(value) for value in moved / numpy.linalg.norm(moved)]


def turn_version(model_id: str) -> str:
    """Return what names the turn that vectors in a cache were made with."""
    return str(_learned()["version"]) if model_id == _TURNED_MODEL else ""


@cache
def _learned() -> Mapping[str, Any]:
    learned: Mapping[str, Any] = json.loads((_DATA / "fusion.json").read_text("utf-8"))
    return learned


@cache
def _turn() -> tuple[Any, Any]:
    import numpy

    with numpy.load(_DATA / "turn.npz", allow_pickle=False) as matrices:
        return matrices["down"].astype(numpy.float32), matrices["up"].astype(numpy.float32)

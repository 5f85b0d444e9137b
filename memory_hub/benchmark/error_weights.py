"""Learn the weights by which lessons are ranked: python -m memory_hub.benchmark.error_weights DIR

First the order: a conditional logit over all stored lessons, so that the right one stands before the others. Then the
height: a logistic fit on the best lesson of each error, once as it is and once with all lessons on its task left out,
so that the score says how likely the best one is right where half of all errors are known. Both on one half of the
bugs; printed for both. No weight may become negative.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy

from .error_data import Bug, bugs

_ORDER = ("same_class", "message", "same_words", "line", "line_shape", "same_line_shape", "line_shared", "code",
          "code_shape")  # fmt: skip
_ALONE = ("only_message", "only_line")
_OF_MESSAGE = ("same_class", "message", "same_words")
USED = {
    "message": (*_OF_MESSAGE, "only_message"),
    "line": (*_OF_MESSAGE, "line", "line_shape", "same_line_shape", "line_shared", *_ALONE),
    "code": (*_ORDER, *_ALONE),
}
# No error of the data passes through a library, so that what frames are worth cannot be learned: as much as a line.
_FRAMES_AS = "line_shape"
_SHRINK = 0.003
# The order keeps at least this much of its weight in the score, or equals would be told apart by nothing.
_LEAST_SLOPE = 0.15
_STEPS = 2_000

Array = Any


def main(data: Path) -> None:
    """Learn, print what the weights do on either half, and write them where recall reads them."""
    from memory_hub.recall import lesson_ranking

    found = bugs(data)
    learned: dict[str, dict[str, float]] = {}
    for name in USED:
        learned[name], said = _learn(found, name)
        print(name, said, sep="\n")
    lesson_ranking._WEIGHTS.write_text(json.dumps(learned, indent=1) + "\n", "utf-8")


def _learn(found: Sequence[Bug], name: str) -> tuple[dict[str, float], str]:
    count = len(found)
    use = [feature for feature in USED[name] if feature not in _ALONE]
    alone = [feature for feature in USED[name] if feature in _ALONE]
    same_task = numpy.array([[one.task == other.task for other in found] for one in found])
    everything = numpy.ones((count, count), dtype=bool)
    values = {kept: _values(found, name, use, alone, allowed) for kept, allowed in
              (("in", everything), ("out", ~same_task))}  # fmt: skip
    itself = numpy.arange(count)
    tuned = numpy.array([not bug.is_held_out for bug in found])
    order = _fit_order(
        values["in"][0][tuned], itself[tuned], (same_task & ~numpy.eye(count, dtype=bool))[tuned]
    )
    best: dict[str, Array] = {}
    right: Array = None
    for kept, (ordered, alones) in values.items():
        heights = ordered @ order
        if kept == "out":
            heights[same_task] = -numpy.inf
        top = heights.argmax(axis=1)
        best[kept] = numpy.column_stack([heights[itself, top], alones[itself, top]])
        if kept == "in":
            right = same_task[itself, top].astype(float)
    height = _fit_height(
        numpy.concatenate([best["in"][tuned], best["out"][tuned]]),
        numpy.concatenate([right[tuned], numpy.zeros(tuned.sum())]),
    )
    weights = {feature: height[0] * weight for feature, weight in zip(use, order, strict=True)}
    weights |= dict(zip(alone, height[1:-1], strict=True)) | {"offset": height[-1]}
    if name != "message":
        weights["frames"] = weights[_FRAMES_AS]
    return {key: round(float(value), 3) for key, value in weights.items()}, _told(found, best, right, height)


def _values(
    found: Sequence[Bug], name: str, use: Sequence[str], alone: Sequence[str], allowed: Array
) -> tuple[Array, Array]:
    """Return for each error and each lesson the features of order, and those of the lesson among the `allowed`."""
    from memory_hub.recall.lesson_features import prepare_error
    from memory_hub.recall.lesson_ranking import common_with

    known = [prepare_error(bug.known, with_code=name == "code") for bug in found]
    ordered = numpy.zeros((len(found), len(found), len(use)))
    alones = numpy.zeros((len(found), len(found), len(alone)))
    for place, bug in enumerate(found):
        met = bug.met
        if name != "code":
            met = replace(met, code="")
        if name == "message":
            met = replace(met, failing_line="")
        stored = [other for other in range(len(found)) if allowed[place, other]]
        for other, named in zip(
            stored, common_with(prepare_error(met), [known[n] for n in stored]), strict=True
        ):
            ordered[place, other] = [named[feature] for feature in use]
            alones[place, other] = [named[feature] for feature in alone]
    return ordered, alones


def _fit_order(values: Array, right: Array, unclear: Array) -> Array:
    """Return the weights under which the right lessons are likeliest; other bugs of the same task do not count."""
    mask = numpy.where(unclear, -1e9, 0.0)
    rows = numpy.arange(len(values))

    def ascent(weights: Array) -> Array:
        heights = values @ weights + mask
        chances = numpy.exp(heights - heights.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        expected = numpy.einsum("qn,qnf->qf", chances, values)
        return (values[rows, right] - expected).mean(axis=0) - _SHRINK * weights

    return _climb(ascent, numpy.full(values.shape[2], 3.0), numpy.zeros(values.shape[2]), 0.05)


def _fit_height(values: Array, is_right: Array) -> Array:
    """Return slope, weights and offset of the logistic curve; the offset is the last, and subtracted."""
    values = numpy.column_stack([values, -numpy.ones(len(values))])
    least = numpy.zeros(values.shape[1])
    least[0] = _LEAST_SLOPE

    def ascent(weights: Array) -> Array:
        chances = 1 / (1 + numpy.exp(-(values @ weights)))
        return ((is_right - chances)[:, None] * values).mean(axis=0)

    return _climb(ascent, numpy.ones(values.shape[1]), least, 0.02)


def _climb(ascent: Any, weights: Array, least: Array, step: float) -> Array:
    """Follow the gradient (Adam, Kingma and Ba 2015), never below `least`."""
    mean, square = numpy.zeros_like(weights), numpy.zeros_like(weights)
    for turn in range(1, _STEPS + 1):
        up = ascent(weights)
        mean, square = 0.9 * mean + 0.1 * up, 0.99 * square + 0.01 * up * up
        move = mean / (1 - 0.9**turn) / (numpy.sqrt(square / (1 - 0.99**turn)) + 1e-8)
        weights = numpy.maximum(least, weights + step * move)
    return weights


def _told(found: Sequence[Bug], best: dict[str, Array], right: Array, height: Array) -> str:
    """Return how many errors get the right lesson, a wrong one, or a lesson though theirs is left out, by the cut."""
    scores = {
        kept: 1 / (1 + numpy.exp(-(numpy.column_stack([values, -numpy.ones(len(values))]) @ height)))
        for kept, values in best.items()
    }
    held_out = numpy.array([bug.is_held_out for bug in found])
    syntax = numpy.array([bug.is_syntax for bug in found])
    lines = []
    for label, chosen in {
        "tuned": ~held_out & ~syntax, "held out": held_out & ~syntax, "syntax, held out": held_out & syntax,
    }.items():  # fmt: skip
        for cut in (0.5, 0.6, 0.7):
            given = scores["in"][chosen] >= cut
            lines.append(
                f"  {label:18} from {cut}: right {(given & (right[chosen] == 1)).mean():6.1%}"
                f"  wrong {(given & (right[chosen] == 0)).mean():6.1%}"
                f"  left out {(scores['out'][chosen] >= cut).mean():6.1%}"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Lessons in the order of how likely each is on the error that was met; numbers learned by benchmark.error_weights.

score = 1 / (1 + exp(offset - Σ weight · feature)). No weight is negative. There are three sets of weights: for an error
of which only the message is known, with the failing line, and with the code around. Code that is alike makes a lesson
likelier, never less likely: the same mistake is made in other programs too.

Two features are of the lesson among the others that were found: one on the same message, one on the same message and a
line of the same shape, each divided by how many lessons have it. "list index out of range" alone says nothing where
thirty lessons are on it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from math import exp
from pathlib import Path

from .lesson_features import ErrorParts, LessonFeatures, PreparedError, compare_errors, prepare_error

_WEIGHTS = Path(__file__).parent / "data" / "lesson_fusion.json"
# From here on something in common is worth a word of its own in the reason.
_ALIKE = 0.5
# Code takes by far the longest to compare, so it is only for the likeliest by message and line.
_CODE_COMPARED = 40


@dataclass(frozen=True, slots=True)
class RankedLesson:
    """A lesson by its place in what was compared, how likely it is on the error, and the features by name."""

    place: int
    score: float
    parts: Mapping[str, float]


def rank_lessons(met: ErrorParts, known: Sequence[ErrorParts]) -> list[RankedLesson]:
    """Return all known errors with their scores, best first; equals in the order given."""
    compared = common_with(
        prepare_error(met, with_code=False), [prepare_error(parts, with_code=False) for parts in known]
    )
    learned = weights("line" if met.failing_line.strip() else "message")
    scores = [score(parts, learned) for parts in compared]
    order = sorted(range(len(known)), key=lambda place: (-scores[place], place))
    if met.code.strip():
        sure = dict.fromkeys(order, 0.0)
        whole = prepare_error(met)
        for place in order[:_CODE_COMPARED]:
            features = compare_errors(whole, prepare_error(known[place]))
            compared[place].update(code=features.code, code_shape=features.code_shape)
            sure[place] = score(compared[place], weights("code"))
            scores[place] = max(scores[place], sure[place])
        order.sort(key=lambda place: (-scores[place], -sure[place], place))
    return [RankedLesson(place, scores[place], compared[place]) for place in order]


def common_with(met: PreparedError, known: Sequence[PreparedError]) -> list[dict[str, float]]:
    """Return for each known error the features by name."""
    on_words = Counter(map(_words_of, known))
    on_line = Counter(map(_line_of, known))
    compared = []
    for other in known:
        words, line = _words_of(other), _line_of(other)
        is_on_line = met.line_shape != () and _line_of(met) == line
        compared.append(
            {
                **_named(compare_errors(met, other)),
                "only_message": float(_words_of(met) == words) / on_words[words],
                "only_line": float(is_on_line) / on_line[line],
            }
        )
    return compared


def score(features: Mapping[str, float], learned: Mapping[str, float]) -> float:
    """Return how likely a lesson is on an error, 0 to 1."""
    common = sum(learned.get(name, 0.0) * value for name, value in features.items())
    return 1 / (1 + exp(learned["offset"] - common))


@cache
def weights(name: str) -> dict[str, float]:
    """Return a set of learned weights: "message", "line" or "code"."""
    learned: dict[str, dict[str, float]] = json.loads(_WEIGHTS.read_text("utf-8"))
    return learned[name]


def reason_of_lesson(parts: Mapping[str, float]) -> str:
    """Say in words what a lesson has in common with the error."""
    said = []
    if parts["same_words"]:
        said.append("has the same message, numbers apart")
    elif parts["message"] >= _ALIKE:
        said.append("has almost the same message")
    if parts["same_line_shape"]:
        said.append("failed at the same line" + ("" if parts["line"] == 1.0 else " but for names"))
    elif max(parts["line"], parts["line_shape"]) >= _ALIKE:
        said.append("failed at a line like it")
    if parts["code_shape"] >= _ALIKE:
        said.append("the code around is alike")
    if parts["frames"] >= _ALIKE:
        said.append("passed through the same library calls")
    text = "; ".join(said) or "is the nearest there is"
    return text[0].upper() + text[1:] + "."


def _named(features: LessonFeatures) -> dict[str, float]:
    return {field.name: getattr(features, field.name) for field in fields(features)}


def _words_of(error: PreparedError) -> tuple[str, str]:
    return error.exception_type, error.words


def _line_of(error: PreparedError) -> tuple[str, str, tuple[str, ...]]:
    return error.exception_type, error.pattern, error.line_shape

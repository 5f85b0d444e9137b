"""From what the arms of search found to one score between 0 and 1, and its reason in words. Pure functions.

score = Σ weight · arm / Σ weight over the arms that there are (no vector arm without an embedding model):

* words: the share of the query's words that the text has, each counted by its rarity among the candidates
  (ln(1 + N / n), Spärck Jones 1972) and by where it stands (title and problem 1, the rest less).
* trigrams: pg_trgm's similarity of query and statement, 0 to 1.
* vector: cosine, from the level of unrelated texts (0.2 for MiniLM sentences) to 1.

An equal statement scores 1. Below NO_MATCH nothing is offered: memory that does not fit is worse than none.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from uuid import UUID

WEIGHTS = {"words": 0.5, "trigrams": 0.15, "vector": 0.35}
FIELD_WEIGHTS = {"A": 1.0, "B": 0.8, "C": 0.7, "D": 0.4}
UNRELATED_COSINE = 0.2
# Measured with tests/benchmarks/recall.py; the threshold differs since the scores spread differently.
NO_MATCH_WITH_VECTOR = 0.42
NO_MATCH_WITHOUT = 0.40

# What worth may move a rank by at most; it never lifts what is not relevant.
WORTH_WEIGHT = 0.1

_MATCHED_SHOWN = 6
# From here on an arm is worth a word of its own in the reason.
_CLOSE = 0.5


@dataclass(frozen=True, slots=True)
class Candidate:
    """What the arms say about one entry. `fields` maps a weight letter to the words standing there."""

    entry_id: UUID
    solution_id: UUID | None
    lesson_id: UUID | None
    statement: str
    fields: Mapping[str, frozenset[str]]
    trigrams: float
    cosine: float | None


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its relevance, the parts of it, and the query's words that it has, the rarest first."""

    candidate: Candidate
    score: float
    parts: Mapping[str, float]
    matched: tuple[str, ...]
    has_every_word: bool


def score_all(query: str, query_words: Sequence[str], candidates: Sequence[Candidate]) -> list[Scored]:
    """Return the candidates with their scores, best first. `query_words` are lexemes, as in the fields."""
    frequency = Counter(word for item in candidates for word in _all_words(item))
    rarity = {word: log(1 + (len(candidates) + 1) / (frequency[word] + 0.5)) for word in set(query_words)}
    scored = [_score(query, rarity, item) for item in candidates]
    return sorted(scored, key=lambda item: (-item.score, str(item.candidate.entry_id)))


def no_match_below(*, with_vector: bool) -> float:
    """Return the score below which nothing is offered."""
    return NO_MATCH_WITH_VECTOR if with_vector else NO_MATCH_WITHOUT


def rank_value(score: float, worth: float) -> float:
    """Return what results are ordered by: relevance first, worth (0 to 1) within it; the same problem before all."""
    if score >= 1.0:
        return 1.0 + worth
    return score * (1 - WORTH_WEIGHT) + score * WORTH_WEIGHT * worth


def reason_of(scored: Scored) -> str:
    """Say in words why it was found."""
    if scored.score >= 1.0:
        return "The same problem, word for word."
    said = []
    if scored.matched:
        said.append("shares the words " + ", ".join(scored.matched[:_MATCHED_SHOWN]))
    if scored.parts.get("vector", 0) >= _CLOSE:
        said.append("is close in meaning")
    if scored.parts["trigrams"] >= _CLOSE:
        said.append("is worded almost alike")
    text = "; ".join(said) or "is the nearest there is"
    return text[0].upper() + text[1:] + "."


def _score(query: str, rarity: Mapping[str, float], item: Candidate) -> Scored:
    weight_of = {word: FIELD_WEIGHTS[letter] for letter in "DCBA" for word in item.fields.get(letter, ())}
    asked = sum(rarity.values())
    had = sum(rare * weight_of.get(word, 0.0) for word, rare in rarity.items())
    parts = {"words": had / asked if asked else 0.0, "trigrams": min(1.0, max(0.0, item.trigrams))}
    if item.cosine is not None:
        parts["vector"] = min(1.0, max(0.0, (item.cosine - UNRELATED_COSINE) / (1 - UNRELATED_COSINE)))
    total = sum(WEIGHTS[name] for name in parts)
    score = sum(WEIGHTS[name] * value for name, value in parts.items()) / total
    if _plain(query) == _plain(item.statement):
        score = 1.0
    matched = sorted((word for word in rarity if word in weight_of), key=lambda word: (-rarity[word], word))
    has_every_word = bool(rarity) and len(matched) == len(rarity)
    return Scored(item, min(1.0, score), parts, tuple(matched), has_every_word)


def _all_words(item: Candidate) -> set[str]:
    return set().union(*item.fields.values())


def _plain(text: str) -> str:
    return " ".join(text.lower().split())

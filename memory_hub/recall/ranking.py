"""Candidates in the order of how well they answer a question, each with its score and the reason in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from .features import Features, Query, compare
from .fusion import parts_of, score, weights
from .statements import meaning_of
from .tokens import terms

# What worth may move a rank by at most; it never lifts what is not relevant.
WORTH_WEIGHT = 0.1

_MATCHED_SHOWN = 6
# From here on a part is worth a word of its own in the reason.
_CLOSE = 0.5


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry that the database found. `aside` has those of the question's terms that stand aside in it."""

    entry_id: UUID
    solution_id: UUID | None
    lesson_id: UUID | None
    heading: str
    statement: str
    aside: frozenset[str]
    cosine: float | None


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its relevance, and what it is made of; `written` has the question's terms as they were written."""

    candidate: Candidate
    score: float
    features: Features
    query: Query
    written: Mapping[str, str]

    @property
    def parts(self) -> dict[str, float]:
        """The parts of the score by name, each from 0 to 1."""
        return parts_of(self.features, self.candidate.cosine)

    @property
    def matched(self) -> tuple[str, ...]:
        """The question's words that the candidate has, the rarest first."""
        terms_had = sorted(self.features.matched, key=lambda term: (-self.query.weights[term], term))
        return tuple(dict.fromkeys(self.written.get(term, term) for term in terms_had))

    @property
    def has_every_word(self) -> bool:
        """Whether it has every word of the question that says something."""
        return bool(self.query.weights) and len(self.features.matched) == len(self.query.weights)


def rank(
    query: Query, task: str, written: Mapping[str, str], candidates: Sequence[Candidate], *, with_vector: bool
) -> list[Scored]:
    """Return the candidates with their scores, best first.

    task: the question as it is compared word for word; written: its terms as they were written.
    """
    learned = weights(with_vector=with_vector)
    plain = _plain(task)
    scored = []
    for item in candidates:
        text = meaning_of(item.heading, item.statement)
        features = compare(query, text, item.aside)
        is_same = _says(text, plain) or _says(item.statement, plain)
        value = 1.0 if is_same else score(features, item.cosine, learned)
        scored.append(Scored(item, value, features, query, written))
    return sorted(scored, key=lambda item: (-item.score, str(item.candidate.entry_id)))


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
    if scored.parts.get("meaning", 0) >= _CLOSE:
        said.append("is close in meaning")
    if scored.parts["letters"] >= _CLOSE:
        said.append("is worded almost alike")
    text = "; ".join(said) or "is the nearest there is"
    return text[0].upper() + text[1:] + "."


def matched_terms(scored: Scored) -> frozenset[str]:
    """Return the terms that a question and a candidate share."""
    return frozenset(term for word in scored.matched for term in terms(word))


def _says(text: str, plain: str) -> bool:
    """Say whether a text is this one word for word; most are told apart by how they begin."""
    return text.lstrip()[:1].lower()[:1] == plain[:1] and _plain(text) == plain


def _plain(text: str) -> str:
    return " ".join(text.lower().split())

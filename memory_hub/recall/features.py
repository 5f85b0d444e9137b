"""What a question and a stored text have in common, as numbers from 0 to 1. Pure functions.

* coverage: the share of the question's words that the text has (a part of it where a word stands aside only, or is
  spelt a little differently), each counted by its rarity in the project and by how often such a word survives from a
  question to the problem that answers it.
* grams: Jaccard similarity of the 4-grams of letters; literals of the text do not count.
* pairs: the share of the question's pairs of neighbouring words that the text has, counted by rarity.
* order: how long a sequence of words both have in the same order, gaps allowed (Dice of the longest common one).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log

from .tokens import stem, terms

GRAM = 4
# What a word is worth that stands aside: in code, names, tags, edge cases.
ASIDE = 0.3
# What a word is worth at most that is spelt differently.
MISSPELT = 0.9
# A project of a few entries knows no rarity: so many entries are thought to be there beside its own.
PRIOR_DOCUMENTS = 20.0
# Of longer texts only the beginning is compared.
COMPARED_CHARACTERS = 2_000

_STOP_WORDS = """
a an the of to in is for and or with that this it its as by on if are be from at which i you we my me your do
does did how what when where why who whose can could should would will there their them they then than so into
was were been being am have has had but using use used way best some any s t m d ve re ll
"""
_STOPPED_STEMS = frozenset(map(stem, _STOP_WORDS.split()))
_LITERAL = re.compile(r"`[^`]*`|(?<!\w)'[^']*'|\"[^\"]*\"")
_LETTERS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a project knows of a question's terms.

    documents: in how many of the `stored` entries each term is; missing where in none. likes: for such a term those
    spelt like it, each with its likeness from 0 to 1.
    """

    stored: int
    documents: Mapping[str, int]
    likes: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Usage:
    """What is known of words at large: how much more often than usual one survives from a question to the problem
    that answers it, and which share of problems has it."""

    survival: Mapping[str, float]
    usual_share: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Query:
    """A question taken apart once, to be compared with many texts. `weights` has its terms but the stop words."""

    weights: Mapping[str, float]
    likes: Mapping[str, Mapping[str, float]]
    grams: frozenset[str]
    pairs: Mapping[tuple[str, str], float]
    length: int
    places: Mapping[str, int]
    total_weight: float
    total_of_pairs: float


@dataclass(frozen=True, slots=True)
class Features:
    """What a question and a text have in common, each from 0 to 1, and the terms of the question that it has."""

    coverage: float
    grams: float
    pairs: float
    order: float
    matched: frozenset[str]


def without_stop_words(found: Sequence[str]) -> list[str]:
    """Return the terms that say something."""
    return [term for term in found if term not in _STOPPED_STEMS]


def asked_terms(task: str) -> list[str]:
    """Return the terms of a question in order, each as often as it is there."""
    return terms(task[:COMPARED_CHARACTERS])


def prepare(task: str, vocabulary: Vocabulary, usage: Usage) -> Query:
    """Take a question (without the words around the task) apart."""
    found = asked_terms(task)
    rare = {term: _rarity(term, vocabulary, usage) for term in dict.fromkeys(found)}
    asked = without_stop_words(list(rare)) or list(rare)
    weights = {term: rare[term] * usage.survival.get(term, 1.0) for term in asked}
    pairs = {(one, two): rare.get(one, 1.0) + rare[two] for one, two in _pairs(found)}
    return Query(
        weights=weights,
        likes=vocabulary.likes,
        grams=_grams(task[:COMPARED_CHARACTERS]),
        pairs=pairs,
        length=len(found),
        places=_places(found),
        total_weight=sum(weights.values()),
        total_of_pairs=sum(pairs.values()),
    )


def _rarity(term: str, vocabulary: Vocabulary, usage: Usage) -> float:
    having = vocabulary.documents.get(term, 0) + PRIOR_DOCUMENTS * usage.usual_share.get(term, 0.0)
    return log(1 + max(0.0, vocabulary.stored + PRIOR_DOCUMENTS - having + 0.5) / (having + 0.5))


def compare(query: Query, text: str, aside: Collection[str]) -> Features:
    """Return what a question and a text have in common; `aside` has those of its terms that stand aside."""
    text = text[:COMPARED_CHARACTERS]
    described = _LITERAL.sub(" ", text)
    found = terms(described)
    said = set(found if described == text else terms(text))
    covered, matched = [], []
    for term, weight in query.weights.items():
        if has := 1.0 if term in said else _nearly(term, said, aside, query):
            covered.append(weight * has)
            matched.append(term)
    grams = _grams(described)
    shared = len(query.grams & grams)
    either = len(query.grams) + len(grams) - shared
    pairs = set(_pairs(found))
    paired = sum(weight for pair, weight in query.pairs.items() if pair in pairs)
    return Features(
        coverage=sum(covered) / query.total_weight if query.total_weight else 0.0,
        grams=shared / either if either else 0.0,
        pairs=paired / query.total_of_pairs if query.total_of_pairs else 0.0,
        order=2 * _longest_common(query, found) / max(1, query.length + len(found)),
        matched=frozenset(matched),
    )


def _nearly(term: str, said: Collection[str], aside: Collection[str], query: Query) -> float:
    """Return what a text has of a term that it does not say: it stands aside, or is spelt a little differently."""
    has = ASIDE if term in aside else 0.0
    for other, likeness in query.likes.get(term, {}).items():
        if other in said:
            has = max(has, likeness * MISSPELT)
    return has


def _pairs(found: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(["^", *found], found, strict=False))


def _places(found: Sequence[str]) -> dict[str, int]:
    """Map each term to a number whose bits say where it stands."""
    places: dict[str, int] = {}
    for place, term in enumerate(found):
        places[term] = places.get(term, 0) | 1 << place
    return places


def _longest_common(query: Query, found: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of terms, by bits (Hyyrö 2004)."""
    everywhere = (1 << query.length) - 1
    left = everywhere
    for term in found:
        if places := query.places.get(term):
            at = left & places
            left = ((left + at) | (left - at)) & everywhere
    return query.length - left.bit_count()


def _grams(text: str) -> frozenset[str]:
    line = f" {' '.join(_LETTERS.findall(text.lower()))} "
    return frozenset({line[start : start + GRAM] for start in range(len(line) - GRAM + 1)})

"""Candidates from the database, ranked: the part of recall and of the search page that they share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from django.db import connection

from memory_hub.common.text import storable

from .among import candidates_among, candidates_of
from .candidates import BUDGET, plan, quoted
from .embedders import embed_query
from .features import Query, Vocabulary, asked_terms, prepare
from .fusion import usage
from .questions import bare
from .ranking import Candidate, Scored, rank
from .serving import serving
from .tokens import stem, words

# Candidates of each arm: many more than are offered, since some may not be served.
ARM_SIZE = 40
# So many vectors are compared one by one sooner than a graph is walked that has other projects in it.
FEW_VECTORS = 8_000
_QUERY_CHARACTERS = 8_000

Kind = Literal["solution", "lesson"]


@dataclass(frozen=True, slots=True)
class Found:
    """Ranked candidates, best first, the score below which none fits, and the embedding model that was asked."""

    scored: list[Scored]
    threshold: float
    model_id: str


def search(
    *,
    text: str,
    projects: Sequence[UUID],
    kind: Kind = "solution",
    among: Sequence[UUID] | None = None,
    arm_size: int = ARM_SIZE,
) -> Found:
    """Return candidates for a text in these of the acting person's projects.

    among: only these solutions or lessons, each of which is compared; None for all that the projects have. arm_size:
    how many candidates words, what stands aside, and meaning bring each. Call within acting_as: the database itself
    intersects `projects` with the actor's.
    """
    text = storable(text[:_QUERY_CHARACTERS])
    task = bare(text)
    now_serving = serving()
    embedder = now_serving.embedder
    vector = embed_query(embedder, task)
    vocabulary, aside = _known(projects, kind, asked_terms(task))
    query = prepare(task, vocabulary, usage())
    if among is None:
        candidates = _candidates(
            projects, kind, query, vocabulary, aside, vector, embedder.model_id, arm_size
        )
    else:
        candidates = candidates_among(
            kind=kind, ids=among, weights=_looked_for(query), vector=vector, model_id=embedder.model_id,
            arm_size=arm_size,
        )  # fmt: skip
    written = {stem(word): word for word in reversed(words(task))}
    ranked = rank(query, text, written, candidates, with_vector=vector is not None)
    model_id = embedder.model_id if vector is not None else ""
    return Found(ranked, now_serving.no_match_below(model_id), model_id)


def _known(projects: Sequence[UUID], kind: Kind, asked: Sequence[str]) -> tuple[Vocabulary, dict[str, int]]:
    """Return what the projects know of the asked terms, and in how many entries each stands aside."""
    stored = 0
    documents: dict[str, int] = {}
    aside: dict[str, int] = {}
    likes: dict[str, dict[str, float]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT * FROM recall_known_terms(%s::uuid[], %s, %s)", [list(projects), kind, ["", *set(asked)]]
        )
        for asked_term, term, in_words, in_aside, likeness in cursor.fetchall():
            if not asked_term:
                stored = in_words
                continue
            documents[term], aside[term] = int(in_words), int(in_aside)
            if term != asked_term:
                likes.setdefault(asked_term, {})[term] = likeness
    return Vocabulary(max(stored, *documents.values(), 0), documents, likes), aside


def _looked_for(query: Query) -> dict[str, float]:
    """Return the terms to look up with their weights: those of the question, and those spelt like unknown ones."""
    weights = dict(query.weights)
    for term, likes in query.likes.items():
        weights.update({other: weights.get(term, 0.0) * likeness for other, likeness in likes.items()})
    return weights


def _candidates(
    projects: Sequence[UUID], kind: Kind, query: Query, vocabulary: Vocabulary, aside: dict[str, int],
    vector: Sequence[float] | None, model_id: str, arm_size: int,
) -> list[Candidate]:  # fmt: skip
    weights = _looked_for(query)
    looked_up = plan(list(weights), vocabulary.documents, aside, vocabulary.stored)
    asked = list(weights)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT * FROM recall_candidates(%s::uuid[], %s, %s::tsquery, %s::tsquery, %s::text[]::tsquery[],"
            " %s::real[], %s::halfvec, %s, %s, %s, %s)",
            [
                list(projects), kind, looked_up.in_words, looked_up.in_aside, [quoted(term) for term in asked],
                list(weights.values()), None if vector is None else str(vector), model_id, arm_size, 2 * BUDGET,
                FEW_VECTORS,
            ],
        )  # fmt: skip
        return candidates_of(cursor.fetchall(), asked)

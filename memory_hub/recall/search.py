"""Candidates from the database, scored: the part of recall and of the search page that they share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from django.db import connection

from memory_hub.common.text import storable

from .embedders import current_embedder, embed_query
from .ranking import Candidate, Scored, no_match_below, score_all
from .tokens import words

# Candidates of each arm: many more than are offered, since some may not be served.
ARM_SIZE = 40
_QUERY_CHARACTERS = 8_000
_STATEMENT_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class Found:
    """Scored candidates, best first, the score below which none fits, and the embedding model that was asked."""

    scored: list[Scored]
    threshold: float
    model_id: str


def search(*, text: str, projects: Sequence[UUID], kind: Literal["solution", "lesson"] = "solution") -> Found:
    """Return candidates for a text in these of the acting person's projects.

    Call within acting_as: the database itself intersects `projects` with the actor's.
    """
    text = storable(text[:_QUERY_CHARACTERS])
    vector = embed_query(text) if text.strip() else None
    model_id = current_embedder().model_id
    with connection.cursor() as cursor:
        cursor.execute("SELECT tsvector_to_array(to_tsvector('english', %s))", [" ".join(words(text))])
        lexemes: list[str] = cursor.fetchone()[0]
        cursor.execute(
            "SELECT * FROM recall_candidates(%s::uuid[], %s, %s::tsquery, %s, %s::halfvec, %s, %s)",
            [
                list(projects),
                kind,
                _any_of(lexemes),
                text[:_STATEMENT_CHARACTERS],
                None if vector is None else str(vector),
                model_id,
                ARM_SIZE,
            ],
        )
        candidates = [
            Candidate(
                entry_id=row[0],
                solution_id=row[1],
                lesson_id=row[2],
                statement=row[3],
                fields={
                    letter: frozenset(found or ()) for letter, found in zip("ABCD", row[4:8], strict=True)
                },
                trigrams=row[8],
                cosine=row[9],
            )
            for row in cursor.fetchall()
        ]
    return Found(
        score_all(text, lexemes, candidates), no_match_below(with_vector=vector is not None), model_id
    )


def _any_of(lexemes: Sequence[str]) -> str:
    """Return a tsquery of words that are lexemes already; our words hold letters and digits only."""
    return " | ".join(f"'{lexeme}'" for lexeme in lexemes if lexeme.isalnum())

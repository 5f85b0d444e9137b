"""Candidates among given solutions or lessons: every one of them is compared, so that no filter loses what fits.

Read through row security; the given ids lead, not the indexes of the searched columns, which a policy switches off.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from .candidates import quoted
from .ranking import Candidate

# So many are compared one by one; where more pass a filter, the usual candidates are filtered instead.
MOST = 20_000

_CANDIDATES = """
WITH among AS (
    SELECT e.id, e.words, e.aside FROM recall_indexentry e WHERE e.{subject} = ANY (%(ids)s::uuid[])
), asked AS (
    SELECT term, weight FROM unnest(%(terms)s::text[]::tsquery[], %(weights)s::real[]) AS t (term, weight)
), by_words AS (
    SELECT id FROM among a WHERE a.words @@ %(any_term)s::tsquery
    ORDER BY (SELECT sum(weight) FROM asked WHERE a.words @@ term) DESC, id LIMIT %(arm)s
), by_aside AS (
    SELECT id FROM among a WHERE a.aside @@ %(any_term)s::tsquery
    ORDER BY (SELECT sum(weight) FROM asked WHERE a.aside @@ term) DESC, id LIMIT %(arm)s
), by_meaning AS (
    SELECT v.entry_id AS id FROM recall_embedding v JOIN among a ON a.id = v.entry_id
    WHERE v.model_id = %(model)s AND %(meaning)s::halfvec IS NOT NULL
    ORDER BY (v.vector <=> %(meaning)s::halfvec) + 0 LIMIT %(arm)s
), found AS (
    SELECT id FROM by_words UNION SELECT id FROM by_aside UNION SELECT id FROM by_meaning
)
SELECT e.id, e.solution_id, e.lesson_id, e.heading, e.statement,
       array(SELECT n::integer FROM unnest(%(terms)s::text[]::tsquery[]) WITH ORDINALITY AS t (term, n)
             WHERE e.aside @@ t.term),
       (1 - (v.vector <=> %(meaning)s::halfvec))::real
FROM found f JOIN recall_indexentry e ON e.id = f.id
LEFT JOIN recall_embedding v ON v.entry_id = e.id AND v.model_id = %(model)s
"""


def candidates_among(
    *,
    kind: str,
    ids: Sequence[UUID],
    weights: dict[str, float],
    vector: Sequence[float] | None,
    model_id: str,
    arm_size: int,
) -> list[Candidate]:
    """Return the best of these solutions or lessons (`kind`) by words, by what stands aside, and by meaning.

    weights: the question's terms with what each is worth; empty for none.
    """
    asked = list(weights)
    values: dict[str, Any] = {
        "ids": list(ids),
        "terms": [quoted(term) for term in asked],
        "weights": list(weights.values()),
        "any_term": " | ".join(quoted(term) for term in asked) or None,
        "meaning": None if vector is None else str(vector),
        "model": model_id,
        "arm": arm_size,
    }
    subject = {"solution": "solution_id", "lesson": "lesson_id"}[kind]
    with connection.cursor() as cursor:
        cursor.execute(_CANDIDATES.format(subject=subject), values)
        return candidates_of(cursor.fetchall(), asked)


def candidates_of(rows: Sequence[Sequence[Any]], asked: Sequence[str]) -> list[Candidate]:
    """Return what the database found; in a row, the asked terms that stand aside are numbers from 1."""
    return [
        Candidate(
            entry_id=row[0],
            solution_id=row[1],
            lesson_id=row[2],
            heading=row[3],
            statement=row[4],
            aside=frozenset(asked[place - 1] for place in row[5]),
            cosine=row[6],
        )
        for row in rows
    ]

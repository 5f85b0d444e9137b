"""Near-duplicates: solutions that say almost the same in statement and in words, proposed to a reviewer as a merge.

Two gates, and both must open: the statements' vectors (cosine), and the words of problem and code together (Jaccard).
One gate alone is known to fail: a memory that dropped what had a cosine of 0.88 lost 334 of 3,000 records of which
2 were identical (omega-memory PR 73); these two are those of mentedb PR 342. Nothing is ever dropped or merged here.
"""

from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet
from pgvector.django import CosineDistance

from memory_hub.access.actor import SYSTEM
from memory_hub.library.models import MergeProposal, Solution
from memory_hub.library.services.merge_proposals import merge_notice
from memory_hub.recall.models import Embedding
from memory_hub.recall.statements import statement_of
from memory_hub.recall.tokens import words

LEAST_COSINE = 0.97
LEAST_OVERLAP = 0.85
# What one solution is compared with in words, and what is proposed of it at once: a queue is read by people.
_NEAREST = 10
_MAX_PROPOSALS = 3
# Up to here every vector of the project is compared; beyond, the graph index is walked, nearest first.
_EXACT_UP_TO = 5_000


def propose_near_duplicates(*, solution_id: UUID) -> list[MergeProposal]:
    """Propose to merge the solution with those of its project that are almost the same; returns the pairs' rows.

    To be called as the system once the solution's vectors are written, and in a transaction that holds no lock on a
    solution: a proposal refers to two. Doing it twice changes nothing. Without vectors nothing is found.
    """
    solution = (
        Solution.objects.filter(id=solution_id, archived_at=None, latest_revision__isnull=False)
        .select_related("approved_revision", "latest_revision")
        .first()
    )
    if solution is None:
        return []
    own = _words(solution)
    found = []
    for vector in Embedding.objects.filter(entry__solution=solution).order_by("model_id"):
        near = _nearest(vector)
        for other in _solutions(near):
            overlap = _overlap(own, _words(other))
            if overlap >= LEAST_OVERLAP:
                found.append((near[other.id], overlap, vector.model_id, other))
    found.sort(key=lambda item: (-item[0] * item[1], str(item[3].id)))
    rows: dict[UUID, MergeProposal] = {}
    for cosine, overlap, model_id, other in found:
        if other.id not in rows and len(rows) < _MAX_PROPOSALS:
            rows[other.id] = merge_notice(
                actor=SYSTEM,
                first=solution,
                second=other,
                kind=MergeProposal.Kind.NEAR_DUPLICATE,
                detail={"cosine": round(cosine, 4), "overlap": round(overlap, 4), "model": model_id},
            )
    return list(rows.values())


def _nearest(vector: Embedding) -> dict[UUID, float]:
    """Return the cosine of each solution of the same project whose vector, of the same model, is near enough."""
    distance = CosineDistance("vector", vector.vector)
    rows: QuerySet[Any] = (
        Embedding.objects.filter(project_id=vector.project_id, model_id=vector.model_id)
        .filter(entry__solution__isnull=False, entry__solution__archived_at=None)
        .exclude(entry_id=vector.entry_id)
        .annotate(distance=distance)
    )
    there = Embedding.objects.filter(project_id=vector.project_id, model_id=vector.model_id)
    if there[_EXACT_UP_TO : _EXACT_UP_TO + 1].exists():
        with connection.cursor() as cursor:  # else other projects' vectors use up what the walk looks at
            cursor.execute("SET LOCAL hnsw.iterative_scan = 'strict_order'")
        nearest = rows.order_by(distance)[:_NEAREST]
    else:
        # Without an order in the query the graph index is of no use, so all are compared.
        nearest = rows.filter(distance__lte=1 - LEAST_COSINE)
    pairs = nearest.values_list("entry__solution_id", "distance")
    near = sorted((gap, other) for other, gap in pairs if gap <= 1 - LEAST_COSINE)[:_NEAREST]
    return {other: 1 - gap for gap, other in near}


def _solutions(near: dict[UUID, float]) -> list[Solution]:
    rows = Solution.objects.filter(id__in=list(near), latest_revision__isnull=False)
    return list(rows.select_related("approved_revision", "latest_revision"))


def _words(solution: Solution) -> frozenset[str]:
    revision = solution.approved_revision or solution.latest_revision
    code = revision.code if revision else ""
    return frozenset(words(f"{statement_of(solution)}\n{code}"))


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard index of two sets of words: the share of all words that both have."""
    return len(one & other) / len(one | other) if one | other else 0.0

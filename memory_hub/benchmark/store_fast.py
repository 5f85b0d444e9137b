"""Index rows for a large library at once, as the services would make them one by one, without embedding every text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import UUID

from .corpus import Item

if TYPE_CHECKING:
    from memory_hub.access.models import Project

REAL_VECTORS = 2_000
_NOISE = 0.35
_BATCH = 2_000
_vectors: dict[int, Any] = {}
_SLOW_INDEXES = ("embedding_hnsw", "index_entry_words", "index_entry_aside")


@contextmanager
def indexes_built_afterwards() -> Iterator[None]:
    """Drop what is slow to keep while very many rows come in, and build it again: minutes instead of an hour."""
    import psycopg
    from django.conf import settings

    with psycopg.connect(settings.MIGRATE_DATABASE_URL, autocommit=True) as connection:
        definitions = [
            connection.execute("SELECT pg_get_indexdef(%s::regclass)", [name]).fetchone()
            for name in _SLOW_INDEXES
        ]
        for name in _SLOW_INDEXES:
            connection.execute(f"DROP INDEX {name}")
        yield
        connection.execute("SET maintenance_work_mem = '1GB'")
        for row in definitions:
            assert row is not None
            connection.execute(row[0])


def index_rows(project: Project, ids: Sequence[UUID], items: Sequence[Item]) -> None:
    """Write index entries, vectors and the count of terms for solutions that were stored as rows."""
    from memory_hub.access.actor import as_system
    from memory_hub.library.models import Solution
    from memory_hub.recall.services import count_terms

    for start in range(0, len(ids), _BATCH):
        with as_system():
            _index(project, ids[start : start + _BATCH], items[start : start + _BATCH])
    with as_system():
        Solution.objects.filter(project=project).update(needs_index=False)
        count_terms(project=project)


def _index(project: Project, ids: Sequence[UUID], items: Sequence[Item]) -> None:
    from django.db import connection

    from memory_hub.common.clock import now
    from memory_hub.recall.candidates import scope_lexeme
    from memory_hub.recall.models import Embedding, IndexEntry, IndexKind
    from memory_hub.recall.serving import serving_embedder
    from memory_hub.recall.tokens import terms

    owner = {"team_id": project.team_id, "project": project}
    entries = [
        IndexEntry(**owner, solution_id=id_, statement=item.problem, indexed_at=now())
        for id_, item in zip(ids, items, strict=True)
    ]
    IndexEntry.objects.bulk_create(entries)
    scope = scope_lexeme(IndexKind.SOLUTION, project.id)
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE recall_indexentry SET words = array_to_tsvector(%s), aside = array_to_tsvector(%s) WHERE id = %s",
            [
                (
                    [scope, *sorted(set(terms(item.problem)))],
                    [scope, *sorted(set(terms(f"{item.entry_point} {item.code}")))],
                    entry.id,
                )
                for entry, item in zip(entries, items, strict=True)
            ],
        )
    model_id = serving_embedder().model_id
    if model_id:
        Embedding.objects.bulk_create(
            Embedding(**owner, entry=entry, kind=IndexKind.SOLUTION, model_id=model_id, vector=vector)
            for entry, vector in zip(entries, _vectors_of(items), strict=True)
        )


def _vectors_of(items: Sequence[Item]) -> list[Any]:
    """Return real vectors while there are few; then those of other texts with noise, scaled to length 1."""
    import numpy

    from memory_hub.recall.serving import serving_embedder

    if len(_vectors) < REAL_VECTORS:
        real = serving_embedder().embed([item.problem for item in items])
        for vector in real:
            _vectors[len(_vectors)] = numpy.array(vector, dtype=numpy.float32)
        return real
    noise = numpy.random.default_rng(len(items))
    picked = numpy.stack([_vectors[number] for number in noise.integers(0, len(_vectors), len(items))])
    moved = (
        picked + _NOISE * noise.standard_normal(picked.shape).astype(numpy.float32) / picked.shape[1] ** 0.5
    )
    return list(moved / numpy.linalg.norm(moved, axis=1, keepdims=True))

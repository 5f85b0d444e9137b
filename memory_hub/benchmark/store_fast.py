"""A large library at once, as the services would make it one by one: hundreds of thousands in minutes, not hours.

The first solutions are stored and indexed as usual, with vectors of the model. The rest are copies of the last of those
rows with a text, words and a vector of their own; the vectors are those of the first with noise added, since embedding a
million texts takes hours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

from .corpus import Item

if TYPE_CHECKING:
    from memory_hub.access.models import Project

REAL_VECTORS = 2_000
_NOISE = 0.35
_NOISES = 500
_BATCH = 20_000
_SLOW_INDEXES = ("embedding_hnsw", "index_entry_words", "index_entry_aside")
_INCOMING = """
CREATE TEMPORARY TABLE incoming (
    number integer, solution_id uuid, revision_id uuid, entry_id uuid, embedding_id uuid, title text, problem text,
    code text, entry_point text, content_hash text, words text[], aside text[]
)
"""
# The vector of the row's number among the real ones, moved by the noise of its number, scaled to length 1.
_VECTOR = """(SELECT l2_normalize(v.vector + n.vector) FROM real_vectors v, noises n
              WHERE v.number = i.number %% (SELECT count(*) FROM real_vectors) AND n.number = i.number %% (SELECT count(*) FROM noises))"""


def store_large(project: Project, items: Sequence[Item], stored: int) -> None:
    """Store and index items as approved solutions of a project that has `stored` so far, and count its terms."""
    from memory_hub.access.actor import as_system
    from memory_hub.library.models import Solution
    from memory_hub.recall.services import count_terms

    from .store import analyse, store

    usual = max(0, REAL_VECTORS - stored)
    if usual:
        store(project, items[:usual])
    if items[usual:]:
        with _indexes_built_afterwards():
            _copy(project, items[usual:], stored + usual)
        with as_system():
            Solution.objects.filter(project=project, needs_index=True).update(needs_index=False)
            count_terms(project=project)
        analyse()


@contextmanager
def _indexes_built_afterwards() -> Iterator[None]:
    """Drop what is slow to keep while very many rows come in, and build it again: minutes instead of an hour."""
    with _owner() as connection:
        definitions = [
            connection.execute("SELECT pg_get_indexdef(%s::regclass)", [name]).fetchone()
            for name in _SLOW_INDEXES
        ]
        for name in _SLOW_INDEXES:
            connection.execute(f"DROP INDEX {name}")
        yield
        connection.execute("SET maintenance_work_mem = '2GB'")
        for row in definitions:
            connection.execute(row[0])


def _owner() -> Any:
    import psycopg
    from django.conf import settings

    return psycopg.connect(settings.MIGRATE_DATABASE_URL, autocommit=True)


def _copy(project: Project, items: Sequence[Item], first: int) -> None:
    with _owner() as connection:
        connection.execute("SET synchronous_commit = off")
        template = _template(connection, project)
        _vector_tables(connection, project)
        connection.execute(_INCOMING)
        for number, batch in enumerate(_batches(items)):
            _copy_batch(connection, project, batch, first + number * _BATCH, template)


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Return the items a batch at a time."""
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]


def _template(connection: Any, project: Project) -> Mapping[str, UUID]:
    """Return the ids of the rows of one solution, by table."""
    row = connection.execute(
        "SELECT s.id, s.approved_revision_id, e.id, v.id FROM library_solution s"
        " JOIN recall_indexentry e ON e.solution_id = s.id LEFT JOIN recall_embedding v ON v.entry_id = e.id"
        " WHERE s.project_id = %s ORDER BY s.id DESC LIMIT 1",
        [project.id],
    ).fetchone()
    tables = ("library_solution", "library_revision", "recall_indexentry", "recall_embedding")
    return {table: id_ for table, id_ in zip(tables, row, strict=True) if id_ is not None}


def _vector_tables(connection: Any, project: Project) -> None:
    """Make two tables for the time of the connection: the real vectors, and as many noises as will do."""
    import numpy

    connection.execute("CREATE TEMPORARY TABLE real_vectors (number serial PRIMARY KEY, vector halfvec)")
    connection.execute(
        "INSERT INTO real_vectors (number, vector) SELECT row_number() OVER (ORDER BY id) - 1, vector"
        " FROM recall_embedding WHERE project_id = %s AND kind = 'solution' ORDER BY id LIMIT %s",
        [project.id, REAL_VECTORS],
    )
    connection.execute("CREATE TEMPORARY TABLE noises (number integer PRIMARY KEY, vector halfvec)")
    noises = numpy.random.default_rng(1).standard_normal((_NOISES, 384)) * _NOISE / 384**0.5
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO noises VALUES (%s, %s)",
            [(number, str([round(float(value), 4) for value in row])) for number, row in enumerate(noises)],
        )


def _copy_batch(
    connection: Any, project: Project, items: Sequence[Item], first: int, template: Mapping[str, UUID]
) -> None:
    from memory_hub.common.ids import uuid7
    from memory_hub.common.text import first_sentence, sha256_hex, storable
    from memory_hub.recall.candidates import scope_lexeme
    from memory_hub.recall.models import IndexKind
    from memory_hub.recall.tokens import terms

    scope = scope_lexeme(IndexKind.SOLUTION, project.id)
    with connection.transaction(), connection.cursor() as cursor:
        cursor.execute("TRUNCATE incoming")
        with cursor.copy("COPY incoming FROM STDIN") as rows:
            for number, item in enumerate(items, start=first):
                rows.write_row(
                    (
                        number, uuid7(), uuid7(), uuid7(), uuid7(), first_sentence(item.problem) or "Problem",
                        item.problem, storable(item.code), item.entry_point, sha256_hex(item.code),
                        [scope, *sorted(set(terms(item.problem)))],
                        [scope, *_terms_of_code(f"{item.entry_point} {item.code}")],
                    )
                )  # fmt: skip
        cursor.execute("ANALYZE incoming")
        revision = {"approved_revision_id": "i.revision_id", "latest_revision_id": "i.revision_id"}
        changed: dict[str, dict[str, str]] = {
            "library_solution": {"id": "i.solution_id", "title": "i.title", "problem": "i.problem", **revision},
            "library_revision": {
                "id": "i.revision_id", "solution_id": "i.solution_id", "code": "i.code",
                "entry_point": "i.entry_point", "content_hash": "i.content_hash",
            },
            "recall_indexentry": {
                "id": "i.entry_id", "solution_id": "i.solution_id", "statement": "i.problem",
                "words": "array_to_tsvector(i.words)", "aside": "array_to_tsvector(i.aside)",
            },
            "recall_embedding": {"id": "i.embedding_id", "entry_id": "i.entry_id", "vector": _VECTOR},
        }  # fmt: skip
        for table, id_ in template.items():
            cursor.execute(_copies(connection, table, changed[table]), [id_])


@lru_cache(maxsize=100_000)
def _terms_of_code(text: str) -> Sequence[str]:
    from memory_hub.recall.tokens import terms

    return sorted(set(terms(text)))


def _copies(connection: Any, table: str, changed: Mapping[str, str]) -> str:
    """Return the statement that copies one row of a table for each of the incoming ones, with these columns changed."""
    columns = [
        name
        for (name,) in connection.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_name = %s AND table_schema = 'public'",
            [table],
        )
    ]
    values = ", ".join(changed.get(name, f't."{name}"') for name in columns)
    names = ", ".join(f'"{name}"' for name in columns)
    return f"INSERT INTO {table} ({names}) SELECT {values} FROM incoming i, {table} t WHERE t.id = %s"

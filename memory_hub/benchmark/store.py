"""Solutions into a scratch hub: the rows as they stand after a review, indexed as the worker does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from .corpus import Item

if TYPE_CHECKING:
    from memory_hub.access.models import Project

_BATCH = 1_000


def store(project: Project, items: Sequence[Item]) -> list[UUID]:
    """Store approved solutions, index them, and count their terms; return their ids in the order of the items."""
    from memory_hub.access.actor import as_system
    from memory_hub.recall.services import count_terms, index_solution

    ids = store_rows(project, items)
    for start in range(0, len(ids), 200):
        with as_system():
            for solution_id in ids[start : start + 200]:
                index_solution(solution_id=solution_id)
    with as_system():
        count_terms(project=project)
    analyse()
    return ids


def store_rows(project: Project, items: Sequence[Item]) -> list[UUID]:
    """Store approved solutions that nothing has indexed yet."""
    from memory_hub.access.actor import as_system
    from memory_hub.common.text import first_sentence, sha256_hex, storable
    from memory_hub.library.models import Revision, Solution

    owner = {"team_id": project.team_id, "project": project}
    with as_system():
        solutions = [
            Solution(**owner, title=first_sentence(item.problem) or "Problem", problem=item.problem)
            for item in items
        ]
        Solution.objects.bulk_create(solutions, batch_size=_BATCH)
        revisions = [
            Revision(
                **owner,
                solution=solution,
                number=1,
                code=storable(item.code),
                entry_point=item.entry_point,
                content_hash=sha256_hex(item.code),
                status=Revision.Status.APPROVED,
            )
            for solution, item in zip(solutions, items, strict=True)
        ]
        Revision.objects.bulk_create(revisions, batch_size=_BATCH)
        for solution, revision in zip(solutions, revisions, strict=True):
            solution.approved_revision = solution.latest_revision = revision
        Solution.objects.bulk_update(solutions, ["approved_revision", "latest_revision"], batch_size=_BATCH)
    return [solution.id for solution in solutions]


def analyse() -> None:
    """Do what autovacuum does within a minute."""
    import psycopg
    from django.conf import settings

    with psycopg.connect(settings.MIGRATE_DATABASE_URL, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")

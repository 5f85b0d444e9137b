"""Upkeep of the search index: an entry's words, statement and vector, always made from the rows as they are now."""

from typing import Any
from uuid import UUID

from django.db import connection

from memory_hub.common.clock import now
from memory_hub.library.models import Lesson, Revision, Solution
from memory_hub.recall.embedders import current_embedder
from memory_hub.recall.models import Embedding, IndexEntry
from memory_hub.recall.statements import error_statement, statement_of
from memory_hub.recall.tokens import words

_TEXT_CHARACTERS = 8_000
_SET_WORDS = """
    UPDATE recall_indexentry
    SET words = setweight(to_tsvector('english', %s), 'A') || setweight(to_tsvector('english', %s), 'B')
        || setweight(to_tsvector('english', %s), 'C') || setweight(to_tsvector('english', %s), 'D')
    WHERE id = %s
"""


def index_solution(*, solution_id: UUID) -> bool:
    """Bring the index entry of a solution up to date; False where the solution is gone. Call as the system."""
    solution = (
        Solution.objects.select_for_update(of=("self",))
        .select_related("approved_revision", "latest_revision")
        .filter(id=solution_id)
        .first()
    )
    if solution is None:
        return False
    revision = solution.approved_revision or solution.latest_revision
    _write(
        solution,
        statement=solution.problem,
        text=statement_of(solution),
        also="\n".join([solution.applies_when, *solution.edge_cases, *solution.tags]),
        names=f"{revision.entry_point} {revision.signature}" if revision else "",
        code=_code_of(revision),
        solution=solution,
    )
    Solution.objects.filter(id=solution.id).update(needs_index=False)
    return True


def index_lesson(*, lesson_id: UUID) -> bool:
    """Bring the index entry of a lesson up to date; False where the lesson is gone. Call as the system."""
    lesson = Lesson.objects.select_for_update(of=("self",)).filter(id=lesson_id).first()
    if lesson is None:
        return False
    statement = error_statement(lesson.exception_type, lesson.message)
    _write(
        lesson,
        statement=statement,
        text=statement,
        also="\n".join([lesson.failing_line, lesson.applies_where]),
        names=" ".join(str(frame) for frame in lesson.library_frames),
        code=lesson.failing_code,
        lesson=lesson,
    )
    Lesson.objects.filter(id=lesson.id).update(needs_index=False)
    return True


def _code_of(revision: Revision | None) -> str:
    return revision.code if revision else ""


def _write(
    row: Solution | Lesson, *, statement: str, text: str, also: str, names: str, code: str, **subject: Any
) -> None:
    """Write the entry of a row. `statement` is what a question is compared with, `text` what it means in full."""
    text = text[:_TEXT_CHARACTERS]
    owner = {"team_id": row.team_id, "project_id": row.project_id}
    entry, _ = IndexEntry.objects.update_or_create(
        **subject, defaults={**owner, "statement": statement[:_TEXT_CHARACTERS], "indexed_at": now()}
    )
    weighted = [" ".join(words(part)) for part in (text, also, names, code)]
    with connection.cursor() as cursor:
        cursor.execute(_SET_WORDS, [*weighted, entry.id])
    # Whatever their model, vectors of what it said before would find it for the wrong questions.
    entry.embeddings.all().delete()
    embedder = current_embedder()
    Embedding.objects.bulk_create(
        Embedding(**owner, entry=entry, model_id=embedder.model_id, vector=vector)
        for vector in embedder.embed([text])
    )

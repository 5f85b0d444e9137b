"""Upkeep of the search index: an entry's terms, statement and vectors, always made from the rows as they are now."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from memory_hub.common.clock import now
from memory_hub.common.text import storable
from memory_hub.library.code_facts import imported_libraries
from memory_hub.library.models import Lesson, Revision, Solution
from memory_hub.recall.candidates import scope_lexeme
from memory_hub.recall.models import IndexEntry, IndexKind
from memory_hub.recall.statements import TEXT_CHARACTERS, error_statement, heading_of, meaning_of
from memory_hub.recall.tokens import terms

from .embedding_models import add_vectors, embedders_to_fill
from .vocabulary import add_terms

_SET_TERMS = (
    "UPDATE recall_indexentry SET words = array_to_tsvector(%s), aside = array_to_tsvector(%s) WHERE id = %s"
)


@dataclass(frozen=True, slots=True)
class Text:
    """What an entry says: the heading and the statement that questions are compared with, and all else aside."""

    heading: str
    statement: str
    aside: str

    @property
    def meaning(self) -> str:
        """What a question is compared with."""
        return meaning_of(self.heading, self.statement)


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
    imports = imports_of_solution(solution)
    _write(solution, IndexKind.SOLUTION, text_of_solution(solution), imports, solution=solution)
    Solution.objects.filter(id=solution.id).update(needs_index=False)
    return True


def index_lesson(*, lesson_id: UUID) -> bool:
    """Bring the index entry of a lesson up to date; False where the lesson is gone. Call as the system."""
    lesson = Lesson.objects.select_for_update(of=("self",)).filter(id=lesson_id).first()
    if lesson is None:
        return False
    _write(lesson, IndexKind.LESSON, text_of_lesson(lesson), [], lesson=lesson)
    Lesson.objects.filter(id=lesson.id).update(needs_index=False)
    return True


def text_of_solution(solution: Solution) -> Text:
    """Return what the index keeps of a solution; its code is that of the revision which stands for it."""
    revision = solution.approved_revision or solution.latest_revision
    described = [solution.applies_when, *solution.edge_cases, *solution.tags]
    return Text(heading_of(solution), solution.problem, "\n".join([*described, *_code_of(revision)]))


def imports_of_solution(solution: Solution) -> list[str]:
    """Return the libraries that the code which stands for a solution imports."""
    revision = solution.approved_revision or solution.latest_revision
    libraries = imported_libraries(revision.code) if revision else []
    return [storable(name)[:100] for name in libraries[:200]]


def text_of_lesson(lesson: Lesson) -> Text:
    """Return what the index keeps of a lesson."""
    frames = " ".join(str(frame) for frame in lesson.library_frames)
    aside = [lesson.cause, lesson.applies_where, frames, lesson.failing_code]
    return Text(
        lesson.failing_line,
        error_statement(lesson.exception_type, lesson.message),
        "\n".join(filter(None, aside)),
    )


def _code_of(revision: Revision | None) -> list[str]:
    return [revision.entry_point, revision.signature, revision.code] if revision else []


def _write(row: Solution | Lesson, kind: IndexKind, text: Text, imports: list[str], **subject: Any) -> None:
    owner = {"team_id": row.team_id, "project_id": row.project_id}
    entry, _ = IndexEntry.objects.update_or_create(
        **subject,
        defaults={
            **owner,
            "statement": text.statement[:TEXT_CHARACTERS],
            "heading": text.heading[:TEXT_CHARACTERS],
            "imports": imports,
            "indexed_at": now(),
        },
    )
    words, aside = sorted(set(terms(text.meaning))), sorted(set(terms(text.aside)))
    scope = scope_lexeme(kind, row.project_id)
    with connection.cursor() as cursor:
        cursor.execute(_SET_TERMS, [[scope, *words], [scope, *aside], entry.id])
    add_terms(team_id=row.team_id, project_id=row.project_id, kind=kind, terms=sorted({*words, *aside}))
    # Whatever their model, vectors of what it said before would find it for the wrong questions.
    entry.embeddings.all().delete()
    for embedder in embedders_to_fill():
        add_vectors(embedder, [entry], kind)

"""Which terms a project's entries have, and in how many: kept while indexing, counted anew by a task."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Count, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from memory_hub.access.models import Project
from memory_hub.common.clock import now
from memory_hub.recall.models import IndexEntry, IndexKind, Term

# Counting reads every entry, so that large projects are counted less often; their shares hardly move meanwhile.
_LARGE = 20_000
_LARGE_EVERY = timedelta(minutes=10)

_COUNT = """
WITH stat AS MATERIALIZED (
    SELECT word AS term, sum(ndoc * in_words)::integer AS documents, sum(ndoc * (1 - in_words))::integer AS aside
    FROM (
        SELECT word, ndoc, 1 AS in_words FROM ts_stat(%(words)s) UNION ALL SELECT word, ndoc, 0 FROM ts_stat(%(aside)s)
    ) both_columns
    GROUP BY word
), counted AS (
    SELECT CASE WHEN term LIKE '@%%' THEN '' ELSE term END AS term, documents, aside FROM stat
    UNION ALL SELECT '', 0, 0 WHERE NOT EXISTS (SELECT FROM stat WHERE term LIKE '@%%')
), gone AS (
    DELETE FROM recall_term t WHERE t.project_id = %(project)s AND t.kind = %(kind)s
    AND NOT EXISTS (SELECT FROM counted c WHERE c.term = t.term)
)
INSERT INTO recall_term (id, created_at, team_id, project_id, kind, term, documents, aside_documents, counted_at)
SELECT gen_random_uuid(), %(at)s, %(team)s, %(project)s, %(kind)s, term, documents, aside,
       CASE WHEN term = '' THEN %(at)s::timestamptz END
FROM counted ORDER BY term
ON CONFLICT (project_id, kind, term) DO UPDATE
SET documents = excluded.documents, aside_documents = excluded.aside_documents, counted_at = excluded.counted_at
WHERE (recall_term.documents, recall_term.aside_documents, recall_term.counted_at)
    IS DISTINCT FROM (excluded.documents, excluded.aside_documents, excluded.counted_at)
"""


def add_terms(*, team_id: UUID, project_id: UUID, kind: IndexKind, terms: Sequence[str]) -> None:
    """Make terms known that the project does not have yet, so that they can be searched at once."""
    mine = Term.objects.filter(project_id=project_id, kind=kind)
    known = set(mine.filter(term__in=terms).values_list("term", flat=True))
    Term.objects.bulk_create(
        # Sorted, so that two who add the same terms do not wait for each other in a circle.
        (
            Term(team_id=team_id, project_id=project_id, kind=kind, term=term, documents=1)
            for term in sorted(set(terms) - known)
        ),
        ignore_conflicts=True,
    )


def count_terms(*, project: Project) -> None:
    """Count in how many entries of the project each term is; forget terms that no entry has. Call as the system."""
    for kind, column in ((IndexKind.SOLUTION, "solution_id"), (IndexKind.LESSON, "lesson_id")):
        entries = f"FROM recall_indexentry WHERE project_id = '{project.id}' AND {column} IS NOT NULL"
        values: dict[str, Any] = {
            "words": f"SELECT words {entries}",
            "aside": f"SELECT aside {entries} AND aside IS NOT NULL",
            "team": project.team_id, "project": project.id, "kind": kind, "at": now(),
        }  # fmt: skip
        with connection.cursor() as cursor:
            cursor.execute(_COUNT, values)


def projects_to_count() -> list[Project]:
    """Return the projects in which something was indexed or deleted since their terms were counted.

    What was deleted leaves its words behind until then: at most a minute, in a large project ten. Call as the system.
    """
    latest = (
        IndexEntry.objects.filter(project_id=OuterRef("id")).order_by("-indexed_at").values("indexed_at")[:1]
    )
    total = Term.objects.filter(project_id=OuterRef("id"), term="", kind=IndexKind.SOLUTION)
    lessons = Term.objects.filter(project_id=OuterRef("id"), term="", kind=IndexKind.LESSON)
    projects = Project.objects.annotate(
        indexed_at=Subquery(latest),
        counted_at=Subquery(total.values("counted_at")[:1]),
        entries=Subquery(total.values("documents")[:1]),
        solutions=_number_of("solution"),
        lessons=_number_of("lesson"),
        counted_lessons=Coalesce(Subquery(lessons.values("documents")[:1]), 0),
    ).filter(Q(indexed_at__isnull=False) | Q(counted_at__isnull=False))
    stale = (
        Q(counted_at__isnull=True)
        | Q(indexed_at__gt=F("counted_at"))
        | ~Q(solutions=F("entries"))
        | ~Q(lessons=F("counted_lessons"))
    )
    due = Q(counted_at__isnull=True) | Q(entries__lt=_LARGE) | Q(counted_at__lt=now() - _LARGE_EVERY)
    return list(projects.filter(stale, due))


def _number_of(subject: str) -> Coalesce:
    """Return how many entries of the outer project are about a solution, or a lesson."""
    entries = IndexEntry.objects.filter(project_id=OuterRef("id"), **{f"{subject}__isnull": False})
    return Coalesce(Subquery(entries.order_by().values("project_id").annotate(n=Count("id")).values("n")), 0)

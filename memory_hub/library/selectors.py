"""Reads of the library room. Everything goes through visible_to(actor)."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.common.errors import NotFound
from memory_hub.runs.models import Run

from .models import CheckInput, Evidence, Lesson, Link, Revision, Solution
from .quality import NO_EVIDENCE, Observations, Quality, quality_of


def solutions(actor: Actor, project: Project) -> "QuerySet[Solution]":
    """Return a project's solutions with what a list shows of them, newest first."""
    require(actor, Permission.LIBRARY_READ, project)
    return (
        Solution.objects.visible_to(actor)
        .filter(project=project)
        .select_related("approved_revision", "latest_revision", "author")
    )


def solution_get(actor: Actor, solution_id: UUID) -> Solution:
    """Return a solution. Raises NotFound for what the actor cannot see."""
    found = (
        Solution.objects.visible_to(actor)
        .select_related("approved_revision", "latest_revision", "author", "run__starter", "project__team")
        .filter(id=solution_id)
        .first()
    )
    if found is None:
        raise NotFound
    require(actor, Permission.LIBRARY_READ, found)
    return found


def revisions(actor: Actor, solution: Solution) -> "QuerySet[Revision]":
    """Return a solution's revisions, newest first, with who made them."""
    return (
        Revision.objects.visible_to(actor)
        .filter(solution=solution)
        .select_related("author", "author_run", "parent")
    )


def revision_get(actor: Actor, revision_id: UUID) -> Revision:
    """Return a revision by its id. Raises NotFound for what the actor cannot see."""
    found = (
        Revision.objects.visible_to(actor)
        .select_related("solution__latest_revision", "author", "author_run__starter", "project__team")
        .filter(id=revision_id)
        .first()
    )
    if found is None:
        raise NotFound
    require(actor, Permission.LIBRARY_READ, found)
    return found


def revision_in(actor: Actor, solution_id: UUID, revision_id: UUID) -> Revision:
    """Return a solution's revision by its id. Raises NotFound for a revision of another solution."""
    found = revision_get(actor, revision_id)
    if found.solution_id != solution_id:
        raise NotFound
    return found


def revision_numbered(actor: Actor, solution: Solution, number: int) -> Revision:
    """Return a solution's revision by its number. Raises NotFound."""
    found = revisions(actor, solution).filter(number=number).first()
    if found is None:
        raise NotFound
    found.solution = solution
    return found


def served_revision(solution: Solution) -> Revision:
    """Return the revision that stands for the solution: the approved one, or else the latest."""
    revision = solution.approved_revision or solution.latest_revision
    if revision is None:
        raise NotFound
    return revision


def lessons(actor: Actor, project: Project) -> "QuerySet[Lesson]":
    """Return a project's lessons, newest first."""
    require(actor, Permission.LIBRARY_READ, project)
    return (
        Lesson.objects.visible_to(actor).filter(project=project).select_related("solution", "run", "author")
    )


def lessons_of(actor: Actor, solution: Solution) -> "QuerySet[Lesson]":
    """Return what was learnt on the way to a solution."""
    return Lesson.objects.visible_to(actor).filter(solution=solution).order_by("id")


def lesson_get(actor: Actor, lesson_id: UUID) -> Lesson:
    """Return a lesson. Raises NotFound for what the actor cannot see."""
    found = (
        Lesson.objects.visible_to(actor)
        .select_related("solution", "run", "author", "project__team")
        .filter(id=lesson_id)
        .first()
    )
    if found is None:
        raise NotFound
    require(actor, Permission.LIBRARY_READ, found)
    return found


def alike_lessons(actor: Actor, lesson: Lesson) -> "QuerySet[Lesson]":
    """Return the project's other lessons on the same kind of error."""
    same = Lesson.objects.visible_to(actor).filter(
        project_id=lesson.project_id, fingerprint=lesson.fingerprint
    )
    return same.exclude(id=lesson.id)


def run_behind(actor: Actor, run_id: UUID | None) -> Run | None:
    """Return the run that a report or lesson names; None where it names none. Raises NotFound for an unseen one."""
    if run_id is None:
        return None
    found = Run.objects.visible_to(actor).filter(id=run_id).first()
    if found is None:
        raise NotFound("There is no such run.")
    return found


def evidence_of(actor: Actor, solution: Solution) -> "QuerySet[Evidence]":
    """Return all evidence on a solution's revisions, newest first, superseded ones included."""
    return (
        Evidence.objects.visible_to(actor)
        .filter(revision__solution=solution)
        .select_related("revision", "user", "run", "superseded_by")
    )


def links_of(actor: Actor, solution: Solution) -> "QuerySet[Link]":
    """Return the links that start or end at a solution."""
    return (
        Link.objects.visible_to(actor)
        .filter(Q(source=solution) | Q(target=solution))
        .select_related("source", "target", "target_lesson")
        .order_by("id")
    )


def check_files(actor: Actor, solution: Solution) -> "QuerySet[CheckInput]":
    """Return the files that a solution's checks read, by name."""
    return CheckInput.objects.visible_to(actor).filter(solution=solution).order_by("name")


def tag_counts(actor: Actor, project: Project) -> list[tuple[str, int]]:
    """Return the tags in use in a project with how many solutions carry each, most used first."""
    rows = (
        Solution.objects.visible_to(actor)
        .filter(project=project, archived_at=None)
        .values_list("tags", flat=True)
    )
    return Counter(tag for tags in rows for tag in tags).most_common()


def qualities_of_revisions(actor: Actor, revision_ids: Iterable[UUID]) -> dict[UUID, Quality]:
    """Return the quality of each of these revisions, in one query; NO_EVIDENCE where there is none."""
    return _qualities(actor, "revision", list(revision_ids))


def qualities_of_lessons(actor: Actor, lesson_ids: Iterable[UUID]) -> dict[UUID, Quality]:
    """Return the quality of each of these lessons, in one query; NO_EVIDENCE where there is none."""
    return _qualities(actor, "lesson", list(lesson_ids))


def _qualities(actor: Actor, subject: str, ids: list[UUID]) -> dict[UUID, Quality]:
    column = f"{subject}_id"
    rows = (
        Evidence.objects.visible_to(actor)
        .filter(**{f"{column}__in": ids}, superseded_by=None)
        # The author's own stars are shown, and count for nothing.
        .exclude(kind=Evidence.Kind.RATED, detail__own_work=True)
        .order_by()
        .values(column, "kind")
        .annotate(
            success=Count("id", filter=Q(outcome=Evidence.Outcome.SUCCESS)),
            failure=Count("id", filter=Q(outcome=Evidence.Outcome.FAILURE)),
            not_applicable=Count("id", filter=Q(outcome=Evidence.Outcome.NOT_APPLICABLE)),
        )
    )
    seen: defaultdict[UUID, list[Observations]] = defaultdict(list)
    for row in rows:
        seen[row[column]].append(
            Observations(row["kind"], row["success"], row["failure"], row["not_applicable"])
        )
    return {item: quality_of(seen[item]) if item in seen else NO_EVIDENCE for item in ids}


def helpers_of(revision: Revision) -> list[Revision]:
    """Return the served revisions of the solutions that this one's code calls by name (depends_on), to be defined first.

    A helper that was rejected or archived since is left out: the check then fails and says which name is missing.
    """
    if not revision.depends_on:
        return []
    links = Link.objects.filter(
        source_id=revision.solution_id,
        kind=Link.Kind.DEPENDS_ON,
        target__isnull=False,
        target__archived_at=None,
    ).select_related("target__approved_revision", "target__latest_revision")
    served = [served_revision(link.target) for link in links if link.target is not None]
    unusable = (Revision.Status.REJECTED, Revision.Status.DEPRECATED)
    return [
        item for item in served if item.entry_point in revision.depends_on and item.status not in unusable
    ]

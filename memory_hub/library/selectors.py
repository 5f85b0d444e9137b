"""Reads of the library room. Everything goes through visible_to(actor)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from uuid import UUID

from django.db.models import Q, QuerySet

from memory_hub.access.actor import SYSTEM, Actor
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.common.errors import NotFound
from memory_hub.runs.models import Run

from .evidence_counts import observations
from .models import MERGED, CheckInput, Evidence, Lesson, Link, Revision, Solution
from .quality import NO_EVIDENCE, Quality, quality_of


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


def qualities_of_revisions(
    actor: Actor, revision_ids: Iterable[UUID], *, merged: Mapping[UUID, UUID] | None = None
) -> dict[UUID, Quality]:
    """Return the quality of each of these revisions, NO_EVIDENCE where there is none.

    merged: the solutions that were merged into theirs, each with the one that stands for it; read where it is not
    given. Evidence on their identical code counts here, too.
    """
    ids = list(revision_ids)
    into = _merged_into(actor, ids) if merged is None else merged
    return _qualities(actor, "revision", {item: item for item in ids} | _twins(actor, ids, into))


def qualities_of_lessons(actor: Actor, lesson_ids: Iterable[UUID]) -> dict[UUID, Quality]:
    """Return the quality of each of these lessons, in one query; NO_EVIDENCE where there is none."""
    return _qualities(actor, "lesson", {item: item for item in lesson_ids})


def _qualities(actor: Actor, subject: str, counts_for: Mapping[UUID, UUID]) -> dict[UUID, Quality]:
    """counts_for: each revision or lesson whose evidence is read, with the one for which it counts."""
    seen = observations(actor, subject, counts_for)
    return {
        item: quality_of(seen[item]) if item in seen else NO_EVIDENCE for item in set(counts_for.values())
    }


def _merged_into(actor: Actor, ids: list[UUID]) -> dict[UUID, UUID]:
    """Return the solutions that were merged into those of these revisions, each with the one that stands for it."""
    merged = Link.objects.visible_to(actor).filter(
        kind=Link.Kind.DUPLICATE_OF, target__in=Revision.objects.filter(id__in=ids).values("solution_id")
    )
    return {source: target for source, target in merged.values_list("source_id", "target_id") if target}


def _twins(actor: Actor, ids: list[UUID], into: Mapping[UUID, UUID]) -> dict[UUID, UUID]:
    """Return the revisions with identical code of solutions that were merged, each with the one it counts for."""
    if not into:
        return {}
    standing = {
        (row.solution_id, row.ast_hash): row.id
        for row in Revision.objects.filter(id__in=ids).only("solution_id", "ast_hash")
    }
    twins = Revision.objects.visible_to(actor).filter(solution__in=into).exclude(ast_hash="")
    return {
        row.id: standing[into[row.solution_id], row.ast_hash]
        for row in twins.only("solution_id", "ast_hash")
        if (into[row.solution_id], row.ast_hash) in standing
    }


def helpers_of(revision: Revision) -> list[Revision]:
    """Return the served revisions of the solutions that this one's code calls by name (depends_on), to be defined first.

    Where a helper was merged away, the function of that name in the solution that stands for it now, or else its own.
    One that was rejected or archived since is left out: the check then fails and says which name is missing.
    """
    if not revision.depends_on:
        return []
    links = Link.objects.filter(
        source_id=revision.solution_id, kind=Link.Kind.DEPENDS_ON, target__isnull=False
    ).select_related("target__approved_revision", "target__latest_revision")
    served = [_helper(link.target, revision.depends_on) for link in links.order_by("id") if link.target]
    unusable = (Revision.Status.REJECTED, Revision.Status.DEPRECATED)
    by_name = {item.entry_point: item for item in served if item and item.status not in unusable}
    return [by_name[name] for name in revision.depends_on if name in by_name]


def _helper(target: Solution, names: list[str]) -> Revision | None:
    if target.archived_at is None:
        found = served_revision(target)
        return found if found.entry_point in names else None
    survivor = survivors(SYSTEM, [target.id]).get(target.id)
    if survivor is None:
        return None
    own, now_standing = served_revision(target), served_revision(survivor)
    return now_standing if now_standing.entry_point == own.entry_point else own


def survivors(actor: Actor, solution_ids: Iterable[UUID]) -> dict[UUID, Solution]:
    """Return, for those of these solutions that were merged away, the one that stands for each now."""
    wanted = set(solution_ids)
    into: dict[UUID, UUID] = {}
    asked = wanted
    while asked:
        links = Link.objects.visible_to(actor).filter(
            kind=Link.Kind.DUPLICATE_OF, reason=MERGED, source__in=asked, target__isnull=False
        )
        found = {source: target for source, target in links.values_list("source_id", "target_id") if target}
        asked = set(found.values()) - set(into)
        into |= found
    rows = (
        Solution.objects.visible_to(actor)
        .select_related("approved_revision", "latest_revision", "project__team")
        .in_bulk(_end(into, item) for item in wanted if item in into)
    )
    return {item: rows[_end(into, item)] for item in wanted if item in into and _end(into, item) in rows}


def _end(into: dict[UUID, UUID], item: UUID) -> UUID:
    seen = set()
    while item in into and item not in seen:
        seen.add(item)
        item = into[item]
    return item

"""Links: edges of the memory graph, added by people and drawn by the hub from what it sees.

The hub draws (each once, however often it looks; README of the kinds in docs/glossary.md):

* alternative_to: other code for the same problem, when it is proposed.
* related: the same code for another problem, when it is proposed.
* depends_on: the code calls a function that another solution of the project is the entry point of.
* derived_from: captured from a run that used the other.
* resolves: from a solution to a lesson of the same run.
* supersedes: approved for the same problem after the other was retired; or the other was merged into it.
* duplicate_of: merged into the other (review.merges). conflicts_with: see conflicts.py.
"""

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import F, Q, QuerySet

from memory_hub.access.actor import Actor
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.audit.events import Event
from memory_hub.common.errors import InvalidInput, NotFound
from memory_hub.library.code_identity import called_names
from memory_hub.library.models import MERGED, Lesson, Link, Revision, Solution

from .rows import record_about

SAME_PROBLEM = "Other code for the same problem"
SAME_CODE = "The same code for another problem"
CALLED = "Its code calls {name}"
USED_IN_RUN = "Found in a run that used it"
REPLACED = "Approved for the same problem after the other was retired"
# One problem may be solved, and one program be written, very often: the graph stays readable, and one hop further
# the others are found.
_MAX_ALTERNATIVES = 5
_MAX_RELATED = 3
_MAX_HELPERS = 20


def link_add(
    *,
    actor: Actor,
    kind: str,
    source: Solution,
    target: Solution | None = None,
    target_lesson: Lesson | None = None,
    reason: str = "",
) -> Link:
    """Link a solution to another, or to a lesson, of the same project; returns the link that is there already."""
    require(actor, Permission.SOLUTION_EDIT, source)
    end = target or target_lesson
    if end is None or (target is not None and target_lesson is not None):
        raise ValueError("a link leads to one solution or to one lesson")
    if end.project_id != source.project_id:
        raise NotFound
    if kind not in Link.Kind.values:
        message = f"“{kind}” is no kind of link; use one of {', '.join(Link.Kind.values)}."
        raise InvalidInput(message, fields={"kind": message})
    if target is not None and target.id == source.id:
        raise InvalidInput("A solution cannot be linked to itself.")
    link, created = Link.objects.get_or_create(
        kind=kind,
        source=source,
        target=target,
        target_lesson=target_lesson,
        defaults={"team_id": source.team_id, "project_id": source.project_id, "reason": reason},
    )
    if created:
        record_about(actor, Event.LINK_ADDED, source, {"kind": kind, "target": str(end.id)})
    return link


def links_draw(
    *, kind: str, source: Solution, targets: Iterable[UUID], reason: str, to_lessons: bool = False
) -> None:
    """Draw links from a solution as a part of a service that records the audit event; those there are stay."""
    end = "target_lesson_id" if to_lessons else "target_id"
    Link.objects.bulk_create(
        [
            Link(
                team_id=source.team_id,
                project_id=source.project_id,
                kind=kind,
                source=source,
                reason=reason,
                **{end: target},
            )
            for target in dict.fromkeys(targets)
            if target != source.id
        ],
        ignore_conflicts=True,
    )


def links_after_proposal(*, solution: Solution, revision: Revision) -> None:
    """Link a new solution to others on the same problem, and to those with the same code for other problems."""
    others = Solution.objects.filter(project_id=solution.project_id, archived_at=None).exclude(id=solution.id)
    same_problem = others.filter(problem_hash=solution.problem_hash).order_by(
        F("approved_revision_id").asc(nulls_last=True), "id"
    )
    _draw(Link.Kind.ALTERNATIVE_TO, solution, same_problem, _MAX_ALTERNATIVES, SAME_PROBLEM)
    same_code = others.exclude(problem_hash=solution.problem_hash).filter(
        id__in=Revision.objects.filter(ast_hash=revision.ast_hash).values("solution_id")
    )
    _draw(Link.Kind.RELATED, solution, same_code.order_by("id"), _MAX_RELATED, SAME_CODE)


def links_to_helpers(*, solution: Solution, helpers: Sequence[Revision]) -> None:
    """Draw depends_on to the solutions of these revisions, whose functions the solution's code calls."""
    for helper in helpers:
        reason = CALLED.format(name=helper.entry_point)
        links_draw(kind=Link.Kind.DEPENDS_ON, source=solution, targets=[helper.solution_id], reason=reason)


def called_helpers(
    *, project_id: UUID, code: str, author_id: UUID | None, besides: UUID | None = None
) -> list[Revision]:
    """Return the revisions whose entry points the code calls and does not define itself, one for each name.

    An approved one; where there is none, the author's own undecided one, so that nobody's unreviewed code gets into
    the program of another. A name that several could stand for is left alone: a guess would be run.
    """
    names = called_names(code)[:_MAX_HELPERS]
    if not names:
        return []
    approved = Q(solution__approved_revision_id=F("id"))
    own = Q(
        solution__approved_revision=None,
        solution__latest_revision_id=F("id"),
        solution__author_id=author_id,
        status=Revision.Status.CANDIDATE,
    )
    rows = (
        Revision.objects.filter(approved | own if author_id else approved)
        .filter(project_id=project_id, entry_point__in=names, solution__archived_at=None)
        .exclude(solution=besides)
        .only("id", "solution_id", "entry_point", "status")
        .order_by("id")
    )
    by_name: dict[str, list[Revision]] = {}
    for row in rows:
        by_name.setdefault(row.entry_point, []).append(row)
    found = []
    for name in names:
        candidates = by_name.get(name, [])
        served = [row for row in candidates if row.status == Revision.Status.APPROVED] or candidates
        if len(served) == 1:
            found.append(served[0])
    return found


def links_after_run(*, solution: Solution, used_revisions: Iterable[UUID]) -> None:
    """Draw derived_from to the solutions of the project whose revisions the run that found this one had used."""
    used = Revision.objects.filter(id__in=list(used_revisions), project_id=solution.project_id)
    links_draw(
        kind=Link.Kind.DERIVED_FROM,
        source=solution,
        targets=used.order_by("id").values_list("solution_id", flat=True),
        reason=USED_IN_RUN,
    )


def links_after_decision(*, solution: Solution) -> None:
    """Draw supersedes between solutions of one problem, of which one is retired and another approved.

    A solution that is approved again is not superseded any more. Call after the decision is written.
    """
    peers = Solution.objects.filter(
        project_id=solution.project_id, problem_hash=solution.problem_hash, archived_at=None
    ).exclude(id=solution.id)
    if not solution.problem_hash:
        return
    if solution.approved_revision_id:
        Link.objects.filter(kind=Link.Kind.SUPERSEDES, target=solution, reason=REPLACED).delete()
        retired = peers.filter(
            approved_revision=None, revisions__status=Revision.Status.DEPRECATED
        ).values_list("id", flat=True)
        links_draw(kind=Link.Kind.SUPERSEDES, source=solution, targets=retired, reason=REPLACED)
    elif solution.revisions.filter(status=Revision.Status.DEPRECATED).exists():
        successor = peers.filter(approved_revision__isnull=False).order_by("-id").first()
        if successor is not None:
            links_draw(kind=Link.Kind.SUPERSEDES, source=successor, targets=[solution.id], reason=REPLACED)


def links_after_merge(*, merged: Solution, survivor: Solution) -> None:
    """Lead from a merged solution to the one that stands for it, and back."""
    links_draw(kind=Link.Kind.DUPLICATE_OF, source=merged, targets=[survivor.id], reason=MERGED)
    links_draw(kind=Link.Kind.SUPERSEDES, source=survivor, targets=[merged.id], reason=MERGED)


def links_undo_merge(*, merged: Solution) -> bool:
    """Remove what links_after_merge drew; returns whether the solution had been merged."""
    count, _ = Link.objects.filter(
        Q(kind=Link.Kind.DUPLICATE_OF, source=merged) | Q(kind=Link.Kind.SUPERSEDES, target=merged),
        reason=MERGED,
    ).delete()
    return bool(count)


def _draw(kind: str, source: Solution, rows: "QuerySet[Solution]", limit: int, reason: str) -> None:
    targets = rows.values_list("id", flat=True)[:limit]
    links_draw(kind=kind, source=source, targets=targets, reason=reason)

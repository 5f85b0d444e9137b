"""Which revision of a found solution an agent may be offered, and with what signals."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project, RecallPolicy
from memory_hub.library.graph import links_at
from memory_hub.library.models import Link, Revision, Solution
from memory_hub.library.selectors import qualities_of_revisions

from .ranking import Scored, matched_terms, rank_value, reason_of
from .snippets import snippet
from .statements import statement_of
from .values import OfferedItem
from .worth import Place, worth_of, worth_parts

_REVISION_FIELDS = (
    "solution", "status", "verification", "entry_point", "signature", "depends_on", "code", "usage_example", "author_run",
)  # fmt: skip
_OFFERED_FIELDS = (
    "project", "title", "problem", "kind", "applies_when", "edge_cases", "failed_alternatives", "environment",
    "input_profile", "archived_at",
    *(f"{which}_revision__{name}" for which in ("approved", "latest") for name in _REVISION_FIELDS),
)  # fmt: skip
# So many more candidates than are wanted are read at once: worth seldom lifts one from further below.
_READ_BEYOND = 5


def offered_revision(solution: Solution, policy: str) -> Revision | None:
    """Return what recall serves of a solution under a project's policy, or None.

    An approved revision always; else, where the policy allows, the latest one while it is an undecided candidate
    whose check passed. Rejected, deprecated and archived work is never served.
    """
    if solution.archived_at is not None:
        return None
    approved = solution.approved_revision
    if approved is not None and approved.status == Revision.Status.APPROVED:
        return approved
    latest = solution.latest_revision
    if (
        policy == RecallPolicy.APPROVED_AND_VERIFIED
        and latest is not None
        and latest.status == Revision.Status.CANDIDATE
        and latest.verification == Revision.Verification.PASSED
    ):
        return latest
    return None


def offers(
    actor: Actor,
    project: Project,
    scored: Sequence[Scored],
    *,
    filters: Mapping[str, Collection[str]],
    top_k: int,
    place: Place,
) -> list[OfferedItem]:
    """Return at least the best `top_k` that may be offered of these candidates (best first), in the order of relevance
    and, within it, worth.

    filters: what a revision must be, by "kind", "status" or "verification". Candidates are read a few at a time, until
    worth could not lift any further one among the best. place: where it is to be used.
    """
    served: list[_Served] = []
    at_once = top_k + _READ_BEYOND
    for start in range(0, len(scored), at_once):
        few = scored[start : start + at_once]
        best = sorted((item.value for item in served), reverse=True)
        if len(best) >= top_k and best[top_k - 1] >= rank_value(few[0].score, 1.0):
            break
        served += _served(actor, project, few, filters, place)
    relevance = {item.revision.id: rank for rank, item in enumerate(served, start=1)}
    served.sort(key=lambda item: -item.value)
    served = _with_successors(actor, project, served, filters, place, top_k)
    return [
        _item(rank, item, None if item.is_successor else relevance[item.revision.id])
        for rank, item in enumerate(served, start=1)
    ]


@dataclass(frozen=True, slots=True)
class _Served:
    found: Scored
    solution: Solution
    revision: Revision
    worth_parts: Mapping[str, float]
    reason: str
    newer_ids: Sequence[UUID] = ()  # of the solutions that supersede it
    is_successor: bool = False

    @property
    def value(self) -> float:
        return rank_value(self.found.score, worth_of(self.worth_parts))


def _served(
    actor: Actor,
    project: Project,
    scored: Sequence[Scored],
    filters: Mapping[str, Collection[str]],
    place: Place,
) -> list[_Served]:
    solutions = _visible(actor, project, [item.candidate.solution_id for item in scored])
    chosen: list[tuple[Scored, Solution, Revision]] = []
    for item in scored:
        solution = solutions.get(item.candidate.solution_id) if item.candidate.solution_id else None
        revision = offered_revision(solution, project.recall_policy) if solution else None
        if solution is not None and revision is not None and _passes(solution, revision, filters):
            chosen.append((item, solution, revision))
    links = links_at(
        actor, [solution.id for _, solution, _ in chosen], [Link.Kind.SUPERSEDES, Link.Kind.DUPLICATE_OF]
    )
    merged = {link.source_id: link.target_id for link in links if link.kind == Link.Kind.DUPLICATE_OF}
    qualities = qualities_of_revisions(actor, [revision.id for _, _, revision in chosen], merged=merged)
    return [
        _Served(
            item,
            solution,
            revision,
            worth_parts(solution, revision, qualities[revision.id], place),
            reason_of(item),
            [
                link.source_id
                for link in links
                if link.kind == Link.Kind.SUPERSEDES and link.target_id == solution.id
            ],
        )
        for item, solution, revision in chosen
    ]


def _with_successors(
    actor: Actor,
    project: Project,
    served: Sequence[_Served],
    filters: Mapping[str, Collection[str]],
    place: Place,
    top_k: int,
) -> list[_Served]:
    """Put what supersedes one of the best before it: whoever finds the old one is led to the new one."""
    newer = [solution_id for item in served[:top_k] for solution_id in item.newer_ids]
    solutions = _visible(actor, project, newer) if newer else {}
    found: dict[UUID, _Served] = {}
    for item in served:
        for successor in (solutions[each] for each in item.newer_ids if each in solutions):
            revision = offered_revision(successor, project.recall_policy)
            if revision and _passes(successor, revision, filters):
                quality = qualities_of_revisions(actor, [revision.id])[revision.id]
                parts = worth_parts(successor, revision, quality, place)
                reason = f"Supersedes “{item.solution.title}”."
                found.setdefault(
                    successor.id, _Served(item.found, successor, revision, parts, reason, is_successor=True)
                )
        found.setdefault(item.solution.id, item)
    return list(found.values())


def _passes(solution: Solution, revision: Revision, filters: Mapping[str, Collection[str]]) -> bool:
    said = {"kind": solution.kind, "status": revision.status, "verification": revision.verification}
    return all(said[name] in wanted for name, wanted in filters.items())


def _visible(actor: Actor, project: Project, ids: Iterable[UUID | None]) -> dict[UUID, Solution]:
    """Return these of the project's solutions with as much of them and their two revisions as is offered."""
    rows = (
        Solution.objects.visible_to(actor)
        .filter(project=project, id__in=[item for item in ids if item is not None])
        .select_related("approved_revision", "latest_revision")
        .only(*_OFFERED_FIELDS)
    )
    return {solution.id: solution for solution in rows}


def _item(rank: int, item: _Served, rank_without_worth: int | None) -> OfferedItem:
    found, solution, revision = item.found, item.solution, item.revision
    return OfferedItem(
        rank=rank,
        score=round(found.score, 4),
        rank_without_worth=rank_without_worth,
        score_parts=_rounded({**found.parts, "worth": worth_of(item.worth_parts)}),
        worth_parts=_rounded(item.worth_parts),
        matched_on=snippet(solution.problem, matched_terms(found)),
        reason=item.reason,
        solution_id=str(solution.id),
        revision_id=str(revision.id),
        title=solution.title,
        problem=solution.problem,
        statement=statement_of(solution),
        kind=solution.kind,
        status=revision.status,
        verification=revision.verification,
        entry_point=revision.entry_point,
        signature=revision.signature,
        depends_on=list(revision.depends_on),
        code=revision.code,
        usage_example=revision.usage_example,
        applies_when=solution.applies_when,
        edge_cases=list(solution.edge_cases),
        failed=[f"{item['exception_type']}: {item['message']}" for item in solution.failed_alternatives],
        run_id=str(revision.author_run_id) if revision.author_run_id else None,
    )


def _rounded(parts: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in parts.items()}

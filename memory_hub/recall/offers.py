"""Which revision of a found solution an agent may be offered, and with what signals."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project, RecallPolicy
from memory_hub.library.models import Revision, Solution
from memory_hub.library.selectors import qualities_of_revisions

from .ranking import Scored, rank_value, reason_of
from .statements import statement_of
from .values import OfferedItem

# What the two signals are worth, 0 to 1, before evidence speaks.
_STATUS_WORTH = {Revision.Status.APPROVED: 1.0, Revision.Status.CANDIDATE: 0.4}
_VERIFICATION_WORTH = {"passed": 1.0, "stale": 0.6, "unverified": 0.4, "failed": 0.0}
_NO_EVIDENCE_WORTH = 0.5


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


def offers(actor: Actor, project: Project, scored: Sequence[Scored]) -> list[OfferedItem]:
    """Return what may be offered of these candidates, in the order of relevance and, within it, worth."""
    solutions = _visible(actor, project, [item.candidate.solution_id for item in scored])
    served: list[tuple[Scored, Revision]] = []
    for item in scored:
        solution = solutions.get(item.candidate.solution_id) if item.candidate.solution_id else None
        revision = offered_revision(solution, project.recall_policy) if solution else None
        if revision is not None:
            served.append((item, revision))
    qualities = qualities_of_revisions(actor, [revision.id for _, revision in served])
    worths = {revision.id: _worth(revision, qualities[revision.id].score) for _, revision in served}
    served.sort(key=lambda pair: -rank_value(pair[0].score, worths[pair[1].id]))
    return [
        _item(rank, found, solutions[revision.solution_id], revision, worths[revision.id])
        for rank, (found, revision) in enumerate(served, start=1)
    ]


def _visible(actor: Actor, project: Project, ids: Iterable[UUID | None]) -> dict[UUID, Solution]:
    rows = (
        Solution.objects.visible_to(actor)
        .filter(project=project, id__in=[item for item in ids if item is not None])
        .select_related("approved_revision", "latest_revision")
    )
    return {solution.id: solution for solution in rows}


def _worth(revision: Revision, quality: float | None) -> float:
    parts = (
        _STATUS_WORTH.get(Revision.Status(revision.status), 0.0),
        _VERIFICATION_WORTH[revision.verification],
        _NO_EVIDENCE_WORTH if quality is None else quality,
    )
    return sum(parts) / len(parts)


def _item(rank: int, found: Scored, solution: Solution, revision: Revision, worth: float) -> OfferedItem:
    return OfferedItem(
        rank=rank,
        score=round(found.score, 4),
        score_parts={name: round(value, 4) for name, value in {**found.parts, "worth": worth}.items()},
        reason=reason_of(found),
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
        code=revision.code,
        usage_example=revision.usage_example,
        applies_when=solution.applies_when,
        edge_cases=list(solution.edge_cases),
        failed=[f"{item['exception_type']}: {item['message']}" for item in solution.failed_alternatives],
        run_id=str(revision.author_run_id) if revision.author_run_id else None,
    )

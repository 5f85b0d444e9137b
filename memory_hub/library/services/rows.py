"""What the services of the library share: the row as it is now, locked, and its entry in the audit trail."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from memory_hub.access.actor import Actor
from memory_hub.audit.events import Event
from memory_hub.audit.services import record
from memory_hub.common.errors import Conflict, NotFound
from memory_hub.library.models import Revision, Solution


def lock_solution(solution_id: UUID, *, to_delete: bool = False) -> Solution:
    """Return the row as it is now, locked until the transaction ends. Raises NotFound where it is gone.

    Unless it is to be deleted, others may go on drawing links to it: two transactions that each hold a solution and
    link it to the other's would wait for each other.
    """
    locked = Solution.objects.select_for_update(no_key=not to_delete).filter(id=solution_id).first()
    if locked is None:
        raise NotFound
    return locked


def lock_revision(revision: Revision) -> Revision:
    """Return the row as it is now, and its solution before it, locked until the transaction ends.

    Always in this order, so that no two services wait for each other. Raises NotFound where it is gone.
    """
    solution = lock_solution(revision.solution_id)
    locked = Revision.objects.select_for_update().filter(id=revision.id).first()
    if locked is None:
        raise NotFound
    locked.solution = solution
    return locked


def latest_of(solution: Solution) -> UUID:
    """Return the id of the latest revision; every solution has one from the transaction that made it."""
    if solution.latest_revision_id is None:
        raise NotFound
    return solution.latest_revision_id


def require_not_archived(solution: Solution) -> None:
    """Raise Conflict for an archived solution: it is put away, and nothing new is decided on it."""
    if solution.archived_at:
        raise Conflict("This solution is archived. Bring it back first.", code="archived")


def record_about(
    actor: Actor, event: Event, solution: Solution, data: Mapping[str, Any], label: str | None = None
) -> None:
    """Record an audit event about a solution."""
    record(
        actor=actor,
        event=event,
        object_kind="solution",
        object_id=solution.id,
        object_label=solution.title if label is None else label,
        team_id=solution.team_id,
        project_id=solution.project_id,
        data=dict(data),
    )


def record_about_revision(
    actor: Actor, event: Event, revision: Revision, data: Mapping[str, Any] | None = None
) -> None:
    """Record an audit event about a revision."""
    record(
        actor=actor,
        event=event,
        object_kind="revision",
        object_id=revision.id,
        object_label=f"{revision.solution.title}, revision {revision.number}",
        team_id=revision.team_id,
        project_id=revision.project_id,
        data={"solution": str(revision.solution_id), **(data or {})},
    )

"""What the tests of the library and of review start from: a proposed solution, by whoever."""

from typing import Any

from memory_hub.access.actor import Actor, acting_as, as_system
from memory_hub.access.models import Project, User
from memory_hub.access.permissions import Role, Scope
from memory_hub.access.policy import actor_for_run, actor_for_user
from memory_hub.library.drafts import NewSolution, Proposed
from memory_hub.library.models import Revision, Solution
from memory_hub.library.services.solutions import solution_propose
from memory_hub.library.services.verification import verification_record
from memory_hub.review.models import Review
from memory_hub.review.services import revision_approve
from memory_hub.runs.models import Run

CODE = 'def total(rows: list[dict]) -> int:\n    return sum(row["amount"] for row in rows)\n'
CHECK = {"args": [[{"amount": 2}, {"amount": 3}]], "kwargs": {}, "result": 5}


def draft(**changes: Any) -> NewSolution:
    """Return a good draft with some fields changed."""
    values: dict[str, Any] = {
        "title": "Add up the amounts",
        "problem": "Add up the amount of every row.",
        "code": CODE,
        "entry_point": "total",
        "check_spec": CHECK,
        "tags": ["CSV"],
        **changes,
    }
    return NewSolution(**values)


def propose(actor: Actor, project: Project, **changes: Any) -> Proposed:
    """Propose a solution as the actor, in a transaction of its own."""
    with acting_as(actor):
        return solution_propose(actor=actor, project=project, draft=draft(**changes))


def start_run(project: Project, starter: User) -> Run:
    """Return a run of the person, as the runs room would have started it."""
    with as_system():
        return Run.objects.create(
            team_id=project.team_id,
            project=project,
            starter=starter,
            role=Role.CONTRIBUTOR,
            scopes=[Scope.READ, Scope.RECALL, Scope.PROPOSE],
            origin=Run.Origin.DASHBOARD,
            task="Add up the amount of every row.",
        )


def run_actor(run: Run) -> Actor:
    """Return the run as an actor."""
    return actor_for_run(
        run_id=run.id,
        starter=run.starter,
        team_id=run.team_id,
        project_id=run.project_id,
        role=Role(run.role),
        scopes=[Scope(scope) for scope in run.scopes],
    )


def approve(person: User, revision: Revision, **more: Any) -> Review:
    """Approve as the person, with the rights they have now."""
    actor = actor_for_user(person)
    with acting_as(actor):
        return revision_approve(actor=actor, revision=revision, **more)


def verified(revision: Revision, *, passed: bool = True, sandbox: str = "bubblewrap") -> Revision:
    """Record the result of a check as the hub does."""
    with as_system() as hub:
        return verification_record(actor=hub, revision=revision, passed=passed, sandbox=sandbox)


def again(row: Any) -> Any:
    """Return the row as it is in the database now."""
    with as_system():
        return type(row).objects.get(id=row.id)


def exists(row: Solution | Revision | Any) -> bool:
    """Say whether the row is still there."""
    with as_system():
        return bool(type(row).objects.filter(id=row.id).exists())

"""What the tests of runs start from: a connection, a queued run, a worker that takes it and takes steps."""

from typing import Any

from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.models import Project, User
from memory_hub.access.policy import actor_for_user
from memory_hub.audit.models import AuditEntry
from memory_hub.runs.models import Connection, Run, RunEvent, Step
from memory_hub.runs.services import (
    RunEnd,
    StepData,
    connection_create,
    run_claim,
    run_end,
    run_start,
    step_append,
)

TASK = "Add up the TOTAL column by state."


def make_connection(project: Project, **changes: Any) -> Connection:
    """Return a rehearsal connection of the project, or another kind."""
    values = {"name": "Rehearsal", "kind": Connection.Kind.REHEARSAL, **changes}
    with as_system() as hub:
        return connection_create(actor=hub, project=project, **values)


def start(starter: User, connection: Connection, **changes: Any) -> Run:
    """Queue a run as the person, in a transaction of its own."""
    actor = actor_for_user(starter)
    values = {"task": TASK, "connection": connection, **changes}
    with acting_as(actor):
        return run_start(actor=actor, project=connection.project, **values)


def claimed(run: Run, holder: str = "worker-1") -> Run:
    """Take the run as a worker."""
    taken = run_claim(run_id=run.id, holder=holder)
    assert taken is not None
    return taken


def take_step(run: Run, number: int = 1, *, holder: str = "worker-1", **changes: Any) -> Step:
    """Write a step as the worker that holds the run."""
    values: dict[str, Any] = {
        "code": "print(1)",
        "observations": "1",
        "seconds": 0.2,
        "input_tokens": 100,
        "output_tokens": 20,
        **changes,
    }
    return step_append(run=run, holder=holder, step=StepData(number=number, **values))


def end(run: Run, state: Run.State = Run.State.SUCCEEDED, *, holder: str = "worker-1", **changes: Any) -> Run:
    """End the run as the worker that holds it."""
    ended = run_end(run_id=run.id, holder=holder, end=RunEnd(state=state, **changes))
    assert ended is not None
    return ended


def again(row: Any) -> Any:
    """Return the row as it is in the database now."""
    with as_system():
        return type(row).objects.get(id=row.id)


def log_of(run: Run) -> list[tuple[int, str]]:
    """Return the run's log as (sequence, kind)."""
    with as_system():
        return list(RunEvent.objects.filter(run=run).values_list("sequence", "kind"))


def data_of(run: Run, kind: str) -> dict[str, Any]:
    """Return the data of the one entry of this kind."""
    with as_system():
        return RunEvent.objects.get(run=run, kind=kind).data


def audited(run_or_connection: Any) -> list[str]:
    """Return the audit events about the object, oldest first."""
    with as_system():
        entries = AuditEntry.objects.filter(object_id=run_or_connection.id).order_by("id")
        return list(entries.values_list("event", flat=True))

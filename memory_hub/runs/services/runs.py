"""Runs as people and keys handle them: started, cancelled."""

from collections.abc import Sequence

from django.conf import settings

from memory_hub.access.actor import Actor, ActorKind
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission, Role, Scope
from memory_hub.access.policy import actor_for_run, require, role_in
from memory_hub.audit.events import Event
from memory_hub.audit.services import record
from memory_hub.common.clock import now
from memory_hub.common.errors import Conflict, InvalidInput, NotFound, PermissionDenied, SecretFound
from memory_hub.common.nudge import nudge
from memory_hub.common.text import first_sentence, storable
from memory_hub.runs.masking import findings
from memory_hub.runs.models import Connection, Run, RunEvent
from memory_hub.runs.values import UploadedInput

from .inputs import inputs_store, name_problem
from .log import append, lock_run, move

SANDBOXES = ("auto", "bubblewrap", "landlock")
MAX_STEPS = 50
MAX_TASK_CHARACTERS = 20_000
# What a run may do for itself; never to approve, and never to start another run.
RUN_SCOPES = frozenset({Scope.READ, Scope.RECALL, Scope.PROPOSE})


def run_start(
    *,
    actor: Actor,
    project: Project,
    task: str,
    connection: Connection,
    sandbox: str = "auto",
    memory_on: bool = True,
    max_steps: int = 8,
    time_limit_seconds: int = 300,
    inputs: Sequence[UploadedInput] = (),
    origin: Run.Origin = Run.Origin.DASHBOARD,
) -> Run:
    """Queue a run of an agent on a task. It acts for the actor's person, as contributor at most.

    Files are on disk when this returns. Raises InvalidInput naming each field at fault, SecretFound for a key in the
    task, TooLarge for a file, PermissionDenied without run:start.
    """
    require(actor, Permission.RUN_START, project)
    require(actor, Permission.CONNECTION_USE, project)
    if actor.user_id is None:
        raise PermissionDenied("A run is started by a person, or by a key of a person.")
    task = storable(task).strip()
    _require_valid(task, sandbox, max_steps, time_limit_seconds, inputs)
    _require_usable(connection, project)
    held = role_in(actor, project)
    assert held is not None  # require() above
    run = Run(
        team_id=project.team_id,
        project=project,
        starter_id=actor.user_id,
        started_with_key_id=actor.through_id if actor.kind is ActorKind.KEY else None,
        role=Role.CONTRIBUTOR.at_most(held),
        scopes=sorted(RUN_SCOPES if actor.scopes is None else RUN_SCOPES & actor.scopes),
        origin=origin,
        task=task,
        connection=connection,
        model_label=connection.model_label,
        sandbox=sandbox,
        memory_on=memory_on,
        max_steps=max_steps,
        time_limit_seconds=time_limit_seconds,
    )
    run.save(force_insert=True)
    inputs_store(run=run, uploads=inputs)
    append(run, RunEvent.Kind.QUEUED, {"inputs": [item.name for item in inputs]})
    record(
        actor=actor, event=Event.RUN_STARTED, object_kind="run", object_id=run.id, object_label=first_sentence(task),
        team_id=run.team_id, project_id=run.project_id,
        data={
            "connection": connection.name, "sandbox": sandbox, "memory": memory_on, "max_steps": max_steps,
            "time_limit_seconds": time_limit_seconds, "inputs": len(inputs),
        },
    )  # fmt: skip
    nudge("agents_runner.execute_run", run.id)
    return run


def run_cancel(*, actor: Actor, run: Run) -> Run:
    """End a queued run at once; ask a running one to end, which its engine does within about two seconds.

    Who started it may, as contributor; maintainers may for any. Asking twice changes nothing. Raises Conflict (code
    run_ended) for a run that has ended.
    """
    own = actor.user_id is not None and run.starter_id == actor.user_id
    require(actor, Permission.RUN_START if own else Permission.RUN_CANCEL_ANY, run)
    locked = lock_run(run.id)
    if locked is None:
        raise NotFound
    if locked.has_ended:
        raise Conflict(f"This run has ended already ({locked.state}).", code="run_ended")
    if locked.cancel_requested_at is not None:
        return locked
    who = {"by": str(actor.user_id or "")}
    locked.cancel_requested_at = now()
    if locked.state == Run.State.QUEUED:
        move(locked, Run.State.CANCELLED)
        locked.reason = "Cancelled before it began."
        locked.capture = Run.Capture.DONE  # it learnt nothing
        locked.save(update_fields=["state", "cancel_requested_at", "reason", "ended_at", "capture"])
        append(locked, RunEvent.Kind.ENDED, {"state": locked.state, "reason": locked.reason, **who})
    else:
        locked.save(update_fields=["cancel_requested_at"])
        append(locked, RunEvent.Kind.CANCEL_REQUESTED, who)
    record(
        actor=actor, event=Event.RUN_CANCELLED, object_kind="run", object_id=run.id,
        object_label=first_sentence(run.task), team_id=run.team_id, project_id=run.project_id,
    )  # fmt: skip
    return locked


def actor_of_run(run: Run) -> Actor:
    """Return the run as an actor: its starter's rights of this moment, at most its role, only its scopes."""
    return actor_for_run(
        run_id=run.id,
        starter=run.starter,
        team_id=run.team_id,
        project_id=run.project_id,
        role=Role(run.role),
        scopes=[Scope(scope) for scope in run.scopes],
    )


def _require_usable(connection: Connection, project: Project) -> None:
    if connection.project_id != project.id or connection.retired_at is not None:
        message = "Choose a connection of this project that is in use."
        raise InvalidInput(message, fields={"connection": message})


def _require_valid(
    task: str, sandbox: str, max_steps: int, time_limit_seconds: int, inputs: Sequence[UploadedInput]
) -> None:
    fields: dict[str, str] = {}
    if not task:
        fields["task"] = "Say in words what the agent shall do."
    elif len(task) > MAX_TASK_CHARACTERS:
        fields["task"] = f"Keep the task below {MAX_TASK_CHARACTERS:,} characters; put data into a file."
    if sandbox not in SANDBOXES:
        fields["sandbox"] = f"Choose one of {', '.join(SANDBOXES)}."
    if not 1 <= max_steps <= MAX_STEPS:
        fields["max_steps"] = f"Allow from 1 to {MAX_STEPS} steps."
    if not 1 <= time_limit_seconds <= settings.RUN_MAX_SECONDS:
        fields["time_limit_seconds"] = f"Allow from 1 to {settings.RUN_MAX_SECONDS} seconds."
    if problem := name_problem([item.name for item in inputs]):
        fields["inputs"] = problem
    if fields:
        raise InvalidInput(next(iter(fields.values())), fields=fields)
    if found := findings(task):
        message = f"Line {found[0].line} seems to hold a secret ({found[0].kind}). Take it out: a model will read this."
        raise SecretFound(
            message,
            findings=[{"field": "task", "line": item.line, "kind": item.kind} for item in found],
            fields={"task": message},
        )

"""The rows every service of this room moves: a locked run, its next state, and the next entry of its log."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from memory_hub.common.clock import now
from memory_hub.common.errors import Conflict, Unavailable
from memory_hub.common.transitions import require_transition
from memory_hub.runs.channel import publish
from memory_hub.runs.masking import mask_json
from memory_hub.runs.models import Run, RunEvent, Step
from memory_hub.runs.secrets import decrypt, worth_masking
from memory_hub.runs.states import RUN_TRANSITIONS


class LeaseLost(Conflict):
    """This worker may no longer write to the run: it was ended without it."""

    code = "lease_lost"


def lock_run(run_id: UUID) -> Run | None:
    """Return the run, locked until the transaction ends, with what its services need; None where it is gone."""
    return _locked(run_id, "project__team", "connection", "starter")


def lock_held_run(run_id: UUID, holder: str) -> Run:
    """Return the run, locked, with its connection. Raises LeaseLost unless it is running in the hands of `holder`."""
    run = _locked(run_id, "connection")  # for each step: no more than a step needs
    if run is None or run.state != Run.State.RUNNING or run.lease_holder != holder:
        raise LeaseLost("This run was ended by the hub, since its worker had stopped answering.")
    return run


def _locked(run_id: UUID, *related: str) -> Run | None:
    found = Run.objects.select_for_update(of=("self",)).select_related(*related).filter(id=run_id)
    return next(iter(found), None)


def move(run: Run, state: str) -> None:
    """Set the state of a locked run, if the table of states allows it; the caller saves it."""
    require_transition(RUN_TRANSITIONS, run.state, state, "run")
    run.state = state
    if run.has_ended:
        run.ended_at = now()
        run.lease_holder, run.lease_until = "", None


def append(
    run: Run,
    kind: RunEvent.Kind,
    data: Mapping[str, Any] | None = None,
    *,
    step: Step | None = None,
    changed: Sequence[str] = (),
) -> RunEvent:
    """Add the next entry to the log of a locked run. Sequences begin at 1 and have no gaps.

    changed: fields of the run that are saved along, for one statement less in each step.
    """
    run.last_sequence += 1
    run.save(update_fields=["last_sequence", *changed])
    event = RunEvent.objects.create(
        team_id=run.team_id,
        project_id=run.project_id,
        run=run,
        sequence=run.last_sequence,
        kind=kind,
        step=step,
        data=mask_json(dict(data or {})),
    )
    publish(run.id)
    return event


def known_secrets(run: Run) -> tuple[str, ...]:
    """Return the key of the run's connection, which must not be read anywhere."""
    connection = run.connection
    if connection is None or not connection.encrypted_secret:
        return ()
    try:
        key = decrypt(connection.encrypted_secret)
    except Unavailable:  # no worker could have read it either, and a run must end whatever happens
        return ()
    return (key,) if worth_masking(key) else ()

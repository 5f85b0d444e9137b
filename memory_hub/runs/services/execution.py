"""A run in the hands of a worker: claimed under a lease, renewed, prepared, ended. Each is its own short transaction."""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings

from memory_hub.access.actor import as_system
from memory_hub.access.permissions import Role
from memory_hub.access.policy import role_in
from memory_hub.audit.events import Event
from memory_hub.audit.services import record
from memory_hub.common.clock import now
from memory_hub.common.nudge import nudge
from memory_hub.common.text import first_sentence, storable
from memory_hub.runs.masking import mask, mask_json
from memory_hub.runs.models import Run, RunEvent
from memory_hub.runs.values import RunEnd, RunSignal

from .log import append, known_secrets, lock_held_run, lock_run, move
from .runs import actor_of_run
from .steps import clipped

logger = logging.getLogger(__name__)

LOST_REASON = "Its worker stopped answering. What it had shown until then is kept."


def run_claim(*, run_id: UUID, holder: str) -> Run | None:
    """Take a queued run: it is running from now on, and only `holder` may write to it while its lease lasts.

    Returns None where there is nothing to do: gone, ended, or running elsewhere. A running run whose lease has
    expired is ended as lost, never executed again. The run comes with its project, team, connection (None where it
    was retired), starter and input files loaded, so that they can be read outside of a transaction.
    """
    with as_system():
        run = lock_run(run_id)
        if run is None or run.has_ended:
            return None
        if run.state == Run.State.RUNNING:
            end_if_lost(run)
            return None
        if not _may_run(run):
            finish(
                run,
                RunEnd(state=Run.State.FAILED, reason="Who started this run may no longer start runs here."),
            )
            return None
        move(run, Run.State.RUNNING)
        run.lease_holder, run.lease_until, run.started_at = holder, _lease_end(), now()
        run.save(update_fields=["state", "lease_holder", "lease_until", "started_at"])
        append(run, RunEvent.Kind.STARTED)
        claimed = (
            Run.objects.select_related("project__team", "connection", "starter")
            .prefetch_related("inputs")
            .get(id=run.id)
        )
        if claimed.connection is not None and claimed.connection.retired_at is not None:
            claimed.connection = None
        return claimed


def run_renew(*, run_id: UUID, holder: str) -> RunSignal:
    """Prolong the lease, and say whether the run shall end: cancelled, taken away, or its starter's right withdrawn.

    A lease that has expired is still prolonged as long as nobody ended the run because of it.
    """
    with as_system():
        run = lock_run(run_id)
        if run is None or run.state != Run.State.RUNNING or run.lease_holder != holder:
            return RunSignal(cancel_requested=False, lease_lost=True)
        run.lease_until = _lease_end()
        run.save(update_fields=["lease_until"])
        return RunSignal(
            cancel_requested=run.cancel_requested_at is not None,
            lease_lost=False,
            right_lost=not _may_run(run),
        )


def run_prepared(*, run: Run, sandbox: str, environment: Mapping[str, Any]) -> None:
    """Note in which sandbox and with which versions the run works, once both are known. Changes `run` as well.

    Raises LeaseLost where the run was ended meanwhile.
    """
    with as_system():
        locked = lock_held_run(run.id, run.lease_holder)
        locked.sandbox_used, locked.environment = sandbox, mask_json(dict(environment))
        locked.save(update_fields=["sandbox_used", "environment"])
        append(locked, RunEvent.Kind.PREPARED, {"sandbox": sandbox, "environment": locked.environment})
    run.sandbox_used, run.environment = locked.sandbox_used, locked.environment


def run_end(*, run_id: UUID, holder: str, end: RunEnd) -> Run | None:
    """End the run and ask for what it learnt to be captured. Texts are masked.

    A run that was ended without its worker (lost) stays as it is; returns the run as it is then, None where it is gone.
    """
    with as_system():
        run = lock_run(run_id)
        if run is None:
            return None
        if run.state != Run.State.RUNNING or run.lease_holder != holder:
            logger.warning(
                "Run %s is %s already; its worker's end (%s) comes too late", run_id, run.state, end.state
            )
            return run
        finish(run, end)
        return run


def end_if_lost(run: Run) -> bool:
    """End a locked running run as lost where its lease has expired; say whether it was."""
    if run.state != Run.State.RUNNING or run.lease_until is None or run.lease_until > now():
        return False
    finish(run, RunEnd(state=Run.State.LOST, reason=LOST_REASON))
    return True


def finish(run: Run, end: RunEnd) -> None:
    """Write the end of a locked run."""
    secrets = known_secrets(run)
    move(run, end.state)
    run.answer = mask(clipped(storable(end.answer)), secrets)[0]
    run.reason = mask(storable(end.reason), secrets)[0]
    run.final_call = mask_json(end.final_call, secrets) if end.final_call is not None else None
    run.metrics = mask_json(list(end.metrics))
    if end.environment is not None:
        run.environment = mask_json(dict(end.environment))
    run.memory_use = memory_use_of(end)
    if end.input_tokens is not None:
        run.input_tokens = end.input_tokens
    if end.output_tokens is not None:
        run.output_tokens = end.output_tokens
    run.capture = Run.Capture.NEEDED if run.step_count else Run.Capture.DONE
    run.save()
    append(run, RunEvent.Kind.ENDED, {"state": run.state, "reason": run.reason})
    record(
        actor=actor_of_run(run), event=Event.RUN_ENDED, object_kind="run", object_id=run.id,
        object_label=first_sentence(run.task), team_id=run.team_id, project_id=run.project_id,
        data={"state": run.state, "steps": run.step_count},
    )  # fmt: skip
    if run.capture == Run.Capture.NEEDED:
        nudge("agents_runner.capture_run", run.id)


def memory_use_of(said: Any) -> dict[str, Any]:
    """Return Run.memory_use from a RunEnd or a RecordedRun."""
    return {
        "recall": said.recall_id,
        "offered": [str(item) for item in said.offered_revision_ids],
        "defined": [str(item) for item in said.defined_revision_ids],
        "used": [str(item) for item in said.used_revision_ids],
        "lessons": [str(item) for item in said.lesson_ids],
    }


def _may_run(run: Run) -> bool:
    """Say whether who started the run may still do so: a run has no rights of its own."""
    held = role_in(actor_of_run(run), run.project_id)
    return held is not None and held.rank >= Role.CONTRIBUTOR.rank


def _lease_end() -> datetime:
    return now() + timedelta(seconds=settings.RUN_LEASE_SECONDS)

"""What a run learnt, on its way into the library: begun under a lease, done, or given up after some attempts."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from memory_hub.access.actor import as_system
from memory_hub.audit.events import Event
from memory_hub.audit.services import record
from memory_hub.common.clock import now
from memory_hub.common.text import first_sentence
from memory_hub.runs.models import Run, RunEvent
from memory_hub.runs.values import Captured

from .log import append, lock_run
from .runs import actor_of_run

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 5
_LEASE = timedelta(seconds=60)


def run_capture_begin(*, run_id: UUID, holder: str) -> Run | None:
    """Take a run that has ended for capturing; None where it is captured, given up, or in other hands for a minute.

    Counts the attempt, so that a run that kills its worker each time is given up. The run comes with project,
    starter, steps and inputs loaded.
    """
    with as_system():
        run = lock_run(run_id)
        if run is None or run.capture != Run.Capture.NEEDED:
            return None
        if run.lease_until is not None and run.lease_until > now() and run.lease_holder != holder:
            return None
        if run.capture_attempts >= MAX_ATTEMPTS:
            _give_up(run, "What it learnt could not be kept; the worker's log says why.")
            return None
        run.capture_attempts += 1
        run.lease_holder, run.lease_until = holder, now() + _LEASE
        run.save(update_fields=["capture_attempts", "lease_holder", "lease_until"])
        return (
            Run.objects.select_related("project__team", "connection", "starter")
            .prefetch_related("inputs", "steps")
            .get(id=run_id)
        )


def run_captured(
    *, run_id: UUID, solutions: Sequence[Captured] = (), lessons: Sequence[Captured] = (), note: str = ""
) -> Run | None:
    """Say what the run left in the library; nothing more will be added to its log after that.

    Call it in the transaction that writes the solution and the lessons, so that all stand or fall together. `note`
    says in words why nothing, or nothing new, was kept. Capturing twice changes nothing.
    """
    with as_system():
        run = lock_run(run_id)
        if run is None or run.capture != Run.Capture.NEEDED:
            return run
        _settle(run, Run.Capture.DONE)
        append(
            run,
            RunEvent.Kind.CAPTURED,
            {
                "solutions": [{"id": str(item.id), "title": item.title} for item in solutions],
                "lessons": [{"id": str(item.id), "title": item.title} for item in lessons],
                "note": note,
            },
        )
        record(
            actor=actor_of_run(run), event=Event.RUN_CAPTURED, object_kind="run", object_id=run.id,
            object_label=first_sentence(run.task), team_id=run.team_id, project_id=run.project_id,
            data={"solutions": [str(item.id) for item in solutions], "lessons": [str(item.id) for item in lessons]},
        )  # fmt: skip
        return run


def run_capture_failed(*, run_id: UUID, reason: str) -> Run | None:
    """Give up capturing for good, with the reason in words (a refusal that another attempt would meet again)."""
    with as_system():
        run = lock_run(run_id)
        if run is not None and run.capture == Run.Capture.NEEDED:
            _give_up(run, reason)
        return run


def _give_up(run: Run, reason: str) -> None:
    logger.error("Run %s is not captured after %s attempts: %s", run.id, run.capture_attempts, reason)
    _settle(run, Run.Capture.FAILED)
    append(run, RunEvent.Kind.CAPTURE_FAILED, {"reason": reason})


def _settle(run: Run, capture: Run.Capture) -> None:
    run.capture = capture
    run.lease_holder, run.lease_until = "", None
    run.save(update_fields=["capture", "lease_holder", "lease_until"])

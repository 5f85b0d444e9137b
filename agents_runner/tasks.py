"""Celery tasks of the runner. Each carries an id, finds its work in the rows, and ends quietly where there is none."""

from __future__ import annotations

import os
import socket
import uuid
from uuid import UUID

from celery import shared_task
from django.conf import settings

# Beyond the longest run: time to end it, and to be told to by the watch first.
_RUN_TASK_SECONDS = settings.RUN_MAX_SECONDS + 300


@shared_task(
    name="agents_runner.execute_run", soft_time_limit=_RUN_TASK_SECONDS, time_limit=_RUN_TASK_SECONDS + 60
)
def execute_run(run_id: str) -> None:
    """Drive a queued run to its end, then write what it learnt."""
    from .capture import capture
    from .engine import drive

    holder = _holder()
    if drive(UUID(run_id), holder):
        capture(UUID(run_id), holder)


@shared_task(name="agents_runner.capture_run")
def capture_run(run_id: str) -> None:
    """Write what an ended run learnt, where that is still to be done (a lost run, a recorded one)."""
    from .capture import capture

    capture(UUID(run_id), _holder())


@shared_task(name="agents_runner.verify_revision")
def verify_revision(revision_id: str) -> None:
    """Replay a revision's check in a sandbox and record what came of it."""
    from .verify import verify

    verify(UUID(revision_id))


@shared_task(name="agents_runner.probe_sandboxes")
def probe_sandboxes() -> None:
    """Tell the pages which sandboxes work on this machine, and why the others do not."""
    from django.core.cache import cache

    from .sandboxes.select import available_sandboxes

    found = available_sandboxes()
    cache.set(
        "sandboxes", {name: "" if item.works else item.reason for name, item in found.items()}, timeout=None
    )


def _holder() -> str:
    return f"{socket.gethostname()[:24]}-{os.getpid()}-{uuid.uuid4().hex[:8]}"

"""Celery tasks of the runner. Each carries an id, finds its work in the rows, and ends quietly where there is none."""

from __future__ import annotations

import os
import socket
import uuid
from uuid import UUID

from celery import shared_task
from django.conf import settings

from memory_hub.runs.services import publish_runner_facts

# Beyond the longest run: time to end it, to capture it, and to be told by the watch first.
_RUN_TASK_SECONDS = settings.RUN_MAX_SECONDS + 300


@shared_task(
    name="agents_runner.execute_run", soft_time_limit=_RUN_TASK_SECONDS, time_limit=_RUN_TASK_SECONDS + 60
)
def execute_run(run_id: str) -> None:
    """Drive a queued run to its end, then write what it learnt."""
    from .capture import capture
    from .engine import drive

    holder = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    if drive(UUID(run_id), holder):
        capture(UUID(run_id))


@shared_task(name="agents_runner.capture_run")
def capture_run(run_id: str) -> None:
    """Write what an ended run learnt, where that is still to be done (a lost run, a recorded one)."""
    from .capture import capture

    capture(UUID(run_id))


@shared_task(name="agents_runner.verify_revision")
def verify_revision(revision_id: str) -> None:
    """Replay a revision's check in a sandbox and record what came of it."""
    from .verify import verify

    verify(UUID(revision_id))


@shared_task(name="agents_runner.publish_facts")
def publish_facts() -> None:
    """Tell the pages what this machine's workers can do: which sandboxes work, which samples are shipped."""
    from .facts import runner_facts

    publish_runner_facts(runner_facts())

"""Keeps every run moving when a message or a worker was lost: what rows still ask for is asked for again."""

import logging
import shutil
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from django.conf import settings

from memory_hub.access.actor import as_system
from memory_hub.common.clock import now
from memory_hub.common.nudge import nudge
from memory_hub.runs.models import Run

from .execution import end_if_lost
from .log import lock_run

logger = logging.getLogger(__name__)

# A message that is on its way gets this long before it is sent again.
_PATIENCE = timedelta(seconds=20)
_AT_ONCE = 100
# A transaction that stores files takes less than this until its run is there.
_YOUNG = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Swept:
    """How many runs were asked for again, ended as lost, and asked to be captured again."""

    nudged: int
    lost: int
    captures: int


def runs_sweep() -> Swept:
    """Ask again for queued runs, end runs whose worker is gone, ask again for what is to be captured.

    Messages may be doubled: a claim takes a run once. How often a capture is tried is bounded where it begins.
    """
    late = now() - _PATIENCE
    with as_system():
        queued = list(
            Run.objects.filter(state=Run.State.QUEUED, created_at__lt=late).values_list("id", flat=True)[
                :_AT_ONCE
            ]
        )
        for run_id in queued:
            nudge("agents_runner.execute_run", run_id)
        captures = list(
            Run.objects.filter(capture=Run.Capture.NEEDED, ended_at__lt=late)
            .exclude(lease_until__gt=now())
            .values_list("id", flat=True)[:_AT_ONCE]
        )
        for run_id in captures:
            nudge("agents_runner.capture_run", run_id)
        expired = list(
            Run.objects.filter(state=Run.State.RUNNING, lease_until__lt=now()).values_list("id", flat=True)[
                :_AT_ONCE
            ]
        )
    lost = sum(_end_one(run_id) for run_id in expired)
    return Swept(nudged=len(queued), lost=lost, captures=len(captures))


def files_sweep() -> int:
    """Remove the folders of files whose run never came to be or is gone; return how many."""
    root = Path(settings.MEDIA_ROOT) / "runs"
    if not root.is_dir():
        return 0
    oldest = (now() - _YOUNG).timestamp()
    folders = {
        entry.name: entry for entry in root.iterdir() if _is_id(entry.name) and entry.stat().st_mtime < oldest
    }
    names = list(folders)
    removed = 0
    for start in range(0, len(names), 1_000):
        batch = names[start : start + 1_000]
        with as_system():
            known = {str(run_id) for run_id in Run.objects.filter(id__in=batch).values_list("id", flat=True)}
        for name in set(batch) - known:
            shutil.rmtree(folders[name], ignore_errors=True)
            removed += 1
    return removed


def _end_one(run_id: UUID) -> bool:
    with (
        as_system()
    ):  # one transaction each, so that one that fails does not keep the others running for ever
        run = lock_run(run_id)
        return run is not None and end_if_lost(run)


def _is_id(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False

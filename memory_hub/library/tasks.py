"""Housekeeping of the library: asks again for what a lost message asked for, and removes files of the deleted."""

import time
from pathlib import Path
from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.db.models import Q

from memory_hub.access.actor import as_system
from memory_hub.common.clock import now
from memory_hub.common.nudge import nudge

from .models import Lesson, Revision, Solution
from .services.check_inputs import FOLDER, remove_folder
from .services.identities import identities_fill

# What one sweep re-sends at most of each kind; the next sweep takes the rest.
_BATCH = 200
# A folder is older than its transaction can be before it counts as left behind.
_LEFT_BEHIND_SECONDS = 3600


@shared_task(name="library.sweep")
def sweep() -> None:
    """Nudge again for every row that still says it needs something; tasks that are done already do nothing."""
    with as_system():
        free = Q(verification_lease_until=None) | Q(verification_lease_until__lt=now())
        for (item,) in (
            Revision.objects.filter(free, needs_verification=True).order_by("id").values_list("id")[:_BATCH]
        ):
            nudge("agents_runner.verify_revision", item)
        for (item,) in Solution.objects.filter(needs_index=True).order_by("id").values_list("id")[:_BATCH]:
            nudge("recall.index_solution", item)
        for (item,) in Lesson.objects.filter(needs_index=True).order_by("id").values_list("id")[:_BATCH]:
            nudge("recall.index_lesson", item)
        identities_fill(limit=_BATCH)
        _remove_files_left_behind()


def _remove_files_left_behind() -> None:
    """Remove files whose solution was deleted, or whose transaction never committed."""
    folder = Path(settings.MEDIA_ROOT) / FOLDER
    if not folder.is_dir():
        return
    before = time.time() - _LEFT_BEHIND_SECONDS
    old = [entry.name for entry in folder.iterdir() if entry.stat().st_mtime < before]
    known = {str(item) for item in Solution.objects.filter(id__in=old).values_list("id", flat=True)}
    for name in set(old) - known:
        remove_folder(UUID(name))

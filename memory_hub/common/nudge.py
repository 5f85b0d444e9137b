"""Messages to workers. A message is only a nudge: the row's state says what is to be done, and a sweep re-sends."""

import logging
from uuid import UUID

from django.db import transaction
from kombu.exceptions import OperationalError

# Ours by name: in a web process nothing else would have made it, and Celery's own default knows no Redis.
from memory_hub.celery import app

logger = logging.getLogger(__name__)

# A dead Redis must not hold a request for Celery's default of many retries.
_RETRY = {"max_retries": 1, "interval_start": 0.1, "interval_max": 0.1}


def nudge(task: str, *ids: UUID) -> None:
    """Send `task` with these ids once the transaction has committed; a dead Redis only delays the work."""

    def send() -> None:
        try:
            app.send_task(task, args=[str(item) for item in ids], retry=True, retry_policy=_RETRY)
        except (OperationalError, OSError) as error:
            logger.warning("%s is not sent now (%s); the sweep will send it", task, error)

    transaction.on_commit(send)

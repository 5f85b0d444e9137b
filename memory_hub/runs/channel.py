"""Tells every web process that a run's log has grown: one Redis message after the commit, and never an error."""

import logging
import time
from functools import cache
from uuid import UUID

import redis
from django.conf import settings
from django.db import transaction

logger = logging.getLogger(__name__)

PREFIX = "hub:run:"
# Watchers poll anyway (feed.py); so a dead Redis may cost a step this long, and after a failure nothing for a while.
_TIMEOUT_SECONDS = 0.5
_REST_SECONDS = 5.0

_rests_until = 0.0


def publish(run_id: UUID) -> None:
    """Say after the commit that there is something new. A dead Redis only makes watchers see it a moment later."""
    transaction.on_commit(lambda: _send(run_id), robust=True)


def _send(run_id: UUID) -> None:
    global _rests_until
    if time.monotonic() < _rests_until:
        return
    try:
        _client().publish(f"{PREFIX}{run_id}", "")
    except (redis.RedisError, OSError) as error:
        _rests_until = time.monotonic() + _REST_SECONDS
        logger.warning("Watchers of run %s are not woken (%s); they poll", run_id, error)


@cache
def _client() -> "redis.Redis":
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=_TIMEOUT_SECONDS, socket_connect_timeout=_TIMEOUT_SECONDS
    )

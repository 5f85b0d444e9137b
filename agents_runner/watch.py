"""The watch over a running run: renews its lease, hears a cancel, and ends it at its time limit."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from enum import StrEnum
from uuid import UUID

from django.db import close_old_connections, connection

from memory_hub.runs.services import run_renew

logger = logging.getLogger(__name__)

_EVERY_SECONDS = 1.0


class Stop(StrEnum):
    """Why a run is being ended before its own end."""

    CANCELLED = "cancelled"
    TIME_LIMIT = "time_limit"
    LEASE_LOST = "lease_lost"


class Watch:
    """A thread beside the run. `stop` calls `on_stop` once, and says afterwards why in `stopped_by`.

    Renewing tolerates a database that is away for a while: the lease itself is the limit.
    """

    def __init__(
        self, *, run_id: UUID, holder: str, limit_seconds: float, on_stop: Callable[[], None]
    ) -> None:
        self._run_id, self._holder, self._on_stop = run_id, holder, on_stop
        self._deadline = time.monotonic() + limit_seconds
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name=f"watch-{run_id}", daemon=True)
        self.stopped_by: Stop | None = None

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join(timeout=10)

    def _watch(self) -> None:
        try:
            while not self._done.wait(_EVERY_SECONDS):
                reason = self._reason()
                if reason is not None:
                    self.stopped_by = reason
                    self._keep_stopping()
                    return
        finally:
            connection.close()

    def _reason(self) -> Stop | None:
        if time.monotonic() > self._deadline:
            return Stop.TIME_LIMIT
        try:
            close_old_connections()
            signal = run_renew(run_id=self._run_id, holder=self._holder)
        except Exception:
            logger.exception("The lease of run %s could not be renewed now", self._run_id)
            return None
        if signal.lease_lost:
            return Stop.LEASE_LOST
        return Stop.CANCELLED if signal.cancel_requested else None

    def _keep_stopping(self) -> None:
        # Again and again until the run has ended: the first call may come between two steps.
        while True:
            try:
                self._on_stop()
            except Exception:
                logger.exception("Run %s could not be stopped at the first try", self._run_id)
            if self._done.wait(_EVERY_SECONDS):
                return
            try:
                run_renew(run_id=self._run_id, holder=self._holder)
            except Exception:
                logger.exception("The lease of run %s could not be renewed now", self._run_id)

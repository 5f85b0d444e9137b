"""The watch over a running run: renews its lease, hears a cancel, and ends it at its time limit."""

from __future__ import annotations

import logging
import threading
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
    RIGHT_LOST = "right_lost"
    LEASE_LOST = "lease_lost"


class Watch:
    """Two threads beside the run: one asks its row, the other ends it and never waits for the database.

    From the first reason on, `stopped_by` says it and `on_stop` is called again and again until the run has ended:
    the first call may come between two steps. Renewing tolerates a database that is away; the lease is the limit.
    """

    def __init__(
        self, *, run_id: UUID, holder: str, limit_seconds: float, on_stop: Callable[[], None]
    ) -> None:
        self._run_id, self._holder = run_id, holder
        self._limit_seconds, self._on_stop = limit_seconds, on_stop
        self._asked, self._done = threading.Event(), threading.Event()
        self._threads = [
            threading.Thread(target=target, name=f"{target.__name__}-{run_id}", daemon=True)
            for target in (self._ask, self._end)
        ]
        self.stopped_by: Stop | None = None

    def __enter__(self) -> Watch:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._asked.set()
        for thread in self._threads:
            thread.join(timeout=10)

    def _ask(self) -> None:
        """Renew the lease until the run has ended, and hear whether somebody wants it to."""
        try:
            while not self._done.wait(_EVERY_SECONDS):
                reason = self._renewed()
                if reason is not None and self.stopped_by is None:
                    self.stopped_by = reason
                    self._asked.set()
        finally:
            connection.close()

    def _renewed(self) -> Stop | None:
        try:
            close_old_connections()
            signal = run_renew(run_id=self._run_id, holder=self._holder)
        except Exception as error:  # noqa: BLE001 - the database is away, or worse: the run itself will meet it
            logger.warning("The lease of run %s could not be renewed now: %s", self._run_id, error)
            connection.close()
            return None
        if signal.lease_lost:
            return Stop.LEASE_LOST
        if signal.right_lost:
            return Stop.RIGHT_LOST
        return Stop.CANCELLED if signal.cancel_requested else None

    def _end(self) -> None:
        """Wait for a reason or the time limit, then stop the run until it has ended."""
        asked = self._asked.wait(self._limit_seconds)
        if not asked and self.stopped_by is None:
            self.stopped_by = Stop.TIME_LIMIT
        while not self._done.is_set():
            try:
                self._on_stop()
            except Exception:
                logger.exception("Run %s could not be stopped at this try", self._run_id)
            self._done.wait(_EVERY_SECONDS)

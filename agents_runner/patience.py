"""Patience with a database that is away for a moment (a restart, a failover): what a run shows must not be lost."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection

logger = logging.getLogger(__name__)

# Longer than a database takes to restart; a lease that lapses meanwhile decides by itself whether the run goes on.
PATIENCE_SECONDS = 60.0
_PAUSE_SECONDS = 0.5

_Result = TypeVar("_Result")


def patiently(deed: Callable[[], _Result]) -> _Result:
    """Return what `deed` returns, tried again while the database does not answer; its error after PATIENCE_SECONDS.

    `deed` is one transaction that may be repeated: an error at its commit leaves open whether it was done.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return deed()
        except (OperationalError, InterfaceError) as error:
            connection.close()  # it is broken; the next try takes another one from the pool
            if time.monotonic() > deadline:
                raise
            logger.warning("The database does not answer; trying again: %s", str(error).splitlines()[:1])
            time.sleep(_PAUSE_SECONDS)

"""The request the worker is busy with, and its clock, which stands still while a tool runs on the host."""

from __future__ import annotations

import os
import time
from typing import Any


class Request:
    """What the worker is busy with."""

    def __init__(self, message: dict[str, Any]) -> None:
        self.id: str = message["id"]
        self.token = os.urandom(8)
        self.seconds_left = float(message["seconds"])
        self.began = time.monotonic()
        self.running_since: float | None = self.began  # None while a tool runs on the host
        self.stopping = ""
        self.kill_at = float("inf")
        self.cpu_before: float | None = None

    def remaining(self) -> float:
        if self.running_since is None:
            return float("inf")
        return self.seconds_left - (time.monotonic() - self.running_since)

    def pause(self) -> None:
        self.seconds_left = self.remaining()
        self.running_since = None

    def resume(self) -> None:
        if self.running_since is None:
            self.running_since = time.monotonic()

"""Turn signals into something a single-threaded loop can wait for: stop requests, and children that ended."""

import os
import select
import signal
from types import FrameType, TracebackType
from typing import Any, Self

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class SignalWatch:
    """Counts stop requests while it is active (main thread only); the handlers before come back afterwards."""

    def __init__(self) -> None:
        self.stop_requests = 0
        self._handlers: dict[int, Any] = {}
        self._read_end, self._write_end = -1, -1
        self._wakeup_before = -1

    def __enter__(self) -> Self:
        self._read_end, self._write_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._wakeup_before = signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)
        for number in STOP_SIGNALS:
            # nohup means: survive the terminal.
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                self._handlers[number] = signal.signal(number, self._count)
        self._handlers[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.set_wakeup_fd(self._wakeup_before)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        os.close(self._read_end)
        os.close(self._write_end)

    def wait(self, seconds: float) -> None:
        """Return after `seconds`, or as soon as any signal has come (since the last call, too)."""
        if select.select([self._read_end], [], [], max(0.0, seconds))[0]:
            os.read(self._read_end, 4096)

    def _count(self, number: int, frame: FrameType | None) -> None:
        self.stop_requests += 1

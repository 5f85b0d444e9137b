"""Keep child processes running: restart the dead with back-off, give up on the hopeless, stop all in order."""

import os
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from memory_hub.embedded import EmbeddedError
from memory_hub.embedded.processes import last_lines

from .progress import say

DEATHS_ALLOWED = 4
DEATHS_WINDOW_SECONDS = 60.0
FIRST_PAUSE_SECONDS = 0.5
LONGEST_LOG_BYTES = 20 * 1024 * 1024
LOG_CHECK_SECONDS = 60.0

Process = subprocess.Popen[bytes]


class HopelessChildError(Exception):
    """A child died too often; the message names it and its last words."""


@dataclass
class Child:
    """One process to keep alive.

    `stop_steps` are signals, each with the seconds to wait before the next; after the last comes KILL.
    Children of a lower `stage` are stopped first, those of one stage together. A `patient` child gets its
    seconds even when the user is in a hurry.
    """

    name: str
    spawn: Callable[[], Process]
    stop_steps: Sequence[tuple[int, float]]
    log: Path
    stage: int = 0
    patient: bool = False
    process: Process | None = None
    deaths: deque[float] = field(default_factory=deque)
    restart_at: float | None = None

    @property
    def running(self) -> bool:
        """Whether the process lives."""
        return self.process is not None and self.process.poll() is None


class Supervisor:
    """The children of one hub. Call tick() often: at each wake-up and at least every `next_wait()` seconds."""

    def __init__(self) -> None:
        self.children: list[Child] = []
        self._logs_checked = time.monotonic()

    def add(self, child: Child) -> None:
        """Take charge of a child and start it, unless it comes with a process."""
        self.children.append(child)
        if child.process is None:
            child.process = child.spawn()

    def tick(self) -> None:
        """Notice the dead, start again what is due; HopelessChildError where that has become pointless."""
        now = time.monotonic()
        for child in self.children:
            if child.process is not None and child.process.poll() is not None:
                code = child.process.returncode
                kill_group(child.process)
                child.process = None
                self._note_death(child, f"ended ({describe_exit(code)})", now)
            if child.restart_at is not None and now >= child.restart_at:
                child.restart_at = None
                try:
                    child.process = child.spawn()
                except (EmbeddedError, OSError) as error:
                    self._note_death(child, f"cannot start ({error})", now)
        if now - self._logs_checked > LOG_CHECK_SECONDS:
            self._logs_checked = now
            for child in self.children:
                bound_log(child.log)

    def next_wait(self) -> float:
        """Return how many seconds may pass until the next tick()."""
        due = [child.restart_at for child in self.children if child.restart_at is not None]
        return max(0.0, min([moment - time.monotonic() for moment in due], default=5.0))

    def stop_all(self, wait: Callable[[float], None], in_a_hurry: Callable[[], bool]) -> None:
        """Stop every child, stage by stage; `in_a_hurry` turning true cuts short what is not patient."""
        for stage in sorted({child.stage for child in self.children}):
            group = [child for child in self.children if child.stage == stage]
            stopping = [_Stopping(child) for child in group if child.process is not None]
            while stopping := [one for one in stopping if one.proceed(in_a_hurry())]:
                wait(0.1)
            for child in group:
                child.process = child.restart_at = None

    def _note_death(self, child: Child, what: str, now: float) -> None:
        child.deaths.append(now)
        while child.deaths and now - child.deaths[0] > DEATHS_WINDOW_SECONDS:
            child.deaths.popleft()
        if len(child.deaths) > DEATHS_ALLOWED:
            raise HopelessChildError(
                f"{child.name} {what} for the {len(child.deaths)}th time in a minute, so the hub stops. "
                f"Last words in {child.log}: {last_lines(child.log)}"
            )
        pause = FIRST_PAUSE_SECONDS * 2 ** (len(child.deaths) - 1)
        child.restart_at = now + pause
        say(f"{child.name} {what}; starting it again in {pause:g} s. Its log: {child.log}")


class _Stopping:
    """One child on its way down its stop steps."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._steps = [*child.stop_steps, (signal.SIGKILL, 0.0)]
        self._next_at = 0.0

    def proceed(self, in_a_hurry: bool) -> bool:
        """Send what is due; return whether the process still lives."""
        process = self._child.process
        assert process is not None
        if process.poll() is not None:
            kill_group(process)
            return False
        hurry = in_a_hurry and not self._child.patient and len(self._steps) > 1
        if hurry:
            self._steps = self._steps[-1:]
        if self._steps and (hurry or time.monotonic() >= self._next_at):
            number, seconds = self._steps.pop(0)
            self._next_at = time.monotonic() + seconds
            if number == signal.SIGKILL:
                kill_group(process)
            else:
                process.send_signal(number)
        return True


def kill_group(process: Process) -> None:
    """KILL the process and whatever it left behind in its session's group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def describe_exit(code: int) -> str:
    """Return an exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return f"signal {signal.Signals(-code).name}"
    return f"signal {-code}"


def bound_log(log: Path) -> None:
    """Keep a log that is being appended to from growing without end: one old part is kept beside it."""
    with suppress(OSError):
        if log.stat().st_size > LONGEST_LOG_BYTES:
            shutil.copyfile(log, log.with_suffix(".log.1"))
            os.truncate(log, 0)

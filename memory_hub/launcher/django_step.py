"""Run one of Django's commands to its end in a child, while everything else stays under supervision."""

import re
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from memory_hub.embedded.folders import private_folder
from memory_hub.embedded.processes import spawn, stop

from .children import SUPERVISED
from .environment import REPOSITORY
from .supervisor import Process

# Wait at most so many seconds, with everything under supervision; raises where the user wants to stop.
Breathe = Callable[[float], None]


class StepError(Exception):
    """A step of the start did not succeed; the message is one line."""


class DjangoCommand:
    """One running `manage.py` command; its output is read when it has ended."""

    def __init__(
        self, name: str, arguments: list[str], data_dir: Path, environment: Mapping[str, str]
    ) -> None:
        logs = private_folder(data_dir / "logs")
        self.name = name
        self.output_file, self.error_file = logs / f"{name}.out", logs / f"{name}.log"
        self.output_file.unlink(missing_ok=True)
        self.error_file.unlink(missing_ok=True)
        self.process: Process = spawn(
            [sys.executable, "-P", REPOSITORY / "manage.py", *arguments],
            log=self.output_file,
            error_log=self.error_file,
            environment={**environment, SUPERVISED: str(data_dir)},
            folder=data_dir,
            death_signal=signal.SIGKILL,
        )

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""
        return self.process.poll()

    def output(self) -> str:
        """Return what it printed so far."""
        return self.output_file.read_text(encoding="utf-8", errors="replace")

    def discard_output(self) -> None:
        """Remove what it printed from the disk."""
        self.output_file.unlink(missing_ok=True)

    def reason(self) -> str:
        """Return in one line why it failed."""
        return f"{clear_reason(self.error_file.read_text(encoding='utf-8', errors='replace'))} (all of it: {self.error_file})"

    def finish(self, breathe: Breathe) -> str:
        """Wait for its end and return what it printed; StepError with the reason where it fails."""
        try:
            while self.poll() is None:
                breathe(0.5)
        finally:
            self.stop()
        if self.poll():
            raise StepError(self.reason())
        return self.output()

    def stop(self) -> None:
        """End it, unless it has ended."""
        stop(self.process, [(signal.SIGTERM, 3.0)])


def clear_reason(errors: str) -> str:
    """Return the one line of Django's error output that says what is wrong.

    A failed system check (`?: (hub.E001) text`) with its hint, else the last line: that of the exception.
    """
    found = re.search(r"^\S+: \(([\w.]+)\) (.+)(?:\n\s+HINT: (.+))?", errors, re.MULTILINE)
    if found:
        code, text, hint = found.groups()
        return f"{text} {hint or ''}".strip() + f" [{code}]"
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    if not lines:
        return "no reason was given"
    # "package.module.SomeError: message" is for programmers; the message is for everybody.
    return re.sub(r"^(?:\w+\.)*\w*(?:Error|Exception|Configured): ", "", lines[-1])

"""Which sandbox is used here: each is probed once per process, and code never runs without one that passed."""

from __future__ import annotations

import functools
import logging
import tempfile
from dataclasses import dataclass
from pathlib import Path

from agents_runner.sandboxes import launch
from agents_runner.sandboxes.errors import SandboxError, SandboxUnavailable
from agents_runner.sandboxes.limits import SandboxLimits
from agents_runner.sandboxes.session import LAUNCHERS, Session

logger = logging.getLogger(__name__)

AUTO = "auto"
NAMES = (AUTO, *LAUNCHERS)

KNOWN_VARIABLES = frozenset(launch.environment("", home="", tmp="", inputs="", has_libpython=True)) | {
    "PWD",
    "LC_CTYPE",
}

# Harmless unless the sandbox is broken: it looks for what must not be reachable and says what it found.
PROBE = """
import os, socket
found = []
try:
    open({canary!r}).close()
    found.append("a file of the host can be read")
except OSError:
    pass
try:
    open({target!r}, "w").close()
    found.append("a file of the host can be written")
except OSError:
    pass
try:
    socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.append("network sockets can be made")
except OSError:
    pass
if os.getuid() == 0:
    found.append("the code runs as root")
if set(os.environ) - {known!r}:
    found.append("the environment of the host is visible")
with open("work", "w") as file:
    file.write("x")
found
"""


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a sandbox works on this machine, and if not why."""

    name: str
    works: bool
    reason: str = ""


@functools.cache
def probe(name: str) -> Availability:
    """Start the sandbox and have it try what must fail. About 150 ms, once per process."""
    limits = SandboxLimits(step_seconds=10, start_seconds=20)
    try:
        with tempfile.TemporaryDirectory(prefix="memory-hub-probe-") as folder:
            canary = Path(folder) / "canary"
            canary.write_text("secret")
            Path(folder).chmod(0o777)
            session = Session(name, limits=limits)
            try:
                code = PROBE.format(
                    canary=str(canary), target=str(Path(folder) / "drop"), known=KNOWN_VARIABLES
                )
                outcome = session.run({"kind": "step", "code": code, "name": "<step probe>"})
            finally:
                session.close()
    except (SandboxError, OSError, ImportError) as error:
        return Availability(name, False, str(error))
    holes = outcome.data.get("value")
    if outcome.kind != "done" or not isinstance(holes, list):
        raised = outcome.data.get("error")
        return Availability(
            name, False, f"it starts but runs no code: {outcome.kind} {outcome.detail} {raised or ''}"
        )
    if holes:
        return Availability(name, False, "it does not isolate: " + ", ".join(str(hole) for hole in holes))
    return Availability(name, True)


def available_sandboxes() -> dict[str, Availability]:
    """Every sandbox by name: does it work here, and if not why."""
    return {name: probe(name) for name in LAUNCHERS}


def choose(name: str = AUTO) -> str:
    """The sandbox to use: the first that works for "auto", else the one asked for.

    Raises SandboxUnavailable with the reason; ValueError for a name that does not exist.
    """
    if name not in NAMES:
        raise ValueError(f"there is no sandbox {name!r}; choose one of {', '.join(NAMES)}")
    reasons = []
    for candidate in LAUNCHERS if name == AUTO else (name,):
        found = probe(candidate)
        if found.works:
            return candidate
        reasons.append(f"{candidate}: {found.reason}")
    raise SandboxUnavailable("Code cannot be run safely on this machine. " + "; ".join(reasons))

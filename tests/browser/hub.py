"""A whole hub for browser tests: bin/start with its demo, as a new user has it, in a data folder of its own."""

import re
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 180
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass
class Hub:
    """Its address, the demo's passwords by role, and the addresses of its two sample runs."""

    url: str
    passwords: dict[str, str] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)

    @property
    def project_url(self) -> str:
        return f"{self.url}/p/demo/first-light/"


@contextmanager
def running_hub() -> Iterator[Hub]:
    """Start a hub and wait until its demo has told its results; stop it with Ctrl-C afterwards."""
    with tempfile.TemporaryDirectory(prefix="hub-browser-") as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        log = Path(folder, "start.log")
        with log.open("w") as output:
            process = subprocess.Popen(
                [ROOT / "bin" / "start", "--port", str(port), "--data", str(Path(folder, "data"))],
                stdout=output,
                stderr=subprocess.STDOUT,
                env=_environment(),
            )
        try:
            _wait_for(process, log)
            text = log.read_text()
            yield Hub(
                url=f"http://127.0.0.1:{port}",
                passwords=dict(re.findall(r"^ +(\w+) +\S+@demo\.example +(\S+)$", text, re.MULTILINE)),
                runs=re.findall(r"http://\S+/runs/\S+/", text),
            )
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)


def _environment() -> dict[str, str]:
    """The hub's own services, not those of the tests around it."""
    import os

    ours = {"DATABASE_URL", "MIGRATE_DATABASE_URL", "REDIS_URL", "MEMORY_HUB_DATA", "HUB_DATABASE_ROLE"}
    ours |= {"SECRET_KEY", "ENCRYPTION_KEY", "MEMORY_HUB_EMBEDDED", "SITE_URL", "ALLOWED_HOSTS"}
    return {name: value for name, value in os.environ.items() if name not in ours}


def _wait_for(process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while "Its twin" not in log.read_text():
        if process.poll() is not None or time.monotonic() > deadline:
            raise AssertionError(f"bin/start did not show its demo:\n{log.read_text()}")
        time.sleep(0.3)

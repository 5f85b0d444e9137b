"""The supervisor's handle on its worker process: fork it confined, exchange frames with it, take what it prints."""

from __future__ import annotations

import _socket
import contextlib
import fcntl
import json
import os
from typing import Any

from agents_runner.sandboxes.inside import confine
from agents_runner.sandboxes.inside.interpreter import (
    READY,
    RESULT,
    TO_SUPERVISOR,
    TO_WORKER,
    TOOL_CALL,
    Interpreter,
)
from agents_runner.sandboxes.inside.output import Output

FRAME_BYTES = 24 * 1024 * 1024
CHUNK = 1 << 18
F_SETPIPE_SZ = 1031
PIPE_BYTES = 1 << 20

Frame = tuple[bytes, bytes, bytes]  # kind, token, payload


class Disturbed(Exception):
    """What came is no frame: something inside wrote to the worker's own line."""


class Worker:
    """A worker process from its fork until `close`. Nothing here ever waits for it."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.received = bytearray()
        self.pending = bytearray()
        self.socket, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
        self.output, write_end = os.pipe()
        os.set_blocking(self.output, False)
        with contextlib.suppress(OSError):
            fcntl.fcntl(self.output, F_SETPIPE_SZ, PIPE_BYTES)  # room for what is printed between two looks
        self.socket.setblocking(False)
        self.pid = os.fork()
        if self.pid == 0:
            become_worker(config, theirs.fileno(), write_end)
        theirs.close()
        os.close(write_end)
        self.pidfd = os.pidfd_open(self.pid)

    def close(self) -> None:
        os.close(self.pidfd)
        os.close(self.output)
        self.socket.close()

    def tell(self, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode("ascii")
        self.pending += TO_WORKER.pack(len(data)) + data
        self.flush()

    def flush(self) -> None:
        try:
            while self.pending:
                del self.pending[: self.socket.send(self.pending[:CHUNK])]
        except OSError:
            pass  # full (poll tells us when not), or the worker is gone (its pidfd tells us)

    def read(self) -> bool:
        """Take what has arrived; False when there was nothing."""
        try:
            data = self.socket.recv(CHUNK)
        except OSError:
            return False
        self.received += data
        return bool(data)

    def next_frame(self) -> Frame | None:
        """The next whole frame. Raises Disturbed."""
        if len(self.received) < TO_SUPERVISOR.size:
            return None
        kind, token, length = TO_SUPERVISOR.unpack_from(self.received)
        if kind not in (READY, TOOL_CALL, RESULT) or length > FRAME_BYTES:
            raise Disturbed
        end = TO_SUPERVISOR.size + length
        if len(self.received) < end:
            return None
        payload = bytes(self.received[TO_SUPERVISOR.size : end])
        del self.received[:end]
        return kind, token, payload

    def drain(self, output: Output) -> None:
        """Take what was printed; bounded, since something may print without end."""
        for _ in range(64):
            try:
                data = os.read(self.output, CHUNK)
            except OSError:
                return
            if not data:
                return
            output.add(data)


def become_worker(config: dict[str, Any], socket: int, output: int) -> None:
    """In the child: keep four descriptors, give up everything else, run code until the end."""
    try:
        null = os.open("/dev/null", os.O_RDONLY)
        copies = [os.dup2(descriptor, 100 + place) for place, descriptor in enumerate((socket, output, null))]
        os.dup2(copies[2], 0)
        os.dup2(copies[1], 1)
        os.dup2(copies[1], 2)
        os.dup2(copies[0], 3, inheritable=False)
        os.closerange(4, 4096)
        confine.confine(config)
        os.chdir(config["work"])
        Interpreter(3, {**config, "value_bytes": config["limits"]["value_bytes"]}).serve()
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(1)

"""The host's end of the line to a sandbox.

To the sandbox: one JSON object per line. From it: a JSON header line with `payload`, the number of raw bytes that
follow. Requests carry a random id; whatever carries another one is old or forged and is dropped.

    init{limits, ...}                                    -> ready{} | failed{detail}
    run{id, seconds, body{kind: step|define|call|tools|variables, ...}}
                                                         -> result{id, kind, detail, state_lost, output, dropped}
                                                            + JSON of the worker
                                                         -> tool_call{id} + JSON of the worker
    tool_result{id, body{call, value | error}}
    interrupt{id}

The header comes from our supervisor, the payload from hostile code: it is parsed by `codec.loads` alone.
"""

from __future__ import annotations

import json
import os
import select
import threading
import time
from dataclasses import dataclass
from typing import Any

from agents_runner.sandboxes.errors import SandboxBroken

LINE_BYTES = 24 * 1024 * 1024
HEADER_BYTES = 4 * 1024 * 1024  # output_bytes times six, as JSON may escape every character, fits
CHUNK = 1 << 18
WRITE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Message:
    """A header our supervisor wrote, and the untrusted bytes it passed on."""

    header: dict[str, Any]
    payload: bytes

    @property
    def op(self) -> str:
        return str(self.header.get("op"))


class Closed(SandboxBroken):
    """The other end is gone."""


class Channel:
    """Line-JSON over two pipes. One thread receives; any thread may send."""

    def __init__(self, to_sandbox: int, from_sandbox: int) -> None:
        self.to_sandbox = to_sandbox
        self.from_sandbox = from_sandbox
        self.received = bytearray()
        self.lock = threading.Lock()
        os.set_blocking(to_sandbox, False)
        os.set_blocking(from_sandbox, False)
        self.reading = select.poll()
        self.reading.register(from_sandbox, select.POLLIN)

    def send(self, message: dict[str, Any]) -> None:
        """Raises Closed when the sandbox is gone or takes nothing for 30 seconds."""
        data = memoryview(json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n")
        if len(data) > LINE_BYTES:
            raise SandboxBroken(f"a message of {len(data)} bytes is too long for the sandbox")
        writing = select.poll()
        writing.register(self.to_sandbox, select.POLLOUT)
        with self.lock:
            while data:
                if not writing.poll(WRITE_SECONDS * 1000):
                    raise Closed("the sandbox does not read")
                try:
                    data = data[os.write(self.to_sandbox, data) :]
                except BlockingIOError:
                    continue
                except OSError:
                    raise Closed("the sandbox has ended") from None

    def fill(self, until: float) -> bool:
        """Read once more; False when the time (monotonic seconds) is up. Raises Closed."""
        seconds = until - time.monotonic()
        if seconds <= 0 or not self.reading.poll(min(seconds, 3600) * 1000):
            return time.monotonic() < until
        try:
            data = os.read(self.from_sandbox, CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        if not data:
            raise Closed("the sandbox has ended")
        self.received += data
        return True

    def receive(self, until: float) -> Message | None:
        """The next message, or None when there was none until then (monotonic seconds).

        Raises Closed, SandboxBroken for something that is no message of our supervisor.
        """
        while (end := self.received.find(b"\n")) < 0:
            if len(self.received) > HEADER_BYTES:
                raise SandboxBroken("the sandbox sent no header")
            if not self.fill(until):
                return None
        try:
            header = json.loads(self.received[:end])
            length = int(header["payload"])
        except (ValueError, TypeError, KeyError, RecursionError):
            raise SandboxBroken("the sandbox sent no header") from None
        if not 0 <= length <= LINE_BYTES:
            raise SandboxBroken("the sandbox sent too much")
        total = end + 1 + length
        while len(self.received) < total:
            if not self.fill(until):
                return None
        payload = bytes(self.received[end + 1 : total])
        del self.received[:total]
        return Message(header, payload)

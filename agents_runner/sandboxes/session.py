"""One running sandbox: start it, ask it to run something, answer its tool calls, end it. Knows nothing of smolagents."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from types import ModuleType
from typing import Any

from agents_runner.sandboxes import bubblewrap, folders, landlock
from agents_runner.sandboxes.errors import SandboxBroken, SandboxError, SandboxUnavailable
from agents_runner.sandboxes.inside import codec
from agents_runner.sandboxes.launch import Started
from agents_runner.sandboxes.limits import SandboxLimits
from agents_runner.sandboxes.profiles import DEFAULT_PROFILE, PackageProfile
from agents_runner.sandboxes.protocol import LINE_BYTES, Channel, Closed, Message
from agents_runner.sandboxes.records import ERROR_KINDS

LAUNCHERS: dict[str, ModuleType] = {bubblewrap.NAME: bubblewrap, landlock.NAME: landlock}
BACKSTOP_SECONDS = 4.0
INTERRUPT_BACKSTOP_SECONDS = 2.0

ToolCaller = Callable[[str, list[Any], dict[str, Any]], Any]
sweep_once = threading.Lock()
swept = False


@dataclass
class Outcome:
    """How a request ended. data: what the worker said (untrusted JSON); kind: "done" or one of ERROR_KINDS."""

    kind: str
    detail: str = ""
    state_lost: bool = False
    output: str = ""
    dropped: int = 0
    data: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    tool_seconds: float = 0.0
    tool_calls: int = 0


def sweep_leftovers() -> None:
    """Once per process, before its first sandbox."""
    global swept
    with sweep_once:
        if not swept:
            swept = True
            folders.sweep()


class Session:
    """A sandbox from start to end. Used by one thread; `interrupt` may come from another."""

    def __init__(
        self,
        name: str,
        *,
        limits: SandboxLimits,
        inputs: Mapping[str, str | PathLike[str]] | None = None,
        profile: PackageProfile = DEFAULT_PROFILE,
    ) -> None:
        """Start it and wait until it answers.

        Raises SandboxUnavailable when it does not start, SandboxError for bad input files.
        """
        sweep_leftovers()
        self.limits = limits
        self.request_id: str | None = None
        self.interrupted_at: float | None = None
        self.state_lock = threading.Lock()
        self.alive = True
        self.folder = folders.SandboxFolder(inputs or {})
        self.started: Started | None = None
        try:
            self.started = LAUNCHERS[name].start(profile=profile, limits=limits, folder=self.folder)
            process = self.started.process
            assert process.stdin is not None
            assert process.stdout is not None
            self.channel = Channel(process.stdin.fileno(), process.stdout.fileno())
            self.channel.send(self.started.config)
            self.wait_until_ready(name)
        except BaseException:
            self.close()
            raise

    def wait_until_ready(self, name: str) -> None:
        assert self.started is not None
        try:
            message = self.channel.receive(time.monotonic() + self.limits.start_seconds)
        except SandboxBroken as error:
            self.started.kill()
            with contextlib.suppress(Exception):
                self.started.process.wait(timeout=5)
            raise SandboxUnavailable(f"{name} did not start: {self.started.complaint() or error}") from None
        if message is None:
            raise SandboxUnavailable(f"{name} did not start within {self.limits.start_seconds:g} seconds")
        if message.op != "ready":
            detail = str(message.header.get("detail", ""))[:2000].strip()
            raise SandboxUnavailable(f"{name} did not start: {detail}")

    def run(self, body: dict[str, Any], *, call_tool: ToolCaller | None = None) -> Outcome:
        """Have `body` run within the limits of one step. Raises SandboxBroken, and whatever is not an Exception."""
        began = time.monotonic()
        request_id = secrets.token_hex(8)
        outcome = Outcome("died")
        with self.state_lock:
            self.request_id, self.interrupted_at = request_id, None
        try:
            self.exchange(request_id, body, call_tool, outcome)
        except Closed:
            self.kill()
            outcome.kind = "interrupted" if self.interrupted_at is not None else "died"
            outcome.detail, outcome.state_lost = "The sandbox ended.", True
        except BaseException:
            self.kill()  # the line is in an unknown state
            raise
        finally:
            with self.state_lock:
                self.request_id = None
        outcome.seconds = time.monotonic() - began
        return outcome

    def exchange(
        self, request_id: str, body: dict[str, Any], call_tool: ToolCaller | None, outcome: Outcome
    ) -> None:
        seconds = self.limits.step_seconds
        self.channel.send({"op": "run", "id": request_id, "seconds": seconds, "body": body})
        backstop = time.monotonic() + seconds + self.limits.grace_seconds + BACKSTOP_SECONDS
        while True:
            message = self.channel.receive(self.next_look(backstop))
            if message is None:
                if self.must_end(backstop):
                    self.kill()
                    outcome.kind = "interrupted" if self.interrupted_at is not None else "timeout"
                    outcome.state_lost = True
                    return
            elif message.header.get("id") != request_id:
                continue
            elif message.op == "tool_call":
                called = time.monotonic()
                reply = self.answer(message, outcome, call_tool)
                spent = time.monotonic() - called
                outcome.tool_seconds += spent
                backstop += spent
                with self.state_lock:
                    if self.interrupted_at is not None:
                        self.interrupted_at += spent
                self.channel.send({"op": "tool_result", "id": request_id, "body": reply})
            elif message.op == "result":
                self.read_result(message, outcome)
                return

    def next_look(self, backstop: float) -> float:
        """Wake up often enough to notice that another thread interrupted."""
        return min(backstop, time.monotonic() + 0.5)

    def must_end(self, backstop: float) -> bool:
        now, interrupted_at = time.monotonic(), self.interrupted_at
        return now >= backstop or (
            interrupted_at is not None and now > interrupted_at + INTERRUPT_BACKSTOP_SECONDS
        )

    def shown(self, text: str) -> str:
        """Paths of the host -> the paths the agent knows."""
        for real, shown in self.started.replacements if self.started else ():
            text = text.replace(real, shown)
        return text

    def parse(self, payload: bytes) -> dict[str, Any]:
        """The worker's JSON. Raises codec.CodecError."""
        for real, shown in self.started.replacements if self.started else ():
            payload = payload.replace(real.encode(), shown.encode())
        data = codec.loads(payload, max_bytes=LINE_BYTES)
        if not isinstance(data, dict):
            raise codec.CodecError("not an object")
        return data

    def read_result(self, message: Message, outcome: Outcome) -> None:
        header = message.header
        kind = str(header.get("kind"))
        outcome.kind = kind if kind in ERROR_KINDS else "done"
        outcome.detail = str(header.get("detail", ""))[:2000]
        outcome.state_lost = bool(header.get("state_lost"))
        outcome.output = self.shown(str(header.get("output", "")))
        outcome.dropped = int(header.get("dropped", 0))
        if not message.payload:
            return
        try:
            outcome.data = self.parse(message.payload)
        except codec.CodecError as error:
            if outcome.kind == "done":
                outcome.kind = "protocol"
            outcome.detail = f"The result could not be read ({error})."

    def answer(self, message: Message, outcome: Outcome, call_tool: ToolCaller | None) -> dict[str, Any]:
        """Run a tool for the code inside; whatever happens becomes a reply."""
        number: Any = None
        try:
            data = self.parse(message.payload)
            number = data.get("call")
            outcome.tool_calls += 1
            if outcome.tool_calls > self.limits.tool_calls_per_step:
                raise RuntimeError(f"more than {self.limits.tool_calls_per_step} tool calls in one step")
            if call_tool is None:
                raise RuntimeError("there are no tools")
            args, kwargs = codec.decode(data.get("args")), codec.decode(data.get("kwargs"))
            if not isinstance(args, list) or not isinstance(kwargs, dict):
                raise TypeError("bad arguments")
            value = call_tool(str(data.get("name")), args, kwargs)
            return {
                "call": number,
                "value": codec.encode(value, max_bytes=self.limits.value_bytes, lossy=True),
            }
        except Exception as error:
            text = str(error)[:4000].encode("utf-8", "replace").decode("utf-8")
            return {"call": number, "error": {"type": type(error).__name__, "message": text}}

    def interrupt(self) -> bool:
        """From another thread: end the running request. Returns whether there was one."""
        with self.state_lock:
            request_id = self.request_id
            if request_id is None:
                return False
            if self.interrupted_at is None:
                self.interrupted_at = time.monotonic()
        with contextlib.suppress(SandboxError):
            self.channel.send({"op": "interrupt", "id": request_id})
        return True

    def kill(self) -> None:
        """End every process inside; `run` must not be used any more."""
        self.alive = False
        if self.started is not None:
            self.started.kill()

    def close(self) -> None:
        """Kill what runs and remove the folder. May be called twice."""
        self.alive = False
        if self.started is not None:
            self.started.close()
        self.folder.remove()

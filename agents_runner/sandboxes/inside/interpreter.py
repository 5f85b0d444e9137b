"""The worker: runs submitted code in one lasting namespace and reports to the supervisor. All hostile code is here.

Frames to the supervisor: kind (1 byte), the request's token (8 bytes), length (4 bytes), JSON. Frames from it:
length, JSON. The code that runs here can forge a frame of its own step; that gains it no more than calling
final_answer would.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import json
import linecache
import os
import signal
import struct
import sys
import types
from typing import Any

from agents_runner.sandboxes.inside import codec, failures
from agents_runner.sandboxes.inside.recorder import Recorder, answer_line
from agents_runner.sandboxes.inside.rewrite import ANSWER_NAME, RECORD_NAME, Answer, prepare, real_path

TO_SUPERVISOR = struct.Struct(">c8sI")
TO_WORKER = struct.Struct(">I")
READY, TOOL_CALL, RESULT = b"R", b"C", b"F"
VALUE_ROOM = 64 * 1024  # bytes of JSON around a value


class FinalAnswer(BaseException):
    """Ends the step that called final_answer; not an Exception, so that `except Exception` lets it pass."""


class Interpreter:
    """The namespace, and what may be done with it."""

    def __init__(self, socket: int, config: dict[str, Any]) -> None:
        self.socket = socket
        self.value_bytes = int(config["value_bytes"])
        self.folders: dict[str, str] = config["folders"]
        self.pid = os.getpid()
        self.token = b"\0" * 8
        self.received = bytearray()
        self.module = types.ModuleType("__main__")
        self.namespace = self.module.__dict__
        self.namespace["__builtins__"] = builtins
        self.namespace["INPUTS"] = self.folders.get("/inputs", "/inputs")
        self.namespace[ANSWER_NAME] = self.final_answer
        sys.modules["__main__"] = self.module
        self.recorder = Recorder(self.namespace)
        self.stdout = self.text_stream(1)
        self.stderr = self.text_stream(2)
        self.interruptible = False
        self.interrupted = False
        self.answers: dict[int, Answer] = {}
        self.answered = False
        self.answer_value: Any = None
        self.answer_call: dict[str, Any] | None = None
        self.tool_calls = 0

    @staticmethod
    def text_stream(descriptor: int) -> io.TextIOWrapper:
        raw = open(descriptor, "wb", buffering=0, closefd=False)  # noqa: SIM115 - for as long as the worker lives
        buffered = io.BufferedWriter(raw, 64 * 1024)
        return io.TextIOWrapper(buffered, encoding="utf-8", errors="backslashreplace", line_buffering=True)

    # -- talking to the supervisor ------------------------------------------------------------------------------

    def send(self, kind: bytes, payload: bytes) -> None:
        data = memoryview(TO_SUPERVISOR.pack(kind, self.token, len(payload)) + payload)
        while data:
            data = data[os.write(self.socket, data) :]

    def receive(self) -> dict[str, Any]:
        while True:
            if len(self.received) >= TO_WORKER.size:
                end = TO_WORKER.size + TO_WORKER.unpack_from(self.received)[0]
                if len(self.received) >= end:
                    message = bytes(self.received[TO_WORKER.size : end])
                    del self.received[:end]
                    return dict(json.loads(message))
            data = os.read(self.socket, 1 << 18)
            if not data:
                os._exit(0)
            self.received += data

    def on_interrupt(self, number: int, frame: Any) -> None:
        """SIGINT stops agent code at once, but never in the middle of a message."""
        if self.interruptible:
            raise KeyboardInterrupt
        self.interrupted = True

    def serve(self) -> None:
        """Answer requests for ever."""
        self.send(READY, b"{}")
        while True:
            request = self.receive()
            if "token" not in request:
                continue  # the result of a tool call that was interrupted
            self.token = bytes.fromhex(request["token"])
            self.begin()
            try:
                result = self.handle(request)
            except BaseException as error:  # nothing the code does may end the worker silently
                result = {"error": failures.describe(error)}
            self.interruptible = False
            if os.getpid() != self.pid:
                self.flush()
                os._exit(0)  # a fork of the agent's code that ran to the end of the step
            payload = codec.dumps(result)
            self.flush()
            self.send(RESULT, payload)

    def begin(self) -> None:
        signal.signal(signal.SIGINT, self.on_interrupt)
        sys.stdout, sys.stderr = self.stdout, self.stderr
        setattr(builtins, RECORD_NAME, self.recorder.wrap)
        self.recorder.begin_step()
        self.answered = self.interrupted = False
        self.answer_value = self.answer_call = None
        self.answers = {}
        self.tool_calls = 0

    def flush(self) -> None:
        for stream in (self.stdout, self.stderr, sys.stdout, sys.stderr):
            with contextlib.suppress(BaseException):  # the code may have put anything there
                stream.flush()

    # -- requests -------------------------------------------------------------------------------------------------

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        kind = request["kind"]
        if kind in ("step", "define"):
            return self.run(request["code"], request["name"], "step" if kind == "step" else "memory")
        if kind == "call":
            return self.call(request)
        if kind == "tools":
            for name, text in request["tools"].items():
                self.namespace[name] = self.tool(name, text)
            return {}
        self.namespace.update(
            {name: codec.decode(value, text=self.real_path) for name, value in request["variables"].items()}
        )
        return {}

    def real_path(self, text: str) -> str:
        return real_path(text, self.folders)

    def run(self, source: str, filename: str, origin: str) -> dict[str, Any]:
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        error: BaseException | None = None
        value: Any = None
        result: dict[str, Any] = {}
        try:
            self.interruptible = True
            code = prepare(
                source,
                filename,
                known=set(self.recorder.origin),
                sites=self.recorder.sites,
                folders=self.folders,
            )
            result["functions"] = code.functions
            result["memory_functions"] = sorted(
                name for name in code.mentioned if self.recorder.origin.get(name) == "memory"
            )
            self.answers = code.answers
            self.recorder.origin.update(dict.fromkeys(code.functions, origin))
            exec(compile(code.body, filename, "exec", dont_inherit=True), self.namespace)
            if code.last is not None:
                value = eval(compile(code.last, filename, "eval", dont_inherit=True), self.namespace)
        except FinalAnswer:
            pass
        except BaseException as raised:
            error = raised
        if os.getpid() != self.pid:
            return result
        if self.answered:
            value, error = self.answer_value, None
            result["final_call"] = self.answer_call
        result["final"] = self.answered
        if error is None:
            try:
                result["value"] = codec.encode(value, max_bytes=self.value_bytes - VALUE_ROOM, lossy=True)
            except BaseException as raised:
                error = raised
        self.interruptible = False
        if error is not None:
            result["error"] = failures.describe(error)
            result["final"] = False
        return result

    def call(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            self.interruptible = True
            args = [codec.decode(value, text=self.real_path) for value in request["args"]]
            kwargs = {
                key: codec.decode(value, text=self.real_path) for key, value in request["kwargs"].items()
            }
            function = self.namespace.get(request["function"])
            if function is None:
                raise NameError(f"name {request['function']!r} is not defined")
            value = function(*args, **kwargs)
            try:
                return {"value": codec.encode(value, max_bytes=self.value_bytes - VALUE_ROOM, lossy=False)}
            except codec.Unencodable as error:
                return {"unencodable": str(error)}
        except BaseException as error:
            self.interruptible = False
            return {"error": failures.describe(error)}
        finally:
            self.interruptible = False

    # -- what the code can call -----------------------------------------------------------------------------------

    def final_answer(self, *args: Any, **kwargs: Any) -> None:
        """Give the final answer of the task and end the run."""
        values = [*args, *kwargs.values()]
        if len(values) != 1:
            raise TypeError(f"final_answer() takes exactly 1 argument ({len(values)} given)")
        self.answer_value = values[0]
        self.answered = True
        if os.getpid() == self.pid:
            answer = self.answers.get(answer_line(1), Answer("other"))
            self.answer_call = self.recorder.find(values[0], answer)
        raise FinalAnswer

    def tool(self, name: str, text: str) -> Any:
        def tool(*args: Any, **kwargs: Any) -> Any:
            return self.call_tool(name, args, kwargs)

        tool.__name__ = tool.__qualname__ = name
        tool.__doc__ = text
        return tool

    def call_tool(self, name: str, args: Any, kwargs: Any) -> Any:
        if os.getpid() != self.pid:
            raise RuntimeError(f"{name}() can be called from the main process only")
        try:
            wire = codec.encode(
                [list(args), dict(kwargs)], max_bytes=self.value_bytes - VALUE_ROOM, lossy=False
            )
        except codec.Unencodable as error:
            raise TypeError(f"{name}() cannot be given this argument: {error}") from None
        was_interruptible, self.interruptible = self.interruptible, False
        self.tool_calls += 1
        number = self.tool_calls
        self.send(TOOL_CALL, codec.dumps({"name": name, "call": number, "args": wire[0], "kwargs": wire[1]}))
        while True:
            reply = self.receive()
            if reply.get("interrupt"):
                self.interrupted = True
                break
            if reply.get("call") == number:
                break
        self.interruptible = was_interruptible
        if self.interrupted:
            raise KeyboardInterrupt
        if "error" in reply:
            failures.raise_tool_error(reply["error"])
        return codec.decode(reply["value"], text=self.real_path)

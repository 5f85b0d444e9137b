"""Process 1 of the sandbox: owns the line to the host, forks the worker, watches its limits, kills for certain.

It never parses what the worker sends: it counts bytes, adds its own header and passes them on. From the host it
reads JSON lines; to the host it writes a JSON header line followed by `payload` bytes. A request carries a random id
that the worker never learns; the worker gets a token per request, so that an answer which arrives late is dropped.
"""

from __future__ import annotations

import _socket
import json
import os
import resource
import select
import signal
import sys
import time
from typing import Any

from agents_runner.sandboxes.inside import confine, processes, quota
from agents_runner.sandboxes.inside.interpreter import (
    READY,
    RESULT,
    TO_SUPERVISOR,
    TO_WORKER,
    TOOL_CALL,
    Interpreter,
)
from agents_runner.sandboxes.inside.output import Output

HOST_IN, HOST_OUT = 0, 1
POLL_SECONDS = 0.1
QUIET_SECONDS = 1.0  # in less, process ids cannot have gone once round
INTERRUPT_GRACE_SECONDS = 0.5
LINE_BYTES = 24 * 1024 * 1024
CHUNK = 1 << 18


class Request:
    """What the worker is busy with."""

    def __init__(self, message: dict[str, Any]) -> None:
        self.id: str = message["id"]
        self.token = os.urandom(8)
        self.seconds_left = float(message["seconds"])
        self.began = time.monotonic()
        self.running_since: float | None = self.began  # None while a tool runs on the host
        self.stopping = ""
        self.kill_at = float("inf")
        self.cpu_before: float | None = None

    def remaining(self) -> float:
        if self.running_since is None:
            return float("inf")
        return self.seconds_left - (time.monotonic() - self.running_since)

    def pause(self) -> None:
        self.seconds_left = self.remaining()
        self.running_since = None

    def resume(self) -> None:
        if self.running_since is None:
            self.running_since = time.monotonic()


class Supervisor:
    """One worker at a time, one request at a time."""

    def __init__(self, config: dict[str, Any], received: bytes) -> None:
        self.config = config
        self.lost = ""
        self.newest = ""  # the newest process id at the last look that found nothing to kill
        self.limits = config["limits"]
        self.output = Output(int(self.limits["output_bytes"]))
        self.request: Request | None = None
        self.ready = False
        self.told_ready = False
        self.host_buffer = bytearray(received)
        self.next_look = 0.0
        self.next_disk_look = 0.0
        self.spawn()

    # -- the worker -------------------------------------------------------------------------------------------------

    def spawn(self) -> None:
        self.ready = False
        self.from_worker = bytearray()
        self.to_worker = bytearray()
        ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
        self.socket = ours
        self.output_fd, write_end = os.pipe()
        os.set_blocking(self.output_fd, False)
        ours.setblocking(False)
        self.worker = os.fork()
        if self.worker == 0:
            self.become_worker(theirs.fileno(), write_end)
        theirs.close()
        os.close(write_end)
        self.pidfd = os.pidfd_open(self.worker)

    def become_worker(self, socket: int, output: int) -> None:
        try:
            socket, output = os.dup(socket), os.dup(output)
            null = os.open("/dev/null", os.O_RDONLY)
            high = [
                os.dup2(descriptor, 100 + position)
                for position, descriptor in enumerate((socket, output, null))
            ]
            os.dup2(high[2], 0)
            os.dup2(high[1], 1)
            os.dup2(high[1], 2)
            os.dup2(high[0], 3, inheritable=False)
            os.closerange(4, 4096)
            confine.confine(self.config)
            os.chdir(self.config["work"])
            Interpreter(3, {**self.config, "value_bytes": self.limits["value_bytes"]}).serve()
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(1)

    def kill_all(self) -> None:
        """Kill everything but ourselves, and empty what they could write to."""
        if not processes.kill_descendants(os.getpid()):
            os._exit(3)  # the host (or the end of the namespace) does the rest
        self.reap()
        for folder in self.config["writable"]:
            quota.empty(folder)

    def reap(self) -> int | None:
        """Collect the dead; the worker's wait status when it is among them."""
        status = None
        while True:
            try:
                pid, code = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return status
            if pid == 0:
                return status
            if pid == self.worker:
                status = code

    def restart(self, kind: str, detail: str) -> None:
        """The worker is lost: kill what is left, report, begin anew."""
        self.kill_all()
        self.drain()
        request, self.request = self.request, None
        os.close(self.pidfd)
        os.close(self.output_fd)
        self.socket.close()
        if request is not None:
            self.report(request, request.stopping or kind, detail, state_lost=True)
        elif self.ready:
            self.lost = detail  # between two steps: told when the next one is asked for
        else:
            self.send({"op": "failed", "detail": f"{detail} {self.output.text()[:4000]}"})
            os._exit(2)
        self.spawn()

    # -- to and from the host -----------------------------------------------------------------------------------

    def send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        header["payload"] = len(payload)
        data = memoryview(json.dumps(header).encode("ascii") + b"\n" + payload)
        while data:
            data = data[os.write(HOST_OUT, data) :]

    def report(
        self, request: Request, kind: str, detail: str, *, state_lost: bool, payload: bytes = b""
    ) -> None:
        self.send(
            {
                "op": "result",
                "id": request.id,
                "kind": kind,
                "detail": detail,
                "state_lost": state_lost,
                "output": self.output.text(),
                "dropped": self.output.dropped,
            },
            payload,
        )

    def on_host(self) -> None:
        data = os.read(HOST_IN, CHUNK)
        if not data:
            processes.kill_descendants(os.getpid())
            for folder in self.config["writable"]:
                quota.empty(folder)
            os._exit(0)
        self.host_buffer += data
        while (end := self.host_buffer.find(b"\n", max(0, len(self.host_buffer) - len(data)))) >= 0:
            line = bytes(self.host_buffer[:end])
            del self.host_buffer[: end + 1]
            data = bytes(self.host_buffer)
            self.on_message(json.loads(line))

    def on_message(self, message: dict[str, Any]) -> None:
        request = self.request
        if message["op"] == "run" and request is None:
            self.drain()
            self.output.clear()
            if self.lost:
                detail, self.lost = self.lost, ""
                self.report(Request(message), "died", f"{detail} (after the step before)", state_lost=True)
                return
            self.request = Request(message)
            self.next_look = time.monotonic() + POLL_SECONDS
            processes.kill(self.worker, signal.SIGCONT)
            self.tell_worker({**message["body"], "token": self.request.token.hex()})
        elif request is not None and message.get("id") == request.id:
            if message["op"] == "tool_result":
                request.resume()
                self.tell_worker(message["body"])
            elif message["op"] == "interrupt":
                self.stop("interrupted", INTERRUPT_GRACE_SECONDS)

    def tell_worker(self, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode("ascii")
        self.to_worker += TO_WORKER.pack(len(data)) + data
        self.flush_worker()

    def flush_worker(self) -> None:
        try:
            while self.to_worker:
                del self.to_worker[: self.socket.send(self.to_worker[:CHUNK])]
        except OSError:
            pass  # full (poll tells us when not), or the worker is gone (its pidfd tells us)

    # -- from the worker --------------------------------------------------------------------------------------------

    def drain(self) -> None:
        """Take what was printed; bounded, since something may print without end."""
        for _ in range(64):
            try:
                data = os.read(self.output_fd, CHUNK)
            except OSError:
                return
            if not data:
                return
            self.output.add(data)

    def on_worker(self) -> None:
        try:
            data = self.socket.recv(CHUNK)
        except OSError:
            return
        self.from_worker += data
        while len(self.from_worker) >= TO_SUPERVISOR.size:
            kind, token, length = TO_SUPERVISOR.unpack_from(self.from_worker)
            if kind not in (READY, TOOL_CALL, RESULT) or length > LINE_BYTES:
                self.restart(
                    "protocol", "The code disturbed the sandbox's own communication, so it was restarted."
                )
                return
            end = TO_SUPERVISOR.size + length
            if len(self.from_worker) < end:
                return
            payload = bytes(self.from_worker[TO_SUPERVISOR.size : end])
            del self.from_worker[:end]
            self.on_frame(kind, token, payload)

    def on_frame(self, kind: bytes, token: bytes, payload: bytes) -> None:
        request = self.request
        if kind == READY:
            self.ready = True
            if not self.told_ready:
                self.told_ready = True
                self.send({"op": "ready"})
        elif request is None or token != request.token:
            return
        elif kind == TOOL_CALL:
            request.pause()
            if request.stopping:
                self.tell_worker({"interrupt": True})
            else:
                self.send({"op": "tool_call", "id": request.id}, payload)
        else:
            self.finish(request, payload)

    def finish(self, request: Request, payload: bytes) -> None:
        """The worker is done: freeze it until the next request, report, and kill whatever it left running."""
        self.request = None
        processes.kill(self.worker, signal.SIGSTOP)
        self.drain()
        self.report(request, request.stopping or "done", "", state_lost=False, payload=payload)
        newest = processes.last_pid()
        if newest and newest == self.newest and time.monotonic() - request.began < QUIET_SECONDS:
            return  # nobody has started a process since the last look, which found none
        if processes.kill_descendants(os.getpid(), spare=self.worker):
            self.newest = newest
        else:
            self.restart("processes", "What the code left running could not be stopped.")

    # -- limits -------------------------------------------------------------------------------------------------------

    def stop(self, why: str, grace: float) -> None:
        """Ask the step to end; what happens if it does not is decided in `look`."""
        request = self.request
        if request is None or request.stopping:
            return
        request.stopping = why
        request.kill_at = time.monotonic() + grace
        if request.running_since is None:
            self.tell_worker({"interrupt": True})
        else:
            processes.kill(self.worker, signal.SIGINT)

    def look(self) -> None:
        """Compare what is used with what is allowed."""
        request, limits = self.request, self.limits
        if request is None:
            return
        now = time.monotonic()
        if now >= request.kill_at:
            self.restart(request.stopping, "")
            return
        if request.remaining() <= 0:
            self.stop("timeout", float(limits["grace_seconds"]))
        if now < self.next_look:
            return
        pids = processes.descendants(os.getpid())
        used = processes.usage(pids)
        dead = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = used.cpu_seconds + dead.ru_utime + dead.ru_stime
        if request.cpu_before is None:
            request.cpu_before = cpu
        self.next_look = max(now, time.monotonic() - 0.01) + POLL_SECONDS
        if used.memory_bytes > limits["total_memory_bytes"]:
            self.restart("memory", "The code used too much memory.")
        elif used.threads > limits["process_count"] + 2:
            self.restart("processes", "The code started too many processes or threads.")
        elif cpu - request.cpu_before > limits["cpu_seconds"]:
            self.stop("cpu", float(limits["grace_seconds"]))
        elif time.monotonic() >= self.next_disk_look:
            self.look_at_disk(pids)

    def look_at_disk(self, pids: list[int]) -> None:
        began = time.monotonic()
        folders: list[str] = self.config["writable"]
        limit = quota.Held(int(self.limits["file_bytes"]), int(self.limits["file_count"]))
        if self.config["mounts"]:
            held = quota.of_mounts(folders)
            limit.size = 1 << 62  # the file systems themselves are no larger than allowed
        else:
            held = quota.of_trees(folders, pids, limit)
        ended = time.monotonic()
        self.next_disk_look = ended + max(POLL_SECONDS / 2, 10 * (ended - began))
        if held.size > limit.size or held.count > limit.count:
            self.restart("disk", "The code wrote too much or too many files.")

    # -- the loop ---------------------------------------------------------------------------------------------------

    def wait_seconds(self) -> float | None:
        request = self.request
        if request is None:
            return None
        return max(0.0, min(POLL_SECONDS, request.remaining(), request.kill_at - time.monotonic()))

    def run(self) -> None:
        while True:
            poller = select.poll()
            poller.register(HOST_IN, select.POLLIN)
            poller.register(self.socket.fileno(), select.POLLIN | (select.POLLOUT if self.to_worker else 0))
            poller.register(self.output_fd, select.POLLIN)
            poller.register(self.pidfd, select.POLLIN)
            seconds = self.wait_seconds()
            events = dict(poller.poll(None if seconds is None else seconds * 1000 + 0.5))
            socket, output, pidfd = self.socket.fileno(), self.output_fd, self.pidfd
            if output in events:
                self.drain()
            if events.get(socket, 0) & select.POLLOUT:
                self.flush_worker()
            if events.get(socket, 0) & (select.POLLIN | select.POLLHUP):
                self.on_worker()
            if HOST_IN in events:
                self.on_host()
            if pidfd in events and pidfd == self.pidfd and self.socket.fileno() == socket:
                self.on_death()
            self.look()

    def on_death(self) -> None:
        for _ in range(200):  # its last words may still be on the line
            before = len(self.from_worker)
            self.on_worker()
            if len(self.from_worker) == before:
                break
        status = self.reap()
        number = os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else 0
        how = f"by signal {signal.Signals(number).name}" if number else "by leaving the process"
        self.restart("died", f"The code ended the Python process {how}.")


def main() -> None:
    """Read the configuration from the first line, give up what must not be kept, serve."""
    received = bytearray()
    while b"\n" not in received:
        data = os.read(HOST_IN, CHUNK)
        if not data:
            os._exit(0)
        received += data
    line, _, rest = bytes(received).partition(b"\n")
    config = json.loads(line)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_IGN)
    if config["uid"]:
        confine.drop_user(config["uid"])
    confine.prctl(confine.PR_SET_DUMPABLE, 0)
    confine.prctl(confine.PR_SET_CHILD_SUBREAPER, 1)
    sys.path[:] = config["python_path"]
    Supervisor(config, rest).run()

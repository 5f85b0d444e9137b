"""Process 1 of the sandbox: owns the line to the host, forks the worker, watches its limits, kills for certain.

It never parses what the worker sends: it counts bytes, adds its own header and passes them on. From the host it
reads JSON lines; to the host it writes a JSON header line followed by `payload` bytes. A request carries a random id
that the worker never learns; the worker gets a token per request, so that an answer which arrives late is dropped.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
from typing import Any

from agents_runner.sandboxes.inside import confine, processes, quota
from agents_runner.sandboxes.inside.interpreter import READY, TOOL_CALL
from agents_runner.sandboxes.inside.output import Output
from agents_runner.sandboxes.inside.request import Request
from agents_runner.sandboxes.inside.worker import Disturbed, Worker

HOST_IN, HOST_OUT = 0, 1
POLL_SECONDS = 0.1
DRAIN_SECONDS = 0.005
QUIET_SECONDS = 1.0  # in less, process ids cannot have gone once round
INTERRUPT_GRACE_SECONDS = 0.5
CHUNK = 1 << 18


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
        self.next_drain = 0.0
        self.next_disk_look = 0.0
        self.worker = Worker(config)

    # -- the worker -------------------------------------------------------------------------------------------------

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
            if pid == self.worker.pid:
                status = code

    def restart(self, kind: str, detail: str) -> None:
        """The worker is lost: kill what is left, report, begin anew."""
        self.kill_all()
        self.worker.drain(self.output)
        request, self.request = self.request, None
        self.worker.close()
        if request is not None:
            self.report(request, request.stopping or kind, detail, state_lost=True)
        elif self.ready:
            self.lost = detail  # between two steps: told when the next one is asked for
        else:
            self.send({"op": "failed", "detail": f"{detail} {self.output.text()[:4000]}"})
            os._exit(2)
        self.ready = False
        self.worker = Worker(self.config)

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
            self.worker.drain(self.output)
            self.output.clear()
            if self.lost:
                detail, self.lost = self.lost, ""
                self.report(Request(message), "died", f"{detail} (after the step before)", state_lost=True)
                return
            self.request = Request(message)
            self.next_look = time.monotonic() + POLL_SECONDS
            processes.kill(self.worker.pid, signal.SIGCONT)
            self.worker.tell({**message["body"], "token": self.request.token.hex()})
        elif request is not None and message.get("id") == request.id:
            if message["op"] == "tool_result":
                request.resume()
                self.worker.tell(message["body"])
            elif message["op"] == "interrupt":
                self.stop("interrupted", INTERRUPT_GRACE_SECONDS)

    # -- from the worker --------------------------------------------------------------------------------------------

    def on_worker(self) -> None:
        worker = self.worker
        worker.read()
        try:
            while worker is self.worker and (frame := worker.next_frame()) is not None:
                self.on_frame(*frame)
        except Disturbed:
            self.restart(
                "protocol", "The code disturbed the sandbox's own communication, so it was restarted."
            )

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
                self.worker.tell({"interrupt": True})
            else:
                self.send({"op": "tool_call", "id": request.id}, payload)
        else:
            self.finish(request, payload)

    def finish(self, request: Request, payload: bytes) -> None:
        """The worker is done: freeze it until the next request, report, and kill whatever it left running."""
        self.request = None
        processes.kill(self.worker.pid, signal.SIGSTOP)
        self.worker.drain(self.output)
        self.report(request, request.stopping or "done", "", state_lost=False, payload=payload)
        newest = processes.last_pid()
        if newest and newest == self.newest and time.monotonic() - request.began < QUIET_SECONDS:
            return  # nobody has started a process since the last look, which found none
        if processes.kill_descendants(os.getpid(), spare=self.worker.pid):
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
            self.worker.tell({"interrupt": True})
        else:
            processes.kill(self.worker.pid, signal.SIGINT)

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
        now = time.monotonic()
        seconds = min(POLL_SECONDS, request.remaining(), request.kill_at - now)
        if now < self.next_drain:
            seconds = min(seconds, self.next_drain - now)
        return max(0.0, seconds)

    def run(self) -> None:
        while True:
            worker = self.worker
            poller = select.poll()
            poller.register(HOST_IN, select.POLLIN)
            poller.register(worker.socket.fileno(), select.POLLIN | (select.POLLOUT if worker.pending else 0))
            if time.monotonic() >= self.next_drain:
                poller.register(worker.output, select.POLLIN)
            poller.register(worker.pidfd, select.POLLIN)
            seconds = self.wait_seconds()
            events = dict(poller.poll(None if seconds is None else seconds * 1000 + 0.5))
            died = worker.pidfd in events
            about_socket = events.get(worker.socket.fileno(), 0)
            if worker.output in events:
                worker.drain(self.output)
                # Code that prints line by line shall not wake us for every line.
                self.next_drain = time.monotonic() + DRAIN_SECONDS
            if about_socket & select.POLLOUT:
                worker.flush()
            if about_socket & (select.POLLIN | select.POLLHUP):
                self.on_worker()
            if HOST_IN in events:
                self.on_host()
            if died and worker is self.worker:
                self.on_death()
            self.look()

    def on_death(self) -> None:
        while self.worker.read():
            pass  # its last words may still be on the line
        worker = self.worker
        self.on_worker()
        if worker is not self.worker:
            return
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

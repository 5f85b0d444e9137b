"""Runs every snippet of hostile.json in one sandbox and prints, as JSON lines, what each did.

    python -m tests.security.corpus bubblewrap

`expected` in hostile.json says in words what a good sandbox does, `checks` what a machine can compare.
Never run this against anything that is not a finished sandbox: the snippets write to the machine.
"""

# ruff: noqa: PTH208

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from agents_runner.sandboxes.errors import SandboxError, StepFailed
from agents_runner.sandboxes.executor import SandboxExecutor
from agents_runner.sandboxes.folders import PREFIX
from agents_runner.sandboxes.inside import processes
from agents_runner.sandboxes.limits import SandboxLimits

SNIPPETS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "hostile.json").read_text())
CANARY_TEXT = "canary-5b1f0c7e"
SECRET_NAME, SECRET = "MEMORY_HUB_CANARY", "environment-5b1f0c7e"
LIMITS = SandboxLimits(
    memory_bytes=512 << 20, total_memory_bytes=768 << 20, step_seconds=2, grace_seconds=0.5, cpu_seconds=20
)
KINDS = {"exception": "error", "cpu": "timeout", "disk": "died", "processes": "died"}


@dataclass
class Report:
    """What a snippet did, and every way in which that was wrong."""

    name: str
    outcome: str = ""
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)


@dataclass
class Host:
    """The bait: files, a listening port, a process, a folder to drop things into."""

    folder: Path
    server: socket.socket

    @property
    def canary(self) -> Path:
        return self.folder / "canary"

    @property
    def drop(self) -> Path:
        return self.folder / "drop"

    def fill(self, code: str) -> str:
        values = {
            "CANARY": str(self.canary), "DROP": str(self.drop), "PID": str(os.getpid()),
            "PORT": str(self.server.getsockname()[1]), "SECRET": SECRET_NAME,
        }  # fmt: skip
        return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], code)

    def touched(self) -> list[str]:
        problems = []
        if os.listdir(self.drop):
            problems.append(f"files appeared on the host: {os.listdir(self.drop)}")
        if self.canary.read_text() != CANARY_TEXT:
            problems.append("the canary was changed")
        try:
            self.server.accept()
            problems.append("a connection arrived")
        except BlockingIOError:
            pass
        return problems


def make_host() -> Host:
    folder = Path(tempfile.mkdtemp(prefix="hostile-host-"))
    folder.chmod(0o755)
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen()
    server.setblocking(False)
    host = Host(folder, server)
    host.canary.write_text(CANARY_TEXT)
    host.canary.chmod(0o666)
    host.drop.mkdir()
    host.drop.chmod(0o777)
    os.environ[SECRET_NAME] = SECRET
    return host


class Echo:
    """The one tool that is offered."""

    description = "Gives back its argument."

    def __call__(self, value: Any) -> Any:
        return value


def measure(executor: SandboxExecutor, report: Report, code: str) -> tuple[Any, str]:
    """Run it; (value, everything that came out as text)."""
    value: Any = None
    text = ""
    began = time.monotonic()
    try:
        output = executor(code)
        report.outcome, value = "ok", output.output
    except StepFailed as failed:
        report.outcome = KINDS.get(failed.error.kind, failed.error.kind)
        text = f"{failed} {failed.error.traceback}"
    except SandboxError as error:
        report.outcome, text = "broken", str(error)
    report.seconds = round(time.monotonic() - began, 2)
    return value, text


def check(report: Report, checks: dict[str, Any], value: Any, logs: str, text: str) -> None:
    shown = repr(value)
    everything = logs + text + shown
    for forbidden in (CANARY_TEXT, SECRET, *checks.get("no_text", ())):
        if forbidden in everything:
            report.problems.append(f"{forbidden!r} came out")
    if "root:x:0" in everything and "/root" in everything:
        report.problems.append("the host's account file came out")
    if report.outcome not in checks.get("outcome", ("ok", "error", "timeout", "died", "memory", "protocol")):
        report.problems.append(f"outcome {report.outcome}: {text[:300]}")
    if "value" in checks and value != checks["value"]:
        report.problems.append(f"value {shown[:100]}")
    if "not_value" in checks and value == checks["not_value"]:
        report.problems.append(f"value {shown[:100]}")
    if "max_value" in checks and not (value is None or value <= checks["max_value"]):
        report.problems.append(f"value {shown[:100]}")
    if len(logs) > checks.get("max_logs", 200_000) or len(text) > 200_000:
        report.problems.append(f"{len(logs)} characters of logs, {len(text)} of error")
    if len(shown) > checks.get("max_value_len", 9_000_000):
        report.problems.append(f"a value of {len(shown)} characters")
    if report.seconds > LIMITS.step_seconds + LIMITS.grace_seconds + 6:
        report.problems.append(f"took {report.seconds} seconds")
    try:
        json.dumps([logs, text, shown]).encode("utf-8")
        (logs + text).encode("utf-8")
    except UnicodeError as error:
        report.problems.append(f"text that cannot be stored: {error}")


def check_afterwards(executor: SandboxExecutor, report: Report) -> None:
    """The executor must go on as if nothing had happened."""
    try:
        again = executor("'still ' + 'here'")
        if again.output != "still here" or again.is_final_answer:
            report.problems.append(f"the next step gave {again.output!r}")
    except SandboxError as error:
        try:  # a broken worker may cost one step, and says so
            again = executor("'still ' + 'here'")
            if again.output != "still here":
                report.problems.append(f"the step after next gave {again.output!r}")
        except SandboxError as second:
            report.problems.append(f"unusable afterwards: {error}; {second}")


def leftovers() -> list[str]:
    """Processes below this one, and this process's sandbox folders (it holds each open as long as it exists)."""
    until = time.monotonic() + 1.0
    while (left := processes.descendants(os.getpid())) and time.monotonic() < until:
        time.sleep(0.02)
    opened = [os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")]
    folders = [path for path in opened if Path(path).name.startswith(PREFIX)]
    return [f"left behind: {what}" for what in (left, folders) if what]


def run_snippet(sandbox: str, snippet: dict[str, Any], host: Host) -> Report:
    """One snippet in a sandbox of its own, which must be usable afterwards and leave nothing."""
    report = Report(snippet["name"])
    executor = SandboxExecutor(sandbox, limits=LIMITS)
    executor.send_tools({"echo": Echo()})
    executor.start()
    assert executor._session is not None
    folder = executor._session.folder.path
    value, text = measure(executor, report, host.fill(snippet["code"]))
    logs = executor.last_step.logs if executor.last_step else ""
    check(report, snippet["checks"], value, logs, text)
    check_afterwards(executor, report)
    executor.cleanup()
    report.problems += host.touched() + leftovers()
    if folder.exists():
        report.problems.append("the sandbox's folder is still there")
    return report


def run_corpus(sandbox: str) -> None:
    """Every snippet in turn; one JSON line each."""
    host = make_host()
    try:
        for snippet in SNIPPETS:
            print(json.dumps(asdict(run_snippet(sandbox, snippet, host))), flush=True)
    finally:
        host.server.close()
        shutil.rmtree(host.folder, ignore_errors=True)


if __name__ == "__main__":
    run_corpus(sys.argv[1])

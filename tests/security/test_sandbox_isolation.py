"""What code inside a sandbox cannot reach. Harmless probes: if one fails, nothing on the machine is damaged."""

# ruff: noqa: PTH208

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents_runner.sandboxes.executor import SandboxExecutor
from agents_runner.sandboxes.inside import processes
from agents_runner.sandboxes.limits import SandboxLimits
from agents_runner.sandboxes.select import NAMES

SANDBOXES = [name for name in NAMES if name != "auto"]
LIMITS = SandboxLimits(step_seconds=15)
OUTCOME = """
def outcome(function, *arguments):
    try:
        return repr(function(*arguments))
    except BaseException as error:
        return type(error).__name__
"""


@pytest.fixture(params=SANDBOXES)
def executor(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SandboxExecutor]:
    (tmp_path / "data.txt").write_text("the input")
    with SandboxExecutor(
        request.param, limits=LIMITS, inputs={"data.txt": tmp_path / "data.txt"}
    ) as executor:
        executor.define(OUTCOME)
        yield executor


def value(executor: SandboxExecutor, code: str) -> object:
    return executor(code).output


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file of the host that anybody may read and write, below folders that anybody may enter."""
    for folder in (tmp_path, *tmp_path.parents[:2]):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/tmp"):
            folder.chmod(0o755)
    tmp_path.chmod(0o777)
    file = tmp_path / "secret"
    file.write_text("canary")
    file.chmod(0o666)
    return file


def test_no_file_of_the_host_can_be_read(executor: SandboxExecutor, secret: Path) -> None:
    assert value(executor, f"outcome(open, {str(secret)!r})") in ("FileNotFoundError", "PermissionError")
    for path in (
        "/etc/passwd",
        "/etc/hostname",
        "/proc/1/environ",
        f"/proc/{os.getpid()}/environ",
        "/proc/kcore",
    ):
        text = str(value(executor, f"outcome(lambda: open({path!r}, 'rb').read())"))
        assert text in ("FileNotFoundError", "PermissionError", "ProcessLookupError", "b''")


def test_no_file_of_the_host_can_be_changed(executor: SandboxExecutor, secret: Path) -> None:
    before = secret.stat()
    target = str(secret.parent / "drop")
    for code in (
        f"outcome(open, {target!r}, 'w')",
        f"outcome(open, {str(secret)!r}, 'a')",
        f"outcome(os.truncate, {str(secret)!r}, 0)",
        f"outcome(os.chmod, {str(secret)!r}, 0)",
        f"outcome(os.utime, {str(secret)!r}, (0, 0))",
        f"outcome(os.unlink, {str(secret)!r})",
        f"outcome(os.rename, {str(secret)!r}, {target!r})",
        f"outcome(os.link, {str(secret)!r}, 'link')",
        f"outcome(os.symlink, 'x', {target!r})",
        f"outcome(os.mkdir, {target!r})",
        f"outcome(os.setxattr, {str(secret)!r}, 'user.x', b'1')",
        f"outcome(os.chown, {str(secret)!r}, os.getuid(), os.getgid())",
    ):
        value(executor, "import os\n" + code)
    after = secret.stat()
    assert secret.read_text() == "canary"
    assert (after.st_mode, after.st_mtime_ns, after.st_uid) == (
        before.st_mode,
        before.st_mtime_ns,
        before.st_uid,
    )
    assert os.listdir(secret.parent).count("drop") == 0
    assert "user.x" not in os.listxattr(secret)


def test_the_interpreter_and_the_packages_cannot_be_changed(executor: SandboxExecutor) -> None:
    code = """
import os, sys, numpy
paths = [os.__file__, numpy.__file__, sys.executable, os.path.dirname(numpy.__file__) + "/new", "/sbx/worker.pyc"]
[outcome(open, path, "a") for path in paths]
"""
    for text in value(executor, code):  # type: ignore[attr-defined]
        assert text in ("FileNotFoundError", "PermissionError", "OSError")


def test_inputs_are_read_only(executor: SandboxExecutor) -> None:
    assert value(executor, "open('/inputs/data.txt').read()") == "the input"
    for code in (
        "outcome(open, '/inputs/data.txt', 'w')",
        "outcome(open, '/inputs/new.txt', 'w')",
        "import os\noutcome(os.unlink, '/inputs/data.txt')",
        "import os\noutcome(os.rename, '/inputs/data.txt', '/inputs/b.txt')",
    ):
        assert value(executor, code) in ("PermissionError", "OSError")
    assert value(executor, "open('/inputs/data.txt').read()") == "the input"


def test_there_is_no_network(executor: SandboxExecutor) -> None:
    with socket.socket() as server, socket.socket(socket.AF_UNIX) as local:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(0.2)
        local.bind(f"\0memory-hub-test-{os.getpid()}")
        local.listen()
        local.settimeout(0.2)
        port = server.getsockname()[1]
        code = f"""
import socket
[outcome(socket.create_connection, ("127.0.0.1", {port}), 1),
 outcome(socket.create_server, ("127.0.0.1", 0)),
 outcome(socket.socket, socket.AF_INET6),
 outcome(socket.socket, socket.AF_NETLINK, socket.SOCK_RAW),
 outcome(lambda: socket.socket(socket.AF_UNIX).connect("\\0memory-hub-test-{os.getpid()}")),
 outcome(socket.getaddrinfo, "example.org", 80)]
"""
        assert all(text.endswith(("Error", "gaierror")) for text in value(executor, code))  # type: ignore[attr-defined]
        with pytest.raises(TimeoutError):
            server.accept()
        with pytest.raises(TimeoutError):
            local.accept()


def test_the_environment_of_the_host_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_HUB_SECRET", "do not tell")
    for name in SANDBOXES:
        with SandboxExecutor(name, limits=LIMITS) as executor:
            found = value(executor, "import os, subprocess\ndict(os.environ)")
            assert "do not tell" not in str(found)
            assert set(found) <= {  # type: ignore[call-overload]
                "PATH", "HOME", "TMPDIR", "INPUTS_DIR", "LANG", "TZ", "LD_LIBRARY_PATH", "PWD", "LC_CTYPE",
                "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_CORETYPE",
            }  # fmt: skip


def test_no_other_process_can_be_touched(executor: SandboxExecutor) -> None:
    victim = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        nice_before = os.getpriority(os.PRIO_PROCESS, victim.pid)
        code = f"""
import os, signal, resource
[outcome(os.kill, {victim.pid}, signal.SIGTERM),
 outcome(os.kill, os.getppid(), signal.SIGSTOP),
 outcome(resource.prlimit, {victim.pid}, resource.RLIMIT_NOFILE, (5, 5)),
 outcome(os.setpriority, os.PRIO_PROCESS, {victim.pid}, 19),
 outcome(os.sched_setaffinity, {victim.pid}, [0]),
 outcome(lambda: signal.pidfd_send_signal(os.pidfd_open({victim.pid}), signal.SIGTERM))]
"""
        texts = value(executor, code)
        assert texts[0].endswith("Error")  # type: ignore[index]
        assert texts[2].endswith("Error")  # type: ignore[index]
        time.sleep(0.1)
        assert victim.poll() is None
        assert resource.prlimit(victim.pid, resource.RLIMIT_NOFILE)[0] > 5
        assert os.getpriority(os.PRIO_PROCESS, victim.pid) == nice_before
        assert value(executor, "1 + 1") == 2
    finally:
        victim.kill()
        victim.wait()


def test_the_supervisor_cannot_be_looked_into(executor: SandboxExecutor) -> None:
    code = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
class Block(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
buffer = ctypes.create_string_buffer(8)
here, there = Block(ctypes.addressof(buffer), 8), Block(0x400000, 8)
parent = os.getppid()
[libc.ptrace(16, parent, 0, 0),
 libc.process_vm_readv(parent, ctypes.byref(here), 1, ctypes.byref(there), 1, 0),
 *[outcome(open, f"/proc/{parent}/{name}", "rb") for name in ("mem", "maps", "environ", "fd/0", "fd/1")]]
"""
    first, second, *opened = value(executor, code)  # type: ignore[misc]
    assert (first, second) == (-1, -1)
    assert all(text.endswith("Error") for text in opened)


def test_no_new_rights_and_no_namespaces(executor: SandboxExecutor) -> None:
    code = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
uid = os.getuid()
[uid, outcome(os.setuid, 0), libc.unshare(0x10000000), libc.prctl(39, 0, 0, 0, 0), libc.mount(b"x", b"/", b"tmpfs", 0, 0),
 libc.memfd_create(b"x", 0), libc.shmget(0, 4096, 0o1600), libc.setns(0, 0), libc.chroot(b"/")]
"""
    uid, set_uid, *results = value(executor, code)  # type: ignore[misc]
    assert uid != 0
    assert set_uid.endswith("Error")
    unshared, no_new_privileges, *others = results
    assert unshared == -1
    assert no_new_privileges == 1
    assert all(result == -1 for result in others)


def test_watching_the_host_is_refused(executor: SandboxExecutor, secret: Path) -> None:
    code = f"""
import ctypes
libc = ctypes.CDLL(None)
watcher = libc.inotify_init1(0)
watcher >= 0 and libc.inotify_add_watch(watcher, {str(secret.parent).encode()!r}, 0xfff) >= 0
"""
    assert value(executor, code) is False


def test_writable_folders_are_bounded_in_files_too(executor: SandboxExecutor) -> None:
    from agents_runner.sandboxes.errors import StepKilled

    with pytest.raises(StepKilled) as failed:
        executor("for number in range(10**9): open(f'f{number}', 'w').close()")
    assert failed.value.error.kind == "disk"
    assert value(executor, "import os\nos.listdir('.')") == []


def test_deleted_files_count(executor: SandboxExecutor) -> None:
    code = """
import os, time
kept = []
for number in range(20):
    kept.append(open("big", "wb"))
    kept[-1].write(b"x" * (16 << 20))
    kept[-1].flush()
    os.unlink("big")
    time.sleep(0.1)
"""
    with pytest.raises(Exception, match=r"No space left|too much"):
        executor(code)
    assert value(executor, "1 + 1") == 2


def test_what_a_step_leaves_running_is_gone_after_it(executor: SandboxExecutor) -> None:
    code = """
import os, signal, time
started = []
for _ in range(3):
    if (pid := os.fork()) == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(300)
    started.append(pid)
len(started)
"""
    assert value(executor, code) == 3
    session = executor._session
    assert session is not None
    assert session.started is not None
    until = time.monotonic() + 2
    # bwrap, process 1 and the worker; or the supervisor and the worker.
    while len(processes.descendants(session.started.process.pid)) > 2 and time.monotonic() < until:
        time.sleep(0.02)
    assert len(processes.descendants(session.started.process.pid)) <= 2


def test_nothing_runs_between_steps(executor: SandboxExecutor) -> None:
    executor(
        "import threading, time\ncount = 0\n"
        "def tick():\n    global count\n    while True:\n        count += 1\n        time.sleep(0.001)\n"
        "threading.Thread(target=tick, daemon=True).start()"
    )
    before = value(executor, "count")
    time.sleep(0.4)
    assert value(executor, "count") - before < 100  # type: ignore[operator]


def test_a_signal_from_the_terminal_does_not_reach_inside(executor: SandboxExecutor) -> None:
    executor("x = 1")
    session = executor._session
    assert session is not None
    assert session.started is not None
    assert os.getsid(session.started.process.pid) != os.getsid(0)
    os.kill(session.started.process.pid, signal.SIGINT) if executor.sandbox_name == "landlock" else None
    assert value(executor, "x") == 1

"""Starting, cleaning up, and what is left when a process is killed: nothing."""

# ruff: noqa: PTH116, PTH118, PTH208, PTH211

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents_runner.sandboxes import folders, interpreters
from agents_runner.sandboxes.executor import SandboxExecutor
from agents_runner.sandboxes.inside import processes, quota
from agents_runner.sandboxes.limits import SandboxLimits
from agents_runner.sandboxes.profiles import DEFAULT_PROFILE, resolve

EVERY_SANDBOX = pytest.mark.parametrize("sandbox", ["bubblewrap", "landlock"])
LIMITS = SandboxLimits(step_seconds=15)
REPOSITORY = Path(__file__).parents[2]


def alive(pids: list[int]) -> list[int]:
    tree = processes.parents()
    return [pid for pid in pids if pid in tree]


def wait_for(condition: object, seconds: float = 3.0) -> bool:
    until = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


@EVERY_SANDBOX
def test_cleanup_leaves_no_process_and_no_folder(sandbox: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    executor = SandboxExecutor(sandbox, limits=LIMITS, inputs={"a": tmp_path / "a"})
    executor(
        "import os, time\nos.makedirs('deep/' * 200)\nopen('deep/file', 'w').write('x')\nos.chmod('deep', 0)\n"
        "os.symlink('/', 'link')"
    )
    session = executor._session
    assert session is not None
    assert session.started is not None
    pid, folder = session.started.process.pid, session.folder.path
    below = [pid, *processes.descendants(pid)]
    assert len(below) >= 2
    executor.cleanup()
    executor.cleanup()
    assert alive(below) == []
    assert not folder.exists()
    assert (tmp_path / "a").read_text() == "x"


@EVERY_SANDBOX
def test_after_cleanup_a_step_starts_anew(sandbox: str) -> None:
    with SandboxExecutor(sandbox, limits=LIMITS) as executor:
        executor.send_variables({"given": 1})
        executor("x = 1")
        executor.cleanup()
        assert executor("given, 'x' in globals()").output == (1, False)


def open_to_others(folder: Path) -> None:
    """Let root's sandboxes, which run as another user, get to the folder; else they take a common one."""
    for part in (folder, *folder.parents):
        if part == Path(tempfile.gettempdir()):
            break
        part.chmod(0o755)


@EVERY_SANDBOX
def test_a_killed_host_process_leaves_nothing_running_and_its_folder_is_swept(
    sandbox: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = f"""
import os, sys
from agents_runner.sandboxes.executor import SandboxExecutor
from agents_runner.sandboxes.inside import processes
executor = SandboxExecutor({sandbox!r})
executor.send_tools({{"report": lambda: print(*processes.descendants(os.getpid()), flush=True)}})
executor("import os, time\\nif os.fork() == 0:\\n    os.setsid()\\n    time.sleep(100)\\nreport()\\nwhile True: pass")
"""
    environment = {
        **os.environ,
        "TMPDIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *filter(None, sys.path)]),
    }
    open_to_others(tmp_path)
    host = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
    assert host.stdout is not None
    pids = [int(pid) for pid in host.stdout.readline().split()]
    assert len(pids) >= 3
    assert len(alive(pids)) == len(pids)
    host.send_signal(signal.SIGKILL)
    host.wait()
    assert wait_for(lambda: not alive(pids)), alive(pids)
    left = list(tmp_path.glob(folders.PREFIX + "*"))
    assert len(left) == 1
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert folders.sweep() == 0  # too young: its owner might not have locked it yet
    monkeypatch.setattr(folders, "YOUNG_SECONDS", -1.0)
    assert folders.sweep() == 1
    assert list(tmp_path.glob(folders.PREFIX + "*")) == []


def test_sweeping_spares_folders_in_use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    open_to_others(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(folders, "YOUNG_SECONDS", -1.0)
    folder = folders.SandboxFolder({})
    assert folders.sweep() == 0
    assert folder.work.is_dir()
    folder.remove()
    assert not folder.path.exists()


@EVERY_SANDBOX
def test_a_sandbox_outlives_the_thread_that_made_it(sandbox: str) -> None:
    executor = SandboxExecutor(sandbox, limits=LIMITS)
    thread = threading.Thread(target=lambda: executor("x = 1"))
    thread.start()
    thread.join()
    time.sleep(0.1)
    with executor:
        assert executor("x").output == 1


@EVERY_SANDBOX
def test_two_sandboxes_at_once_do_not_meet(sandbox: str) -> None:
    with SandboxExecutor(sandbox, limits=LIMITS) as one, SandboxExecutor(sandbox, limits=LIMITS) as two:
        one("import os\nopen('/work/mine', 'w').write('x')\nx = os.getpid()")
        two("import os")
        assert two("os.listdir('/work'), 'x' in globals()").output == ([], False)
        if os.geteuid() == 0:
            assert one("os.getuid()").output != two("os.getuid()").output


@EVERY_SANDBOX
def test_a_private_temporary_folder_and_private_inputs_are_enough(
    sandbox: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "data"
    private.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    (private / "secret.csv").write_text("a\n1\n")
    (private / "secret.csv").chmod(0o600)
    with SandboxExecutor(sandbox, limits=LIMITS, inputs={"secret.csv": private / "secret.csv"}) as executor:
        assert executor("open('/inputs/secret.csv').read()").output == "a\n1\n"
    assert (private / "secret.csv").stat().st_mode & 0o777 == 0o600


@pytest.fixture
def private_umask() -> Iterator[None]:
    """What bin/start sets: what it makes is its own."""
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.fixture
def no_copy_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the copy for other users will come: a folder that is not there, and nothing made before is known."""
    tmp_path.chmod(0o755)
    shared = tmp_path / "new" / "shared"
    monkeypatch.setattr(interpreters, "SHARED_FOLDERS", (shared,))
    interpreters.for_any_user.cache_clear()
    yield shared
    interpreters.for_any_user.cache_clear()


@EVERY_SANDBOX
@pytest.mark.usefixtures("private_umask", "no_copy_yet")
def test_a_sandbox_works_from_a_process_whose_files_are_private(sandbox: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    with SandboxExecutor(sandbox, limits=LIMITS, inputs={"a.csv": tmp_path / "a.csv"}) as executor:
        assert executor("import numpy\nopen('/inputs/a.csv').read()").output == "a\n1\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root shares a folder")
@pytest.mark.usefixtures("private_umask")
def test_a_shared_folder_that_was_left_closed_is_opened(no_copy_yet: Path) -> None:
    no_copy_yet.parent.mkdir()
    no_copy_yet.parent.chmod(0o755)
    no_copy_yet.mkdir()
    assert interpreters.shared_folder() == no_copy_yet
    assert no_copy_yet.stat().st_mode & 0o777 == 0o755


@pytest.mark.usefixtures("private_umask")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs a copy of the interpreter")
def test_the_copy_for_other_users_is_readable_by_all_and_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o755)
    monkeypatch.setattr(interpreters, "SHARED_FOLDERS", (tmp_path / "shared",))
    monkeypatch.setattr(interpreters, "readable_by_others", lambda path, **_: path == tmp_path / "shared")
    make = interpreters.for_any_user.__wrapped__
    packages = resolve(DEFAULT_PROFILE)
    interpreter, copied = make(packages, from_root=True)
    assert (interpreter.library / "os.py").stat().st_mode & 0o004
    for name, path in copied.items:
        assert path.exists(), name
        assert all(
            above.stat().st_mode & 0o005 == 0o005 for above in path.parents if tmp_path in above.parents
        )
        for folder, _, files in os.walk(path):
            assert os.stat(folder).st_mode & 0o005 == 0o005
            assert all(os.stat(os.path.join(folder, file)).st_mode & 0o004 for file in files)
    stamp = (tmp_path / "shared").stat().st_mtime_ns
    assert make(packages, from_root=True) == (interpreter, copied)
    assert (tmp_path / "shared").stat().st_mtime_ns == stamp


def test_emptying_a_folder_follows_no_link_and_knows_no_depth(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    folder = tmp_path / "folder"
    folder.mkdir()
    os.symlink(outside, folder / "link")
    here = os.open(folder, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    quota.empty(str(folder))
    assert os.listdir(folder) == []
    assert (outside / "kept").read_text() == "x"

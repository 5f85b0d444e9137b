"""The Landlock sandbox, for machines (and containers) that refuse namespaces: the same worker, restricted by itself.

Landlock governs which files can be opened, TCP, and signals; seccomp refuses what it does not govern; resource limits
and the supervisor do the rest. There is no mount namespace: /inputs, /work and /tmp are folders of ours elsewhere, and
paths that the code writes as literals ("/inputs/a.csv") are translated before it runs (inside/rewrite.py).
What remains visible: names and sizes of host files that the code guesses, since looking at attributes is not governed.
"""

from __future__ import annotations

import ctypes
import functools
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

from agents_runner.sandboxes import interpreters, launch, seccomp
from agents_runner.sandboxes.bundle import worker_pyc
from agents_runner.sandboxes.errors import SandboxUnavailable
from agents_runner.sandboxes.folders import SandboxFolder
from agents_runner.sandboxes.inside import processes
from agents_runner.sandboxes.limits import SandboxLimits
from agents_runner.sandboxes.profiles import PackageProfile, resolve

NAME = "landlock"

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << bit for bit in range(6))
MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = (1 << bit for bit in range(6, 13))
REFER, TRUNCATE, IOCTL_DEV = (1 << bit for bit in range(13, 16))
BIND_TCP, CONNECT_TCP = 1, 2
SCOPE_ABSTRACT_SOCKET, SCOPE_SIGNAL = 1, 2

READ = EXECUTE | READ_FILE | READ_DIR
WRITE = (
    READ_FILE | READ_DIR | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_FIFO | MAKE_SYM
)
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/dev/full")


@functools.cache
def abi() -> int:
    """The kernel's Landlock version; 0 when it has none (or it is switched off)."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return max(0, int(libc.syscall(444, None, ctypes.c_size_t(0), 1)))


def rules(readable: list[Path], writable: list[Path], version: int) -> dict[str, Any]:
    """The ruleset as plain data for the worker, as strict as this version of Landlock can be."""
    handled = (1 << 13) - 1
    for since, right in ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)):
        if version >= since:
            handled |= right
    paths: list[tuple[str, int]] = []
    for path in readable:
        paths.append((str(path), (READ if path.is_dir() else EXECUTE | READ_FILE) & handled))
    for path in writable:
        paths.append((str(path), (WRITE | REFER | TRUNCATE) & handled))
    for device in DEVICES:
        paths.append((device, (READ_FILE | WRITE_FILE) & handled & OF_FILES))
    return {
        "fs": handled,
        "net": BIND_TCP | CONNECT_TCP if version >= 4 else 0,
        "scoped": SCOPE_ABSTRACT_SOCKET | SCOPE_SIGNAL if version >= 6 else 0,
        "size": 24 if version >= 6 else 16 if version >= 4 else 8,
        "paths": paths,
    }


def start(*, profile: PackageProfile, limits: SandboxLimits, folder: SandboxFolder) -> launch.Started:
    """Start one. Raises SandboxUnavailable when this machine cannot, OSError."""
    version = abi()
    if version < 1:
        raise SandboxUnavailable("this kernel has no Landlock (Linux 5.13 or newer with it switched on)")
    root = os.geteuid() == 0
    packages = resolve(profile)
    python = interpreters.current()
    uid = 0
    if root:
        python, packages = interpreters.for_any_user(packages, from_root=True)
        uid = launch.free_user_id()
    try:
        filter_program = seccomp.program(no_namespaces=True, landlock_abi=version)
    except NotImplementedError as error:
        raise SandboxUnavailable(str(error)) from None
    worker = folder.path / "worker.pyc"
    worker.write_bytes(worker_pyc())
    worker.chmod(0o444)
    site = folder.path / "site"
    interpreters.make_public_folder(site)
    for name, path in packages.items:
        interpreters.make_public_folder((site / name).parent)
        (site / name).symlink_to(path)
    writable = [folder.work, folder.tmp]
    if root:
        for path in writable:
            os.chown(path, uid, uid)
    readable = [python.library, python.program, *python.shared_libraries, site, folder.inputs, launch.ZONES]
    readable += [*launch.system_libraries(), Path("/etc/ld.so.cache"), *(path for _, path in packages.items)]
    config = launch.configuration(
        limits, uid=0, landlock=rules([p for p in readable if p.exists()], writable, version),
        seccomp=filter_program.hex(), work=str(folder.work), writable=[str(path) for path in writable], mounts=False,
        folders={"/inputs": str(folder.inputs), "/work": str(folder.work), "/tmp": str(folder.tmp)},
        python_path=launch.python_path(str(python.library), str(site)),
    )  # fmt: skip
    inside = launch.environment(
        str(python.prefix), home=str(folder.work), tmp=str(folder.tmp), inputs=str(folder.inputs),
        has_libpython=bool(python.shared_libraries),
    )  # fmt: skip
    diagnosis = launch.memory_file("diagnosis")
    command = [str(python.program), *launch.PYTHON_FLAGS, str(worker)]
    try:
        process = launch.start(command, env=inside, diagnosis=diagnosis, uid=uid)
    except OSError as error:
        os.close(diagnosis)
        raise SandboxUnavailable(f"the interpreter could not be started: {error}") from error
    shown = [(str(folder.inputs), "/inputs"), (str(folder.work), "/work"), (str(folder.tmp), "/tmp")]
    shown.append((str(site), "/sbx/site"))
    if not python.is_system:
        shown.append((str(python.prefix), "/sbx/python"))
    return launch.Started(process, config, lambda: kill(process), diagnosis, shown)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the supervisor and everything below it.

    It is stopped first: while it exists, orphans become its children, so none can get away; then it goes itself.
    """
    if process.poll() is not None:
        return  # its id may mean another process by now; its worker died with it
    processes.kill(process.pid, signal.SIGSTOP)
    processes.kill_descendants(process.pid)
    processes.kill(process.pid, signal.SIGKILL)

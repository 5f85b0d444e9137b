"""Which processes descend from which, what they use, and killing them so that none gets away. Reads /proc."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a set of processes uses at this moment. memory_bytes: resident, without pages of files."""

    memory_bytes: int = 0
    cpu_seconds: float = 0.0
    threads: int = 0


def read(path: str) -> str:
    """A file of /proc, or "" when its process is gone."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(descriptor, 8192).decode("ascii", "replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def parents() -> dict[int, int]:
    """pid -> parent's pid, of every living process that can be seen."""
    found: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            fields = read(f"/proc/{name}/stat").rpartition(")")[2].split()
            if len(fields) > 1 and fields[0] not in ("Z", "X"):
                found[int(name)] = int(fields[1])
    return found


def last_pid() -> str:
    """The id that was given out last (in our namespace). While it stays, nobody has started anything."""
    return read("/proc/loadavg").rpartition(" ")[2].strip()


def descendants(root: int) -> list[int]:
    """Every living process below `root`, whatever session or group it moved to.

    Complete as long as `root` is a subreaper (or process 1), since orphans then become its children.
    """
    tree = parents()
    children: dict[int, list[int]] = {}
    for pid, parent in tree.items():
        children.setdefault(parent, []).append(pid)
    found: list[int] = []
    queue = [root]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    """Send a signal to a process that may be gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def kill_descendants(root: int, *, spare: int = 0, seconds: float = 2.0) -> bool:
    """Kill everything below `root` but `spare`, again and again until a look finds nothing. Returns success.

    A process that is being killed can no longer fork, so each round leaves fewer.
    """
    until = time.monotonic() + seconds
    while True:
        victims = [pid for pid in descendants(root) if pid != spare]
        if not victims:
            return True
        for pid in victims:
            kill(pid)
        if time.monotonic() > until:
            return False
        time.sleep(0.001)


def usage(pids: list[int]) -> Usage:
    """What these processes use together. CPU time includes that of their own dead children."""
    memory = threads = 0
    cpu = 0.0
    for pid in pids:
        fields = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
        if len(fields) > 21:
            cpu += sum(int(value) for value in fields[11:15]) / TICKS_PER_SECOND
            threads += int(fields[17])
        for line in read(f"/proc/{pid}/status").splitlines():
            if line.startswith(("RssAnon:", "RssShmem:")):
                memory += int(line.split()[1]) * 1024
    return Usage(memory, cpu, threads)


def tasks_of(uid: int) -> int:
    """Processes and threads of a user on the whole machine: what RLIMIT_NPROC is compared with."""
    count = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            lines = read(f"/proc/{name}/status").splitlines()
            fields = {
                line.partition(":")[0]: line.split()[1]
                for line in lines
                if line.startswith(("Uid:", "Threads:"))
            }
            if fields.get("Uid") == str(uid):
                count += int(fields.get("Threads", "1"))
    return count

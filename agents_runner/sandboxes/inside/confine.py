"""What the worker gives up before it touches hostile code: limits, then (outside a namespace) Landlock and seccomp."""

from __future__ import annotations

import ctypes
import os
import resource
from typing import Any

from agents_runner.sandboxes.inside import processes

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = (
    444,
    445,
    446,
)  # the same on every platform
LANDLOCK_RULE_PATH_BENEATH = 1

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
libc.prctl.argtypes = (ctypes.c_int, *[ctypes.c_ulong] * 4)


def check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return int(result)


def prctl(option: int, argument: int = 0, address: int = 0) -> None:
    """prctl(2). Raises OSError."""
    check(libc.prctl(option, argument, address, 0, 0), f"prctl({option})")


def drop_user(uid: int) -> None:
    """Leave uid 0 for good: NPROC and file permissions do not bind root."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def set_limits(limits: dict[str, int]) -> None:
    """Hard resource limits of this process and everything it starts."""
    for name, value in (
        (resource.RLIMIT_AS, limits["memory_bytes"]),
        (resource.RLIMIT_NPROC, limits["process_count"]),
        (resource.RLIMIT_FSIZE, limits["file_bytes"]),
        (resource.RLIMIT_NOFILE, limits["open_file_count"]),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_STACK, 16 * 1024 * 1024),
    ):
        hard = resource.getrlimit(name)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(name, (value, value))


class _Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def apply_landlock(rules: dict[str, Any]) -> None:
    """Restrict files, TCP and signals. `rules`: handled masks, struct size for this kernel, [[path, mask], ...]."""
    handled = _Ruleset(rules["fs"], rules["net"], rules["scoped"])
    ruleset = check(
        libc.syscall(LANDLOCK_CREATE_RULESET, ctypes.byref(handled), ctypes.c_size_t(rules["size"]), 0),
        "landlock",
    )
    for path, mask in rules["paths"]:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        rule = _PathBeneath(mask, descriptor)
        check(
            libc.syscall(LANDLOCK_ADD_RULE, ruleset, LANDLOCK_RULE_PATH_BENEATH, ctypes.byref(rule), 0),
            f"landlock rule for {path}",
        )
        os.close(descriptor)
    check(libc.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def apply_seccomp(program: bytes) -> None:
    """Install a BPF program (8 bytes an instruction) for this process and everything it starts."""
    buffer = ctypes.create_string_buffer(program, len(program))
    block = _Program(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(block))


def be_killed_first() -> None:
    """If the machine runs out of memory, it shall take this process and not the supervisor (or the host's)."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")
    except OSError:
        pass


def confine(config: dict[str, Any]) -> None:
    """Apply everything `config` says to this process. Raises OSError: then the worker must not run."""
    prctl(PR_SET_DUMPABLE, 1)  # the supervisor, of the same user, must be able to see its open files
    prctl(PR_SET_PDEATHSIG, 9)
    be_killed_first()
    os.nice(5)
    limits = dict(config["limits"])
    if config["landlock"] is None:
        set_limits(limits)
        return
    # The user's processes outside count too, as there is no namespace of our own.
    limits["process_count"] += processes.tasks_of(os.getuid())
    set_limits(limits)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    apply_landlock(config["landlock"])
    apply_seccomp(bytes.fromhex(config["seccomp"]))

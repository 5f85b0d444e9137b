"""Start and end child processes that must not outlive us: Linux parent-death signals, bounded stops."""

import ctypes
import os
import pwd
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def spawn(
    command: Sequence[str | Path],
    *,
    log: Path,
    environment: Mapping[str, str],
    folder: Path,
    death_signal: int,
    account: pwd.struct_passwd | None = None,
    error_log: Path | None = None,
    keep_open: Sequence[int] = (),
) -> "subprocess.Popen[bytes]":
    """Start `command` in a session of its own, its output appended to `log`; return the process.

    The kernel sends it `death_signal` when the thread that called us ends, so call from the main thread.
    `account` is whom to run as, when we are root; `error_log` takes standard error apart;
    `keep_open` are descriptors of ours that it inherits.
    A Ctrl-C in the terminal does not reach it: we decide.
    """
    parent = os.getpid()

    def before_exec() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != parent:  # the parent died between fork and prctl
            os._exit(1)

    with log.open("ab") as output, (error_log or log).open("ab") as errors:
        return subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
            pass_fds=keep_open,
            preexec_fn=before_exec,  # safe: our launchers start no threads
            user=account.pw_uid if account else None,
            group=account.pw_gid if account else None,
            extra_groups=[] if account else None,
        )


def stop(process: "subprocess.Popen[bytes]", steps: Sequence[tuple[int, float]]) -> int:
    """Send each signal of `steps` and wait its seconds, until the process ends; KILL its group at last.

    Returns the exit code.
    """
    for number, seconds in steps:
        if process.poll() is not None:
            break
        with suppress(ProcessLookupError):
            process.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def minimal_environment() -> dict[str, str]:
    """Return the few variables that a server of ours needs: no secret or locale of the caller's."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def last_lines(log: Path, count: int = 3) -> str:
    """Return the last lines of a log joined into one, for an error message; "" where there is no log."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 4096))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    return " / ".join([line.strip() for line in text.splitlines() if line.strip()][-count:])

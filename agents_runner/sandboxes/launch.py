"""What every sandbox needs to start: the environment inside, descriptors of our own, the started process."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from agents_runner.sandboxes.inside import processes
from agents_runner.sandboxes.limits import SandboxLimits

# systemd keeps these user ids for processes without an account; each sandbox of root's takes a free one, so that
# limits per user are limits per sandbox.
USER_IDS = range(61184, 65520)
ZONES = Path("/usr/share/zoneinfo")
PYTHON_FLAGS = ("-I", "-S", "-B", "-X", "utf8")


@dataclass
class Started:
    """A sandbox that was started but has not answered yet.

    config:       what its supervisor is told first.
    replacements: (path on the host, path shown to the agent) for everything that comes out.
    kill:         ends every process inside for certain.
    """

    process: subprocess.Popen[bytes]
    config: dict[str, Any]
    kill: Callable[[], None]
    diagnosis: int
    replacements: list[tuple[str, str]] = field(default_factory=list)

    def complaint(self) -> str:
        """What the starting program wrote to stderr."""
        with contextlib.suppress(OSError):
            return os.pread(self.diagnosis, 4000, 0).decode("utf-8", "replace").strip()
        return ""

    def close(self) -> None:
        """Kill everything and collect it. May be called twice."""
        self.kill()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.diagnosis >= 0:
            os.close(self.diagnosis)
            self.diagnosis = -1


def environment(
    interpreter_folder: str, *, home: str, tmp: str, inputs: str, has_libpython: bool
) -> dict[str, str]:
    """The whole environment inside; nothing of the host's but one hint about the processor."""
    variables = {
        "PATH": f"{interpreter_folder}/bin",
        "HOME": home,
        "TMPDIR": tmp,
        "INPUTS_DIR": inputs,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        # One thread each: otherwise a library reserves memory and processes for every core of the machine.
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }
    if has_libpython:
        variables["LD_LIBRARY_PATH"] = f"{interpreter_folder}/lib"
    if "OPENBLAS_CORETYPE" in os.environ:
        variables["OPENBLAS_CORETYPE"] = os.environ["OPENBLAS_CORETYPE"]
    return variables


def python_path(library: str, site: str) -> list[str]:
    """sys.path inside."""
    return [library, f"{library}/lib-dynload", site]


def system_libraries() -> list[Path]:
    """Existing folders and files of the system's shared libraries (the C library and what packages link to)."""
    multiarch = sysconfig.get_config_var("MULTIARCH")
    specific = Path(f"/usr/lib/{multiarch}") if multiarch else None
    found = [Path("/usr/lib64")]
    found.append(specific if specific is not None and specific.is_dir() else Path("/usr/lib"))
    for path in (Path("/lib"), Path("/lib64")):
        if path.is_dir() and not path.is_symlink():
            found.append(path)
    return [path for path in found if path.is_dir() and not path.is_symlink()]


def configuration(limits: SandboxLimits, **more: Any) -> dict[str, Any]:
    """What the supervisor is told; `more` differs between sandboxes."""
    return {"op": "init", "limits": asdict(limits), **more}


def free_user_id() -> int:
    """A user id no process runs under (Linux, as root)."""
    taken = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            for line in processes.read(f"/proc/{name}/status").splitlines():
                if line.startswith("Uid:"):
                    taken.add(int(line.split()[1]))
    return random.SystemRandom().choice([uid for uid in USER_IDS if uid not in taken])


def memory_file(name: str, data: bytes = b"") -> int:
    """An anonymous file holding `data`, positioned at its beginning."""
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC)
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def start(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    diagnosis: int,
    pass_fds: Sequence[int] = (),
    uid: int = 0,
) -> subprocess.Popen[bytes]:
    """Start a process of ours with pipes and nothing inherited. Raises OSError."""
    identity: dict[str, Any] = {"user": uid, "group": uid, "extra_groups": []} if uid else {}
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=diagnosis, env=dict(env), cwd="/", bufsize=0,
        pass_fds=pass_fds, start_new_session=True, umask=0o022, **identity,
    )  # fmt: skip


def signal_process(descriptor: int, number: int) -> None:
    """Signal a process by pidfd, which can never mean another process; harmless when it is gone."""
    with contextlib.suppress(ProcessLookupError, OSError):
        signal.pidfd_send_signal(descriptor, number)

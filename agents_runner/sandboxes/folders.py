"""The private folder of one sandbox on the host, and sweeping away what killed processes left behind."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from agents_runner.sandboxes.errors import SandboxError
from agents_runner.sandboxes.inside import quota

logger = logging.getLogger(__name__)

PREFIX = "memory-hub-sandbox-"
YOUNG_SECONDS = 30.0
FILE_NAME = re.compile(r"[^/\0]{1,255}")


def temporary_folder() -> Path:
    """Where sandboxes' folders go: the usual temporary folder, unless root's is private.

    Root's sandboxes run as another user, who must be able to get there.
    """
    usual = Path(tempfile.gettempdir())
    if os.geteuid() != 0:
        return usual
    for folder in (usual, Path("/tmp"), Path("/var/tmp")):
        with contextlib.suppress(OSError):
            real = folder.resolve()
            if all(part.stat().st_mode & stat.S_IXOTH for part in (real, *real.parents)):
                return folder
    return usual


class SandboxFolder:
    """<temporary folder>/memory-hub-sandbox-.../ with `inputs` (read-only copies), `work` and `tmp`.

    A lock on it is held as long as this process lives; a folder nobody holds a lock on is swept by the next start.
    """

    def __init__(self, inputs: Mapping[str, str | PathLike[str]]) -> None:
        """Copies the input files. Raises SandboxError for a name or file that will not do."""
        for name in inputs:
            if not FILE_NAME.fullmatch(name) or name in (".", ".."):
                raise SandboxError(f"{name!r} is not the name of an input file")
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=temporary_folder()))
        self.lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.inputs = self.path / "inputs"
        self.work = self.path / "work"
        self.tmp = self.path / "tmp"
        try:
            # Others may pass through but not list: root's sandboxes run as a user of their own.
            self.path.chmod(0o711 if os.geteuid() == 0 else 0o700)
            self.inputs.mkdir()
            self.work.mkdir(mode=0o700)
            self.tmp.mkdir(mode=0o700)
            for name, source in inputs.items():
                if not Path(source).is_file():
                    raise SandboxError(f"the input file {name} does not exist")
                shutil.copyfile(source, self.inputs / name)
                (self.inputs / name).chmod(0o444)
            self.inputs.chmod(0o555)
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """Delete the folder. May be called twice."""
        remove_tree(self.path)
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1


def remove_tree(path: Path) -> None:
    """Delete a sandbox's folder, whatever its code made of the inside: any depth, any mode, links not followed."""
    for name in ("work", "tmp", "inputs"):
        with contextlib.suppress(OSError):
            (path / name).chmod(0o700)  # only this process can have made it a link, and it does not
            quota.empty(str(path / name))
    shutil.rmtree(path, ignore_errors=True)


def sweep() -> int:
    """Remove folders of processes that no longer live; called when a process makes its first sandbox.

    Returns how many were removed.
    """
    removed = 0
    for path in temporary_folder().glob(PREFIX + "*"):
        try:
            about = path.lstat()
            if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid():
                continue
            if time.time() - about.st_mtime < YOUNG_SECONDS:
                continue  # perhaps not locked yet
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_tree(path)
            removed += 1
        except OSError:
            continue  # in use
        finally:
            os.close(lock)
    if removed:
        logger.info("removed %d folders of sandboxes whose process was killed", removed)
    return removed

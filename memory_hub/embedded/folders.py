"""Folders, small files and locks that the embedded services need: private, atomic, gone with their holder."""

import fcntl
import hashlib
import json
import os
import re
import stat
from pathlib import Path
from typing import Any

# sun_path holds 108 bytes; PostgreSQL appends "/.s.PGSQL.5432.lock" to the folder's name.
LONGEST_SOCKET_FOLDER = 80


class EmbeddedError(Exception):
    """An embedded service cannot be had; the message is one line for the user that says what to do."""


class DataFolderBusyError(EmbeddedError):
    """Another process uses the data folder."""


def private_folder(path: Path) -> Path:
    """Make `path` (parents included) for the present user alone, and return it; EmbeddedError if impossible."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise EmbeddedError(f"{path} is needed as a folder, but a file is in its place.") from None
    except OSError as error:
        raise EmbeddedError(f"The folder {path} cannot be made: {error.strerror}.") from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise EmbeddedError(f"The folder {path} cannot be written by this user.")
    return path


def write_private(path: Path, text: str) -> None:
    """Write a file readable by the present user alone; after a crash it is there whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file, {} where there is no such file; EmbeddedError where it is damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise EmbeddedError(f"{path} cannot be read ({error}); restore it from a backup.") from error
    if not isinstance(value, dict):
        raise EmbeddedError(f"{path} does not hold what it should; restore it from a backup.")
    return value


def socket_folder(data_dir: Path) -> Path:
    """Return a private folder for unix sockets, short and plain enough for everybody who parses their address.

    `<data>/run` where its name is that, else a folder under /tmp that nobody else may own. Not
    XDG_RUNTIME_DIR: that vanishes when the user logs out, and the hub may outlive the session.
    """
    inside = data_dir / "run"
    if len(os.fsencode(inside)) <= LONGEST_SOCKET_FOLDER and re.fullmatch(r"[A-Za-z0-9_./-]+", str(inside)):
        return private_folder(inside)
    name = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
    outside = private_folder(Path(f"/tmp/memory-hub-{os.getuid()}-{name}"))  # noqa: S108  (checked below)
    status = outside.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise EmbeddedError(
            f"{outside} is not a private folder of this user; remove it, or use a shorter --data."
        )
    return outside


class FolderLock:
    """An exclusive lock on a folder that the kernel releases when its holder dies, however it dies."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """Take the lock and write our process id into it; False, at once, where somebody else has it."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        self._descriptor = descriptor
        return True

    def holder(self) -> str:
        """Return the process id that the holder wrote, "" where it is not known."""
        try:
            return self.path.read_text().strip()
        except OSError:
            return ""

    def held_by_somebody(self) -> bool:
        """Return whether any process, this one included, holds the lock."""
        if self._descriptor is not None:
            return True
        try:
            descriptor = os.open(self.path, os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def release(self) -> None:
        """Give the lock back; without effect where we do not hold it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

"""Keeps what could not be sent, as small files, until the hub is back. Bounded; the oldest go first."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MAX_FILES = 200
MAX_BYTES = 20 * 1024 * 1024


def default_spool_root() -> Path:
    """The user's cache folder of this platform."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "memory-hub-client" / "spool"


class Spool:
    """Unsent requests for one project of one hub. Several processes may use it at once.

    Files are readable by their owner only. Methods raise OSError when the folder cannot be used.
    """

    def __init__(self, root: Path, base_url: str, project: str) -> None:
        # A folder per hub and project: nothing is ever sent to another hub than it was meant for.
        self.folder = root / hashlib.sha256(f"{base_url}\n{project}".encode()).hexdigest()[:16]

    def add(self, entry: dict[str, Any]) -> bool:
        """Keep one request; False when it alone is larger than the whole spool may be."""
        data = json.dumps(entry, ensure_ascii=False).encode("utf-8", "surrogatepass")
        if len(data) > MAX_BYTES:
            return False
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = f"{time.time_ns():020d}-{uuid.uuid4().hex[:8]}"
        partial = self.folder / f"{name}.part"
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        partial.replace(self.folder / f"{name}.json")  # whole or not at all
        self._trim()
        return True

    def entries(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Kept requests, oldest first. A file that cannot be read as one is removed."""
        for path in self._files():
            try:
                entry = json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
            except FileNotFoundError:
                continue  # another process has just sent it
            except ValueError:
                path.unlink(missing_ok=True)
                continue
            if isinstance(entry, dict):
                yield path, entry
            else:
                path.unlink(missing_ok=True)

    def remove(self, path: Path) -> None:
        """Forget a request that was sent or refused for good."""
        path.unlink(missing_ok=True)

    def __len__(self) -> int:
        return len(self._files())

    def _files(self) -> list[Path]:
        try:
            return sorted(self.folder.glob("*.json"))
        except OSError:
            return []

    def _trim(self) -> None:
        kept, size = 0, 0
        for path in reversed(self._files()):
            try:
                length = path.stat().st_size
            except FileNotFoundError:
                continue
            kept, size = kept + 1, size + length
            if kept > MAX_FILES or size > MAX_BYTES:
                path.unlink(missing_ok=True)

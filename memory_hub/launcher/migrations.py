"""Remember which migrations a data folder's own database has seen, so that a second start need not wait for them."""

import hashlib
import json
from pathlib import Path

from memory_hub.embedded.folders import read_json, write_private

from .environment import REPOSITORY

MARKER = "migrated.json"
# Migrations of ours, and by the lock those of the packages.
SOURCES = ("memory_hub/*/migrations/*.py", "agents_runner/migrations/*.py", "requirements.lock")


def fingerprint() -> str:
    """Return a digest of every migration that this version of the hub has."""
    digest = hashlib.sha256()
    for pattern in SOURCES:
        for file in sorted(REPOSITORY.glob(pattern)):
            digest.update(f"{file.relative_to(REPOSITORY)}\0{file.stat().st_size}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def seen(data_dir: Path) -> bool:
    """Return whether the last successful migration of this folder's database was to the present version."""
    return read_json(data_dir / MARKER).get("fingerprint") == fingerprint()


def remember(data_dir: Path) -> None:
    """Note that the database of this folder has all present migrations."""
    write_private(data_dir / MARKER, json.dumps({"fingerprint": fingerprint()}))

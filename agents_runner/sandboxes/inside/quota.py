"""How much the writable folders hold, and emptying them."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass


@dataclass(slots=True)
class Held:
    """Bytes and entries that exist in the writable folders (or in deleted files that are still open)."""

    size: int = 0
    count: int = 0


def of_mounts(folders: list[str]) -> Held:
    """For folders that are file systems of their own, of limited size (tmpfs): one question each."""
    held = Held()
    for folder in folders:
        about = os.statvfs(folder)
        held.size += (about.f_blocks - about.f_bfree) * about.f_frsize
        held.count += about.f_files - about.f_ffree
    return held


def of_trees(folders: list[str], pids: list[int], limit: Held) -> Held:
    """For ordinary folders: counts entry by entry, and the deleted files `pids` hold open; stops above `limit`."""
    held = Held()
    queue = list(folders)
    while queue:
        try:
            with os.scandir(queue.pop()) as entries:
                for entry in entries:
                    held.count += 1
                    about = entry.stat(follow_symlinks=False)
                    held.size += about.st_blocks * 512
                    if stat.S_ISDIR(about.st_mode):
                        queue.append(entry.path)
                    if held.count > limit.count or held.size > limit.size:
                        return held
        except OSError:
            continue  # it went away while we looked, or belongs to a folder that did
    seen: set[tuple[int, int]] = set()
    for pid in pids:
        try:
            descriptors = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue
        for name in descriptors:
            try:
                about = os.stat(f"/proc/{pid}/fd/{name}")
            except OSError:
                continue
            key = (about.st_dev, about.st_ino)
            if stat.S_ISREG(about.st_mode) and about.st_nlink == 0 and key not in seen:
                seen.add(key)
                held.size += about.st_blocks * 512
    return held


def empty(folder: str) -> None:
    """Delete everything in `folder`, however deep; never follows a link, never touches the folder itself."""
    root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        number = 0
        while names := os.listdir(root):
            progress = False
            for name in names:
                try:
                    if not stat.S_ISDIR(os.stat(name, dir_fd=root, follow_symlinks=False).st_mode):
                        os.unlink(name, dir_fd=root)
                        progress = True
                        continue
                    try:
                        os.rmdir(name, dir_fd=root)
                        progress = True
                        continue
                    except OSError:
                        pass  # not empty: bring what it holds up here, so that depth never matters
                    os.chmod(name, 0o700, dir_fd=root)
                    inner = os.open(
                        name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=root
                    )
                    try:
                        for below in os.listdir(inner):
                            number += 1
                            try:
                                os.rename(
                                    below, f".{os.getpid()}-{number}", src_dir_fd=inner, dst_dir_fd=root
                                )
                                progress = True
                            except IsADirectoryError:
                                continue
                    finally:
                        os.close(inner)
                except OSError:
                    continue
            if not progress:
                return
    finally:
        os.close(root)

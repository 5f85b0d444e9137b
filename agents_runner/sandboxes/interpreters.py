"""Where Python itself lies, and a copy of it that an unprivileged user can read when the original is private."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import stat
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from agents_runner.sandboxes.errors import SandboxUnavailable
from agents_runner.sandboxes.profiles import Packages

LEFT_OUT = frozenset(
    ("test", "idlelib", "turtledemo", "ensurepip", "lib2to3", "site-packages", "dist-packages")
)
# Raised when copies made before are no longer good: those of layout 1 may have folders that only root can read.
LAYOUT = 2
SHARED_FOLDERS = tuple(Path(f"/{top}/memory-hub/sandbox") for top in ("var/lib", "var/cache", "opt"))


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python: its program, the folder below which its library lies, and the library folder itself."""

    program: Path
    prefix: Path

    @property
    def library(self) -> Path:
        return self.prefix / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}"

    @property
    def is_system(self) -> bool:
        """Whether it is the distribution's Python, whose prefix holds the whole system."""
        return self.prefix in (Path("/usr"), Path("/"))

    @property
    def shared_libraries(self) -> list[Path]:
        """libpython, where the program is built against a shared one in its own prefix."""
        return [] if self.is_system else sorted((self.prefix / "lib").glob("libpython*.so*"))


@functools.cache
def current() -> Interpreter:
    """The Python this process runs on, behind any virtual environment.

    Raises SandboxUnavailable when its library is not where it should be.
    """
    prefix = Path(sys.base_prefix).resolve()
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for program in (prefix / "bin" / name, Path(getattr(sys, "_base_executable", sys.executable)).resolve()):
        found = Interpreter(program.resolve() if program.exists() else program, prefix)
        if program.exists() and (found.library / "os.py").exists():
            return found
    raise SandboxUnavailable(f"the Python library was not found below {prefix}")


def readable_by_others(path: Path, *, from_root: bool = True) -> bool:
    """Whether any user may read `path` (and what lies directly in it, as a sample of a whole package).

    from_root: also whether any user may go through every folder above it.
    """
    path = path.resolve()
    if from_root and not all(folder.stat().st_mode & stat.S_IXOTH for folder in path.parents):
        return False
    needed = stat.S_IROTH | stat.S_IXOTH
    if not path.is_dir():
        return bool(path.stat().st_mode & stat.S_IROTH)
    if path.stat().st_mode & needed != needed:
        return False
    return all(entry.stat().st_mode & stat.S_IROTH for entry in os.scandir(path) if not entry.is_symlink())


def make_public_folder(folder: Path) -> None:
    """Make a folder, and those missing above it, so that everybody may read it, whatever this process's umask."""
    if folder.exists():
        return
    make_public_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)


def link_or_copy(source: str, target: str) -> str:
    """A hard link costs neither time nor space; across file systems it has to be a copy."""
    if os.stat(source).st_mode & stat.S_IROTH:
        try:
            os.link(source, target)
            return target
        except OSError:
            pass
    shutil.copyfile(source, target)
    os.chmod(target, 0o755 if os.access(source, os.X_OK) else 0o644)
    return target


def link_tree(source: Path, target: Path, left_out: frozenset[str] = frozenset()) -> None:
    """Rebuild a tree elsewhere, readable by everybody, from hard links where possible."""
    if source.is_file():
        make_public_folder(target.parent)
        link_or_copy(str(source.resolve()), str(target))
        return
    make_public_folder(target)
    shutil.copytree(
        source, target, copy_function=link_or_copy, dirs_exist_ok=True, ignore_dangling_symlinks=True,
        ignore=lambda _folder, names: left_out & set(names),
    )  # fmt: skip
    for folder, _, _ in os.walk(target):
        os.chmod(folder, 0o755)


def shared_folder() -> Path:
    """A folder of root's that every user can reach. Raises SandboxUnavailable."""
    for folder in SHARED_FOLDERS:
        try:
            make_public_folder(folder)
            about = folder.lstat()
            roots_own = stat.S_ISDIR(about.st_mode) and about.st_uid == 0 and not about.st_mode & 0o022
            if roots_own:
                folder.chmod(0o755)  # an earlier version left it closed where its umask said so
            if roots_own and readable_by_others(folder) and os.access(folder, os.W_OK):
                return folder
        except OSError:
            continue
    raise SandboxUnavailable(
        "Python or its packages lie in a private folder, and there is no place for a copy that an unprivileged "
        "user can read (tried " + ", ".join(str(folder) for folder in SHARED_FOLDERS) + ")"
    )


def key_of(interpreter: Interpreter, packages: Packages) -> str:
    """Changes whenever the interpreter or a package changes."""
    facts: list[object] = [
        LAYOUT,
        sys.version,
        interpreter.program,
        interpreter.program.stat().st_mtime_ns,
        packages.versions,
    ]
    facts += [(name, path.stat().st_mtime_ns) for name, path in packages.items]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


@functools.cache
def for_any_user(packages: Packages, *, from_root: bool) -> tuple[Interpreter, Packages]:
    """The interpreter and packages at places where any user can read them: the originals, or links made once.

    Only root needs this, whose sandboxes run as another user. from_root: the paths are used as they are (Landlock);
    without it they are mounted elsewhere and folders above them do not matter. Raises SandboxUnavailable.
    """
    interpreter = current()
    originals = [interpreter.program, interpreter.library, *(path for _, path in packages.items)]
    if all(readable_by_others(path, from_root=from_root) for path in originals):
        return interpreter, packages
    folder = shared_folder() / key_of(interpreter, packages)
    if not folder.exists():
        building = Path(tempfile.mkdtemp(prefix=".building-", dir=folder.parent))
        try:
            fill(building, interpreter, packages)
            try:
                building.rename(folder)
            except OSError:
                if not folder.exists():  # else another process was faster
                    raise
        finally:
            shutil.rmtree(building, ignore_errors=True)
    items = tuple((name, folder / "site" / name) for name, _ in packages.items)
    if not interpreter.is_system:
        interpreter = Interpreter(folder / "python" / "bin" / interpreter.program.name, folder / "python")
    return interpreter, replace(packages, items=items)


def fill(folder: Path, interpreter: Interpreter, packages: Packages) -> None:
    """Put the interpreter and the packages into `folder`, readable by everybody."""
    folder.chmod(0o755)
    if not interpreter.is_system:
        python = folder / "python"
        link_tree(interpreter.program, python / "bin" / interpreter.program.name)
        link_tree(interpreter.library, python / "lib" / interpreter.library.name, LEFT_OUT)
        for library in interpreter.shared_libraries:
            link_tree(library, python / "lib" / library.name)
    for name, path in packages.items:
        link_tree(path, folder / "site" / name)

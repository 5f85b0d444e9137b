"""`bin/start` for real: a fresh private clone, an empty environment, as root and as an ordinary user.

The tests of one user build on each other, in this order: one install is shared, since it is what takes long.
"""

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from memory_hub.embedded import EmbeddedServices
from tests.start.installation import REPOSITORY, Hub, Installation, free_port

pytestmark = [
    pytest.mark.start,
    pytest.mark.slow,
    pytest.mark.skipif(not (REPOSITORY / ".git").exists(), reason="NOT A CLONE: bin/start is not tested"),
    pytest.mark.skipif(not shutil.which("git"), reason="NO GIT: bin/start is not tested"),
]

COLD_SECONDS = 300.0
WARM_SECONDS = 60.0
NOWHERE = "postgresql://user:secret-word@127.0.0.1:1/hub"


@pytest.fixture(scope="module", params=["present user", "ordinary user"])
def installation(request: pytest.FixtureRequest) -> Iterator[Installation]:
    """A clone of the present user, who is root in CI, and then one of a user without privileges."""
    account = None
    if request.param == "ordinary user":
        if os.geteuid() != 0:
            pytest.skip("NOT ROOT: bin/start is tested as the present user only")
        account = pwd.getpwnam("nobody")
    made = Installation(account)
    yield made
    made.remove()


@pytest.fixture(autouse=True)
def _nothing_is_left_running(request: pytest.FixtureRequest) -> Iterator[None]:
    """Stop what a failed test left, so that it fails alone."""
    yield
    if "installation" in request.fixturenames:
        request.getfixturevalue("installation").end_all()


@pytest.fixture
def hub(installation: Installation) -> Hub:
    """A running hub on the installation."""
    started = installation.start("--no-demo")
    started.wait_for_line("Memory Hub is at", WARM_SECONDS)
    return started


def test_a_taken_port_is_found_before_anything_is_installed(installation):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        done = installation.command("bin/start", "--port", str(port), "--data", str(installation.data))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"Port {port} of 127.0.0.1 is taken" in done.stderr
    assert not (installation.clone / ".venv").exists()
    assert not installation.data.exists()


def test_an_install_that_was_killed_leaves_nothing_that_counts(installation):
    broken = installation.start()
    broken.wait_for_line("Python environment", COLD_SECONDS)
    time.sleep(2.0)  # into the dependencies
    os.killpg(broken.process.pid, signal.SIGKILL)
    broken.process.wait()
    assert (installation.clone / ".venv").exists()
    assert not (installation.clone / ".venv" / "memory-hub.json").exists()


def test_a_cold_start_reaches_the_sign_in_page(installation):
    hub = installation.start("--no-demo")
    hub.wait_for_line("Memory Hub is at", COLD_SECONDS)
    assert any("requirements.lock" in line for line in hub.lines), "the broken-off install is made anew"

    status, location = hub.get("/")
    assert status == 302
    status, page = hub.get(location)
    assert status == 200
    assert "<form" in page
    assert "password" in page
    assert hub.end(signal.SIGINT) == 0
    installation.wait_until_gone(3)


def test_an_empty_hub_gets_a_demo_team_and_does_the_main_job(installation):
    hub = installation.start()
    hub.wait_for_line("Sign in", 60)
    hub.wait_for_line("contributor", 5)
    hub.wait_for_line("reviewer", 5)
    hub.wait_for_line("sample runs are under way", 5)
    results = [hub.wait_for_line("/runs/", 180), hub.wait_for_line("/runs/", 5)]
    assert all("step" in line for line in results), results


def test_nothing_in_the_data_folder_is_open_to_others(installation):
    assert installation.data.stat().st_mode & 0o077 == 0
    assert (installation.data / "keys.json").stat().st_mode & 0o077 == 0
    assert installation.database_folder.stat().st_mode & 0o077 == 0


def test_a_second_start_is_quick_installs_nothing_and_keeps_the_data(installation):
    counted = installation.command(
        "bin/manage", "--data", str(installation.data), "shell", "-v", "0", "-c", COUNT
    )
    assert counted.returncode == 0, counted.stderr
    people = json.loads(counted.stdout)
    assert people >= 2

    started = time.monotonic()
    hub = installation.start()
    hub.wait_for_line("Memory Hub is at", WARM_SECONDS)
    seconds = time.monotonic() - started
    hub.wait_for_line("Ctrl-C", 30)
    said = "\n".join(hub.lines)
    assert seconds < 30
    assert "requirements" not in said
    assert "Sign in" not in said, "passwords are shown once"

    up = installation.command("bin/manage", "--data", str(installation.data), "shell", "-v", "0", "-c", COUNT)
    assert json.loads(up.stdout) == people
    assert hub.end(signal.SIGTERM) == 0
    installation.wait_until_gone(3)


COUNT = "from django.contrib.auth import get_user_model; print(get_user_model().objects.count())"


def test_a_second_launcher_on_the_same_data_is_told_so(installation, hub):
    done = installation.command("bin/start", "--port", str(free_port()), "--data", str(installation.data))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"in use by process {hub.process.pid}" in done.stderr
    assert hub.get("/livez")[0] == 200


def test_any_child_may_be_killed(installation, hub):
    hub.wait_until_ready(10)
    for name, marks in {
        "web-1": ["memory_hub.launcher.web"],
        "redis": ["redis-server"],
        "postgres": ["postgres", "-D"],
        "worker-runs": ["-Q", "runs"],
        "beat": ["beat"],
    }.items():
        launched = psutil.Process(hub.process.pid).children()
        victim = next(
            child for child in launched if all(any(m in part for part in child.cmdline()) for m in marks)
        )
        victim.kill()
        hub.wait_for_line(f"{name} ended (signal SIGKILL)", 20)
    hub.wait_until_ready(40)
    assert hub.end() == 0
    installation.wait_until_gone(3)


def test_the_launcher_may_be_killed(installation, hub):
    hub.end(signal.SIGKILL)

    again = installation.start("--no-demo")
    again.wait_for_line("Memory Hub is at", WARM_SECONDS)
    again.wait_until_ready(10)
    launched = {child.pid for child in psutil.Process(again.process.pid).children(recursive=True)}
    others = [p for p in installation.processes() if p.pid not in launched | {again.process.pid}]
    assert others == []
    assert again.end() == 0
    installation.wait_until_gone(3)


def test_a_child_that_cannot_run_ends_the_start_with_its_reason(installation, hub):
    if installation.account:
        pytest.skip("takes 20 seconds and is the same for every user")
    (installation.clone / "memory_hub" / "asgi.py").rename(installation.clone / "memory_hub" / "asgi.away")
    try:
        server = next(
            c for c in psutil.Process(hub.process.pid).children() if "memory_hub.launcher.web" in c.cmdline()
        )
        server.kill()
        hub.wait_for_line("ended (signal SIGKILL); starting it again", 10)
        line = hub.wait_for_line("for the 5th time in a minute", 90)
        assert "ended (exit code" in line
        assert 'Could not import module "memory_hub.asgi"' in line
        assert hub.process.wait(30) == 1
    finally:
        (installation.clone / "memory_hub" / "asgi.away").rename(
            installation.clone / "memory_hub" / "asgi.py"
        )
    installation.wait_until_gone(3)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"RUN_MAX_SECONDS": "long"}, "RUN_MAX_SECONDS is 'long'; use a whole number."),
        ({"SECRET_KEY": "short"}, "SECRET_KEY is shorter than 32 characters. Make a random one. [hub.E001]"),
        ({"DATABASE_URL": "postgresql://u:p@localhost/hub"}, "MIGRATE_DATABASE_URL is not"),
        (
            {"DATABASE_URL": NOWHERE, "MIGRATE_DATABASE_URL": NOWHERE},
            "DATABASE_URL does not work: connection",
        ),
        ({"REDIS_URL": "redis://127.0.0.1:1/0"}, "REDIS_URL does not work: Error 111"),
    ],
)
def test_a_wrong_configuration_is_told_in_one_line(installation, extra, message):
    done = installation.command(
        "bin/start", "--no-demo", "--port", str(free_port()), "--data", str(installation.data), **extra
    )
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr + done.stdout
    assert "secret-word" not in done.stderr + done.stdout
    installation.wait_until_gone(3)


def test_a_data_folder_that_cannot_be_made_is_told_in_one_line(installation):
    done = installation.command("bin/start", "--port", str(free_port()), "--data", "/proc/hub")
    assert done.returncode == 1
    assert "/proc/hub cannot be" in done.stderr
    assert done.stderr.count("\n") == 1


def test_configured_services_are_used_and_left_alone(installation, tmp_path):
    if installation.account:
        pytest.skip("the services of this test are open to the present user only")
    theirs = EmbeddedServices(tmp_path / "theirs", durable=False)
    urls = theirs.start()
    data = installation.folder / "other-data"
    try:
        hub = installation.start(
            "--no-demo",
            "--data",
            str(data),
            DATABASE_URL=urls.database_url,
            MIGRATE_DATABASE_URL=urls.migrate_database_url,
            REDIS_URL=urls.redis_url,
        )
        hub.wait_for_line("Memory Hub is at", WARM_SECONDS)
        assert not any("PostgreSQL" in line for line in hub.lines)
        hub.wait_until_ready(10)
        assert hub.end() == 0
        with psycopg.connect(urls.database_url) as connection:
            assert connection.execute("SELECT count(*) > 10 FROM django_migrations").fetchone() == (True,)
        assert not (data / "postgres.json").exists()
    finally:
        root = theirs.postgres.cluster.root
        theirs.stop()
        shutil.rmtree(root)


@pytest.fixture
def only_python(tmp_path: Path):
    """Return a maker of a PATH that holds the two tools that bin/start needs and one python3, changed by a line."""

    def make(change: str | None) -> str:
        for tool in ("dirname", "readlink", "sh", "env"):
            (tmp_path / tool).symlink_to(str(shutil.which(tool)))
        if change is not None:
            # bin/_run probes with: python3 -I -c CODE
            stub = f'#!/bin/sh\nexec {sys.executable} -I -c "import sys; {change}; exec(sys.argv[1])" "$3"\n'
            (tmp_path / "python3").write_text(stub)
            (tmp_path / "python3").chmod(0o755)
        return str(tmp_path)

    return make


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("sys.version_info = (3, 9, 2, 'final', 0)", "Python 3.11 or newer is needed, and python3 is 3.9"),
        ("sys.modules['ensurepip'] = None", "-venv"),
        (None, "there is no python3 in PATH"),
    ],
)
def test_an_unfit_python_is_told_in_one_line(only_python, change, message):
    done = subprocess.run(
        [REPOSITORY / "bin" / "start"],
        env={"PATH": only_python(change)},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1

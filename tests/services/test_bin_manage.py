"""`bin/manage` with the hub down: it brings the services up for as long as somebody needs them."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_hub.embedded import EmbeddedServices, urls_if_running
from memory_hub.embedded.folders import read_json

ASK = (
    "import time; from django.db import connection; time.sleep({seconds});"
    " print(connection.cursor().execute('select current_user').fetchone()[0])"
)
SERVICE_VARIABLES = ("DATABASE_URL", "MIGRATE_DATABASE_URL", "REDIS_URL", "HUB_DATABASE_ROLE")


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "data"
    yield folder
    root = read_json(folder / "postgres.json").get("root")
    if root and os.geteuid() == 0:
        shutil.rmtree(root)


def begin(data_dir: Path, *command: str) -> "subprocess.Popen[str]":
    environment = {name: value for name, value in os.environ.items() if name not in SERVICE_VARIABLES}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "memory_hub.launcher.manage", "--data", str(data_dir), *command],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ask(data_dir: Path, seconds: float = 0.0) -> "subprocess.Popen[str]":
    return begin(data_dir, "shell", "-v", "0", "-c", ASK.format(seconds=seconds))


def test_a_command_runs_as_the_owner_and_leaves_nothing_running(data_dir):
    done = ask(data_dir)
    assert done.communicate(timeout=60)[0].strip() == "hub_owner"
    assert done.returncode == 0
    assert urls_if_running(data_dir) is None


def test_a_command_uses_services_that_are_up_and_leaves_them_up(data_dir):
    with EmbeddedServices(data_dir, durable=False) as urls:
        assert ask(data_dir).communicate(timeout=60)[0].strip() == "hub_owner"
        assert urls_if_running(data_dir) == urls


def test_who_started_the_services_waits_for_who_joined(data_dir):
    first = ask(data_dir)
    time.sleep(0.3)
    second = ask(data_dir, seconds=5.0)
    assert first.communicate(timeout=60)[0].strip() == "hub_owner"
    assert second.communicate(timeout=60)[0].strip() == "hub_owner"
    assert (first.returncode, second.returncode) == (0, 0)
    assert urls_if_running(data_dir) is None


def test_the_exit_code_is_djangos(data_dir):
    failed = begin(data_dir, "shell", "-v", "0", "-c", "raise SystemExit(7)")
    failed.communicate(timeout=60)
    assert failed.returncode == 7


def test_a_termination_reaches_the_command_and_the_services_end(data_dir):
    process = ask(data_dir, seconds=60)
    deadline = time.monotonic() + 30
    while urls_if_running(data_dir) is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert urls_if_running(data_dir) is None


def test_without_a_command_the_usage_is_shown(data_dir):
    process = begin(data_dir)
    assert "Usage: bin/manage" in process.communicate(timeout=30)[0]
    assert process.returncode == 2

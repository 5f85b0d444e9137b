"""The supervisor on real, tiny processes: restarts, giving up, stopping in order, no orphan left."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil
import pytest

from memory_hub.embedded.processes import spawn
from memory_hub.launcher import supervisor as supervision
from memory_hub.launcher.signals import SignalWatch
from memory_hub.launcher.supervisor import Child, HopelessChildError, Supervisor

SLEEPS = "import time; print('ready', flush=True); time.sleep(60)"
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(60)"
DIES = "import sys; print('no disk', flush=True); sys.exit(3)"


@pytest.fixture
def make_child(tmp_path: Path) -> Iterator[Callable[..., Child]]:
    """Return a maker of children that run a line of Python; none of them outlives the test."""
    made: list[Child] = []
    started: list[subprocess.Popen[bytes]] = []

    def make(code: str, name: str = "child", **options: object) -> Child:
        log = tmp_path / f"{name}.log"

        def start() -> subprocess.Popen[bytes]:
            process = spawn(
                [sys.executable, "-c", code],
                log=log,
                environment=os.environ,
                folder=tmp_path,
                death_signal=signal.SIGKILL,
            )
            started.append(process)
            return process

        options.setdefault("stop_steps", [(signal.SIGTERM, 5.0)])
        made.append(Child(name, start, log=log, **options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for process in started:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(5)


def wait_for(condition: Callable[[], object], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def ready(child: Child) -> bool:
    return child.log.exists() and "ready" in child.log.read_text()


def tick_often(supervisor: Supervisor) -> None:
    for _ in range(500):
        supervisor.tick()
        time.sleep(0.02)


def stop_patiently(supervisor: Supervisor) -> None:
    supervisor.stop_all(time.sleep, lambda: False)


def test_a_killed_child_is_started_again_after_a_pause(make_child, capsys):
    supervisor, child = Supervisor(), make_child(SLEEPS, "web")
    supervisor.add(child)
    first = child.process.pid
    os.kill(first, signal.SIGKILL)
    child.process.wait()

    supervisor.tick()
    assert child.process is None, "not at once: something may be wrong with it"
    assert 0 < supervisor.next_wait() <= supervision.FIRST_PAUSE_SECONDS
    time.sleep(supervisor.next_wait())
    supervisor.tick()

    assert child.running
    assert child.process.pid != first
    assert "web ended (signal SIGKILL); starting it again in 0.5 s" in capsys.readouterr().out


def test_the_fifth_death_within_a_minute_ends_the_hub_with_the_last_words(make_child, monkeypatch):
    monkeypatch.setattr(supervision, "FIRST_PAUSE_SECONDS", 0.001)
    supervisor, child = Supervisor(), make_child(DIES, "worker-runs")
    supervisor.add(child)

    with pytest.raises(
        HopelessChildError, match=r"worker-runs ended \(exit code 3\) for the 5th time.*no disk"
    ):
        tick_often(supervisor)
    assert child.log.read_text().count("no disk") == 5


def test_deaths_long_ago_are_forgiven(make_child, monkeypatch):
    monkeypatch.setattr(supervision, "FIRST_PAUSE_SECONDS", 0.001)
    supervisor, child = Supervisor(), make_child(DIES)
    child.deaths.extend([time.monotonic() - 61.0] * 4)
    supervisor.add(child)
    child.process.wait()

    supervisor.tick()

    assert len(child.deaths) == 1


def test_what_a_dead_child_left_in_its_group_is_killed(make_child):
    parent_of_one = "import subprocess, sys, time; p = subprocess.Popen(['sleep', '60']); print('ready', p.pid, flush=True); time.sleep(60)"
    supervisor, child = Supervisor(), make_child(parent_of_one)
    supervisor.add(child)
    wait_for(lambda: ready(child))
    grandchild = int(child.log.read_text().split()[1])
    os.kill(child.process.pid, signal.SIGKILL)
    child.process.wait()

    supervisor.tick()

    wait_for(lambda: not psutil.pid_exists(grandchild) or psutil.Process(grandchild).status() == "zombie")


def test_children_stop_stage_by_stage(make_child):
    ends_slowly = (  # so that its end is seen while the next stage is being stopped
        "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: (time.sleep(0.2), sys.exit(0)));"
        "print('ready', flush=True); time.sleep(60)"
    )
    order: list[str] = []
    supervisor = Supervisor()
    children = [
        make_child(ends_slowly, name, stage=stage)
        for name, stage in (("redis", 3), ("web", 0), ("worker", 1))
    ]
    for child in children:
        supervisor.add(child)
        wait_for(partial(ready, child))

    def wait(seconds: float) -> None:
        for child in children:
            if child.name not in order and not child.running:
                order.append(child.name)
        time.sleep(0.01)

    supervisor.stop_all(wait, lambda: False)

    assert order == ["web", "worker"], "each is gone before the next stage is asked; redis ends last"
    assert not any(child.running for child in children)


def test_a_child_that_ignores_the_polite_signal_is_killed_at_its_limit(make_child):
    supervisor, child = Supervisor(), make_child(DEAF, stop_steps=[(signal.SIGTERM, 0.3)])
    supervisor.add(child)
    wait_for(lambda: ready(child))
    process, started = child.process, time.monotonic()

    stop_patiently(supervisor)

    assert process.returncode == -signal.SIGKILL
    assert 0.3 <= time.monotonic() - started < 3


def test_a_second_ctrl_c_does_not_wait_for_the_limit_except_for_the_database(make_child):
    slow_end = (
        "import signal, sys, time\n"
        "def end(*_): time.sleep(0.5); sys.exit(7)\n"
        "signal.signal(signal.SIGTERM, end); print('ready', flush=True); time.sleep(60)"
    )
    supervisor = Supervisor()
    deaf = make_child(DEAF, "worker", stop_steps=[(signal.SIGTERM, 60.0)])
    database = make_child(slow_end, "postgres", stage=4, patient=True)
    for child in (deaf, database):
        supervisor.add(child)
        wait_for(lambda child=child: ready(child))
    database_process, started = database.process, time.monotonic()

    supervisor.stop_all(time.sleep, lambda: True)

    assert time.monotonic() - started < 5
    assert database_process.returncode == 7, "it ended by itself"


def test_a_child_waiting_for_its_restart_is_not_started_by_a_stop(make_child):
    supervisor, child = Supervisor(), make_child(DIES)
    supervisor.add(child)
    child.process.wait()
    supervisor.tick()

    stop_patiently(supervisor)
    time.sleep(supervision.FIRST_PAUSE_SECONDS + 0.1)
    supervisor.tick()

    assert child.process is None


def test_a_child_dies_with_a_killed_launcher(tmp_path):
    launcher = (
        "import signal, sys, os, time; from pathlib import Path; from memory_hub.embedded.processes import spawn\n"
        "p = spawn(['sleep', '60'], log=Path('log'), environment=os.environ, folder=Path('.'), death_signal=signal.SIGKILL)\n"
        "print(p.pid, flush=True); time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", launcher], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    child = int(process.stdout.readline())
    assert psutil.pid_exists(child)
    process.kill()
    process.wait()
    process.stdout.close()

    wait_for(lambda: not psutil.pid_exists(child) or psutil.Process(child).status() == "zombie")


def test_a_log_that_grew_too_long_is_put_aside_while_its_writer_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(supervision, "LONGEST_LOG_BYTES", 100)
    log = tmp_path / "web.log"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"x" * 101)
        supervision.bound_log(log)
        writer.write(b"after")

    assert log.read_bytes() == b"after"
    assert (tmp_path / "web.log.1").read_bytes() == b"x" * 101


def test_stop_requests_are_counted_and_end_the_wait():
    before = signal.getsignal(signal.SIGTERM)
    with SignalWatch() as watch:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        started = time.monotonic()
        watch.wait(10)
        assert watch.stop_requests == 2
        assert time.monotonic() - started < 1
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_child_that_ends_ends_the_wait():
    with SignalWatch() as watch:
        process = subprocess.Popen(["true"])
        started = time.monotonic()
        watch.wait(10)
        assert time.monotonic() - started < 5
        process.wait()

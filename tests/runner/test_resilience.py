"""Real processes that die: the worker, the sandbox, Redis, the database. A run always ends, and never runs twice."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
import redis
from celery import Celery
from django.conf import settings as hub_settings
from django.db import connection as ours
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memory_hub.access.actor import as_system
from memory_hub.common.clock import now
from memory_hub.embedded.folders import socket_folder
from memory_hub.embedded.redis import RedisServer
from memory_hub.library.models import Solution
from memory_hub.runs.models import Run, RunEvent
from tests.cast import Cast
from tests.fake_openai import FakeOpenAI, Reply, code, script
from tests.runner.engine_support import again, connect, queue, steps_of, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.timeout(180)]

LEASE_SECONDS = 5
ROOT = Path(__file__).resolve().parents[2]
ONE = code("def one():\n    return 1\nprint(one())")


class Hub:
    """A Redis of its own and Celery workers on it, on the test database; each can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.redis = RedisServer(folder, socket_folder(folder))
        self.redis.start()
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_worker(self) -> psutil.Process:
        """Start a worker for every queue and wait until it listens."""
        log = self.folder / f"worker-{len(self.workers)}.log"
        environment = {
            **os.environ,
            "DATABASE_URL": make_conninfo_url(os.environ["HUB_TEST_DATABASE"]),
            "REDIS_URL": self.redis.url,
            "MEMORY_HUB_DATA": str(self.folder),
            "MEMORY_HUB_EMBEDDED": "1",
            "HUB_DATABASE_ROLE": "app",
            "RUN_LEASE_SECONDS": str(LEASE_SECONDS),
            "EMBEDDER": "none",
        }
        with log.open("wb") as output:
            worker = subprocess.Popen(
                [
                    sys.executable, "-m", "celery", "-A", "memory_hub.celery:app", "worker",
                    "-Q", "runs,memory,housekeeping", "-c", "2", "--without-gossip", "--without-mingle",
                ],
                cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        self.workers.append(worker)
        wait_until(lambda: b" ready." in log.read_bytes() or worker.poll() is not None, 60)
        assert worker.poll() is None, log.read_text()
        return psutil.Process(worker.pid)

    def send(self, task: str, *ids: Any) -> None:
        """Put a message on the queue of its task."""
        queue_name = {"agents_runner.execute_run": "runs"}.get(task, "memory")
        queue_name = "housekeeping" if task.startswith("housekeeping.") else queue_name
        with Celery(
            "test",
            broker=self.redis.url.replace("unix://", "redis+socket://").replace("?db=", "?virtual_host="),
        ) as app:
            app.send_task(task, args=[str(item) for item in ids], queue=queue_name)

    def execute(self, run: Run) -> None:
        self.send("agents_runner.execute_run", run.id)

    def sweep(self) -> None:
        self.send("housekeeping.sweep_runs")

    def kill_redis(self) -> None:
        assert self.redis.process is not None
        self.redis.process.kill()
        self.redis.process.wait()

    def restart_what_ended(self) -> None:
        """Do what bin/start and docker compose do with a worker that has ended."""
        if self.workers[-1].poll() is not None:
            self.start_worker()

    def stop(self) -> None:
        for worker in self.workers:
            kill_group(worker)
        self.redis.stop()


def make_conninfo_url(database: str) -> str:
    """Return the application's address with another database."""
    base, _, parameters = os.environ["DATABASE_URL"].partition("?")
    address = base.rsplit("/", 1)[0] + f"/{database}" + (f"?{parameters}" if parameters else "")
    assert conninfo_to_dict(address)["dbname"] == database
    return address


def kill_group(worker: subprocess.Popen[bytes]) -> None:
    """KILL the worker and its children at once, as a machine that loses its power does."""
    if worker.poll() is None:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


@pytest.fixture
def hub(committed_cast: Cast, settings: Any, tmp_path: Path) -> Iterator[Hub]:
    settings.MEDIA_ROOT = tmp_path / "files"
    made = Hub(tmp_path)
    try:
        yield made
    finally:
        made.stop()


def sandboxes_of(worker: psutil.Process) -> list[psutil.Process]:
    """The processes of the sandboxes that this worker's children have started."""
    return [process for child in worker.children() for process in child.children(recursive=True)]


def lives(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def ended(run: Run, seconds: float = 40) -> Run:
    """Wait until the run has ended and is captured."""
    wait_until(lambda: again(run).is_settled, seconds)
    return again(run)


def test_a_killed_worker_leaves_a_lost_run_with_everything_that_was_shown(
    committed_cast: Cast, hub: Hub
) -> None:
    with FakeOpenAI(script(ONE, Reply(hangs=True))) as server:
        run = queue(committed_cast, connect(committed_cast, server))
        both = [hub.start_worker(), hub.start_worker()]
        hub.execute(run)
        wait_until(lambda: len(server.requests) == 2, 40)
        assert len(steps_of(run)) == 1
        busy = next(number for number, worker in enumerate(both) if sandboxes_of(worker))
        inside = sandboxes_of(both[busy])
        kill_group(hub.workers[busy])
        wait_until(lambda: not any(lives(process) for process in inside))
        hub.execute(run)  # what Redis does with a message that nobody acknowledged
        time.sleep(1)
        assert again(run).state == Run.State.RUNNING  # its lease still stands: nobody may take it
        wait_until(lambda: now() > (again(run).lease_until or now()), 10)
        hub.sweep()
        lost = ended(run)
        hub.execute(run)
        hub.sweep()
        time.sleep(1.5)
        assert len(server.requests) == 2
    assert (lost.state, lost.capture) == (Run.State.LOST, Run.Capture.DONE)
    assert "stopped answering" in lost.reason
    assert again(run).ended_at == lost.ended_at
    assert [step.observations for step in steps_of(run)] == ["1\n"]
    with as_system():
        assert Solution.objects.get().run_id == run.id
        assert RunEvent.objects.filter(run=run, kind=RunEvent.Kind.STARTED).count() == 1
        assert RunEvent.objects.filter(run=run, kind=RunEvent.Kind.ENDED).count() == 1


def test_a_message_that_outlives_the_lease_ends_the_run_without_running_it(
    committed_cast: Cast, hub: Hub
) -> None:
    with FakeOpenAI(script(Reply(hangs=True))) as server:
        run = queue(committed_cast, connect(committed_cast, server))
        hub.start_worker()
        hub.execute(run)
        assert server.asked.wait(40)
        kill_group(hub.workers[0])
        wait_until(lambda: now() > (again(run).lease_until or now()), 10)
        hub.start_worker()
        hub.execute(run)
        assert ended(run).state == Run.State.LOST
        assert len(server.requests) == 1


def test_a_killed_sandbox_is_a_failed_step_and_the_run_goes_on(committed_cast: Cast, hub: Hub) -> None:
    with FakeOpenAI(script(code("print('one')\nimport time\ntime.sleep(30)"), code("final_answer('went on')"))) as server:  # fmt: skip
        run = queue(committed_cast, connect(committed_cast, server))
        worker = hub.start_worker()
        hub.execute(run)
        assert server.asked.wait(40)
        time.sleep(0.5)
        for process in sandboxes_of(worker):
            if process.is_running():
                process.kill()
        done = ended(run)
    assert (done.state, done.answer) == (Run.State.SUCCEEDED, "went on")
    first, second = steps_of(run)
    assert first.error_type == "StepKilled"
    assert second.is_final


def test_a_run_goes_on_while_redis_is_killed_and_comes_back(committed_cast: Cast, hub: Hub) -> None:
    replies = script(ONE, Reply(code("print('two')"), delay=3.0), code("final_answer(one())"))
    with FakeOpenAI(replies) as server:
        connection = connect(committed_cast, server)
        run = queue(committed_cast, connection)
        hub.start_worker()
        hub.execute(run)
        wait_until(lambda: len(server.requests) == 2, 40)
        hub.kill_redis()
        wait_until(lambda: len(server.requests) == 3, 20)  # a step is shown without Redis
        wait_until(lambda: again(run).has_ended)
        hub.redis.start()
        done = ended(run)
        assert (done.state, len(steps_of(run)), len(server.requests)) == (Run.State.SUCCEEDED, 3, 3)
        later = queue(committed_cast, connection, "Another one.")
        hub.execute(later)

        def is_done() -> bool:
            # With a message in hand the library cannot come back to a Redis that is not there: once the run has
            # ended it gives up, and whoever watches over the worker starts it again.
            hub.restart_what_ended()
            return again(later).is_settled

        wait_until(is_done, 60)
        assert again(later).state == Run.State.SUCCEEDED


def test_a_wiped_redis_only_delays_a_queued_run_which_then_runs_once(committed_cast: Cast, hub: Hub) -> None:
    with FakeOpenAI(script(Reply(code("final_answer(1)"), delay=1.0))) as server:
        run = queue(committed_cast, connect(committed_cast, server))
        hub.execute(run)
        with redis.Redis(unix_socket_path=str(hub.redis.socket)) as memory:
            assert memory.llen("runs") == 1
            memory.flushall()
        hub.start_worker()
        time.sleep(1)
        assert again(run).state == Run.State.QUEUED
        with as_system():
            Run.objects.filter(id=run.id).update(created_at=now() - timedelta(minutes=1))
        hub.sweep()
        hub.sweep()
        assert ended(run).state == Run.State.SUCCEEDED
        assert len(server.requests) == 1


def test_a_database_that_is_away_for_seconds_costs_nothing_that_was_done(
    committed_cast: Cast, hub: Hub
) -> None:
    """No connection is let in and every one is cut, while the model answers and the step is to be shown."""
    replies = script(ONE, Reply(code("print('two')"), delay=1.0), code("final_answer(one())"))
    database = os.environ["HUB_TEST_DATABASE"]
    with FakeOpenAI(replies) as server:
        run = queue(committed_cast, connect(committed_cast, server))
        hub.start_worker()
        hub.execute(run)
        wait_until(lambda: len(server.requests) == 2, 40)
        owner = make_conninfo(hub_settings.MIGRATE_DATABASE_URL)
        with (
            psycopg.connect(owner, autocommit=True) as keeper,
            psycopg.connect(os.environ["DATABASE_URL"]) as app,
        ):
            keeper.execute(f'ALTER DATABASE "{database}" ALLOW_CONNECTIONS false')
            app.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND usename = current_user",
                [database],
            )
            time.sleep(3)
            assert len(server.requests) == 2  # the step is not shown, so the agent does not go on
            keeper.execute(f'ALTER DATABASE "{database}" ALLOW_CONNECTIONS true')
        ours.close()
        ours.close_pool()  # what this process lost with the database is not what is tested
        wait_until(lambda: len(server.requests) == 3, 40)
        done = ended(run)
    assert (done.state, len(steps_of(run))) == (Run.State.SUCCEEDED, 3)

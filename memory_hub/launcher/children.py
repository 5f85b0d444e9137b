"""The processes of a hub: what each runs, under which database role, and how it is stopped."""

import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from memory_hub.embedded import EmbeddedServices
from memory_hub.embedded.folders import private_folder
from memory_hub.embedded.processes import spawn

from .supervisor import Child, Process

# In the environment of each child of ours, so that the next start finds what an unclean end left running.
SUPERVISED = "MEMORY_HUB_SUPERVISED"

WEB_STAGE, WORKER_STAGE, BEAT_STAGE, REDIS_STAGE, POSTGRES_STAGE = range(5)


def python_child(
    name: str,
    arguments: list[str],
    *,
    data_dir: Path,
    environment: Mapping[str, str],
    stage: int,
    stop_steps: list[tuple[int, float]],
    keep_open: Sequence[socket.socket] = (),
) -> Child:
    """Return a child that runs our Python with `arguments`, logging to `<data>/logs/<name>.log`.

    keep_open: sockets of ours that it inherits, each time it is started.
    """
    log = private_folder(data_dir / "logs") / f"{name}.log"

    def start() -> Process:
        return spawn(
            [sys.executable, "-P", *arguments],
            log=log,
            environment={**environment, SUPERVISED: str(data_dir)},
            folder=data_dir,
            death_signal=signal.SIGKILL,
            keep_open=[item.fileno() for item in keep_open],
        )

    return Child(name, start, stop_steps, log, stage)


def web_servers(
    data_dir: Path, environment: Mapping[str, str], listening: socket.socket, count: int
) -> list[Child]:
    """Return the processes of the web server, which share one socket: pages, REST and live streams."""
    return [
        python_child(
            f"web-{number}",
            ["-m", "memory_hub.launcher.web", "--fd", str(listening.fileno())],
            data_dir=data_dir, environment=environment, stage=WEB_STAGE, stop_steps=[(signal.SIGTERM, 5.0)],
            keep_open=[listening],
        )
        for number in range(1, count + 1)
    ]  # fmt: skip


def worker(data_dir: Path, environment: Mapping[str, str], queue: str, processes: int) -> Child:
    """Return the Celery worker of one queue; on stop it may finish what it has begun for 10 seconds."""
    return python_child(
        f"worker-{queue}",
        [
            "-m", "celery", "-A", "memory_hub.celery:app", "worker", "-Q", queue, "-c", str(processes),
            "-n", f"{queue}@%h", "--without-gossip", "--without-mingle",
        ],
        data_dir=data_dir, environment=environment, stage=WORKER_STAGE,
        stop_steps=[(signal.SIGTERM, 10.0), (signal.SIGQUIT, 3.0)],
    )  # fmt: skip


def beat(data_dir: Path, environment: Mapping[str, str]) -> Child:
    """Return the Celery beat: it sends the periodic nudges."""
    return python_child(
        "beat",
        [
            "-m", "celery", "-A", "memory_hub.celery:app", "beat",
            "-s", str(data_dir / "celerybeat-schedule"), "--pidfile=",
        ],
        data_dir=data_dir, environment=environment, stage=BEAT_STAGE, stop_steps=[(signal.SIGTERM, 5.0)],
    )  # fmt: skip


def service_children(services: EmbeddedServices) -> list[Child]:
    """Return the running embedded services as children to supervise."""
    children = []
    if services.redis is not None:
        redis = services.redis
        children.append(
            Child(
                "redis", redis.spawn, [(signal.SIGTERM, 5.0)], redis.log, REDIS_STAGE, process=redis.process
            )
        )
    if services.postgres is not None:
        postgres = services.postgres
        children.append(
            Child(
                "postgres", postgres.spawn, [(signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0)], postgres.log,
                POSTGRES_STAGE, patient=True, process=postgres.process,
            )
        )  # fmt: skip
    return children


def end_leftovers(data_dir: Path) -> int:
    """KILL the children of an earlier launcher of this data folder that outlived it; return how many."""
    count = 0
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(SUPERVISED) == str(data_dir):
                process.kill()
                count += 1
    return count

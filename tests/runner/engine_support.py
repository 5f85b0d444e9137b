"""What the tests of the engine start from: a model server, a connection to it, and a run taken as a worker would."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.db import connection as database

from agents_runner.capture import capture
from agents_runner.engine import drive
from agents_runner.verify import verify
from memory_hub.access.actor import acting_as, as_system
from memory_hub.library.models import Lesson, Revision, Solution
from memory_hub.recall.services import index_solution
from memory_hub.recall.services.index import index_lesson
from memory_hub.runs.models import Connection, Run, Step
from memory_hub.runs.services import UploadedInput, connection_create, run_start
from tests.cast import Cast
from tests.fake_openai import FakeOpenAI

KEY = "sk-hub-0123456789abcdefghijklmnopqrstuv"
WORKER = "worker-1"


def connect(cast: Cast, server: FakeOpenAI | str, *, name: str = "Model", **changes: Any) -> Connection:
    """Return a connection of the project to this server, with KEY, made by alice."""
    actor = cast.actor(cast.alice)
    values = {
        "base_url": server if isinstance(server, str) else server.base_url,
        "model_id": "fake-1", "secret": KEY, **changes,
    }  # fmt: skip
    with acting_as(actor):
        return connection_create(
            actor=actor, project=cast.project, name=name, kind=Connection.Kind.OPENAI, **values
        )


def queue(cast: Cast, connection: Connection, task: str = "Work out the answer.", **changes: Any) -> Run:
    """Return a queued run of bob's. inputs: name -> bytes."""
    actor = cast.actor(cast.bob)
    inputs = [UploadedInput(name, content) for name, content in changes.pop("inputs", {}).items()]
    with acting_as(actor):
        return run_start(
            actor=actor, project=cast.project, task=task, connection=connection, inputs=inputs, **changes
        )


def execute(cast: Cast, connection: Connection, task: str = "Work out the answer.", **changes: Any) -> Run:
    """Queue a run and take it to its end and into memory, as the workers do; return it as it is then."""
    run = queue(cast, connection, task, **changes)
    assert drive(run.id, WORKER)
    capture(run.id, WORKER)
    bring_up_to_date()
    return again(run)


@contextmanager
def another_thread() -> Iterator[None]:
    """Give this thread's database connection back afterwards, as whoever uses one in a thread of a test must."""
    try:
        yield
    finally:
        database.close()


@contextmanager
def driven(run: Run) -> Iterator[Callable[[], float]]:
    """Drive a run in a thread; yields what waits for its end and returns how many seconds that took."""

    def work() -> None:
        with another_thread():
            drive(run.id, WORKER)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()

    def join() -> float:
        began = time.monotonic()
        thread.join(timeout=30)
        assert not thread.is_alive(), "the run did not end"
        return time.monotonic() - began

    yield join
    thread.join(timeout=30)


def bring_up_to_date() -> None:
    """Do what the nudges ask for."""
    with as_system():
        waiting: list[UUID] = list(
            Revision.objects.filter(needs_verification=True).values_list("id", flat=True)
        )
    for revision in waiting:
        verify(revision)
    with as_system():
        for solution in Solution.objects.filter(needs_index=True):
            index_solution(solution_id=solution.id)
        for lesson in Lesson.objects.filter(needs_index=True):
            index_lesson(lesson_id=lesson.id)


def again(run: Run) -> Run:
    """Return the run as it is in the database now."""
    with as_system():
        return Run.objects.get(id=run.id)


def steps_of(run: Run) -> list[Step]:
    """Return the steps that were shown."""
    with as_system():
        return list(Step.objects.filter(run=run))


def wait_until(condition: Callable[[], bool], seconds: float = 15.0) -> None:
    """Return when the condition holds; fail where it does not come to."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)

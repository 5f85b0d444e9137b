"""What a lost message or a dead worker leaves is picked up again: runs move, captures are tried, files are cleared."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from memory_hub.access.actor import acting_as, as_system
from memory_hub.common.clock import now
from memory_hub.runs.models import Run
from memory_hub.runs.services import (
    Captured,
    UploadedInput,
    files_sweep,
    run_capture_begin,
    run_capture_failed,
    run_captured,
    runs_sweep,
)
from memory_hub.runs.services.capture import MAX_ATTEMPTS
from memory_hub.runs.services.inputs import run_folder
from tests.cast import Cast
from tests.services.runs_support import (
    again,
    audited,
    claimed,
    data_of,
    end,
    log_of,
    make_connection,
    start,
    take_step,
)


@pytest.fixture
def nudged(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """The nudges that the sweep asks for."""
    sent: list[tuple[str, Any]] = []
    monkeypatch.setattr(
        "memory_hub.runs.services.sweep.nudge", lambda name, *ids: sent.append((name, ids[0]))
    )
    return sent


@pytest.fixture
def ended(cast: Cast) -> Run:
    """A run that has ended with a step to capture."""
    run = claimed(start(cast.bob, make_connection(cast.project)))
    take_step(run)
    return end(run)


def aged(run: Run, **columns: Any) -> None:
    """Make the run a minute older."""
    with as_system():
        Run.objects.filter(id=run.id).update(created_at=now() - timedelta(minutes=1), **columns)


# --- runs


def test_a_queued_run_is_asked_for_again_once_it_has_waited(
    cast: Cast, nudged: list[tuple[str, Any]]
) -> None:
    run = start(cast.bob, make_connection(cast.project))
    assert runs_sweep().nudged == 0
    aged(run)
    assert runs_sweep().nudged == 1
    assert nudged == [("agents_runner.execute_run", run.id)]


def test_a_running_run_is_left_alone_while_its_lease_lasts(cast: Cast, nudged: list[tuple[str, Any]]) -> None:
    run = claimed(start(cast.bob, make_connection(cast.project)))
    aged(run)
    assert runs_sweep() == runs_sweep()
    assert again(run).state == Run.State.RUNNING
    assert nudged == []


def test_a_run_whose_worker_died_is_ended_as_lost_with_the_reason(
    cast: Cast, nudged: list[tuple[str, Any]]
) -> None:
    run = claimed(start(cast.bob, make_connection(cast.project)))
    take_step(run)
    aged(run, lease_until=now() - timedelta(seconds=1))
    assert runs_sweep().lost == 1
    lost = again(run)
    assert lost.state == Run.State.LOST
    assert "stopped answering" in lost.reason
    assert lost.capture == Run.Capture.NEEDED
    assert lost.step_count == 1
    assert runs_sweep().lost == 0


def test_what_was_not_captured_is_asked_for_again(ended: Run, nudged: list[tuple[str, Any]]) -> None:
    assert runs_sweep().captures == 0
    aged(ended, ended_at=now() - timedelta(minutes=1))
    assert runs_sweep().captures == 1
    assert nudged == [("agents_runner.capture_run", ended.id)]


def test_a_capture_under_way_is_not_asked_for(ended: Run, nudged: list[tuple[str, Any]]) -> None:
    run_capture_begin(run_id=ended.id, holder="worker-1")
    aged(ended, ended_at=now() - timedelta(minutes=1))
    assert runs_sweep().captures == 0


# --- captures


def test_a_capture_is_begun_by_one_worker_at_a_time(ended: Run) -> None:
    run = run_capture_begin(run_id=ended.id, holder="worker-1")
    assert run is not None
    assert [step.number for step in run.steps.all()] == [1]
    assert run_capture_begin(run_id=ended.id, holder="worker-2") is None
    aged(ended, lease_until=now() - timedelta(seconds=1))
    assert run_capture_begin(run_id=ended.id, holder="worker-2") is not None


def test_a_capture_settles_the_run_and_links_what_it_left(ended: Run) -> None:
    run_capture_begin(run_id=ended.id, holder="worker-1")
    solution, lesson = Captured(uuid4(), "Sum per state"), Captured(uuid4(), "UnicodeDecodeError")
    for _ in range(2):  # a message may come twice
        run = run_captured(run_id=ended.id, solutions=[solution], lessons=[lesson])
    assert run is not None
    assert run.is_settled
    assert data_of(run, "captured")["solutions"] == [{"id": str(solution.id), "title": "Sum per state"}]
    assert [kind for _, kind in log_of(run)] == ["queued", "started", "step", "ended", "captured"]
    assert audited(run)[-1] == "run:captured"
    assert run_capture_begin(run_id=ended.id, holder="worker-1") is None


def test_a_capture_that_fails_each_time_is_given_up_and_says_so(ended: Run) -> None:
    for _ in range(MAX_ATTEMPTS):
        assert run_capture_begin(run_id=ended.id, holder="worker-1") is not None
    assert run_capture_begin(run_id=ended.id, holder="worker-1") is None
    run = again(ended)
    assert run.capture == Run.Capture.FAILED
    assert run.is_settled
    assert log_of(run)[-1] == (5, "capture_failed")


def test_a_refused_capture_is_given_up_at_once(ended: Run) -> None:
    run = run_capture_failed(run_id=ended.id, reason="The code is larger than the library takes.")
    assert run is not None
    assert run.is_settled
    assert data_of(run, "capture_failed")["reason"].startswith("The code is larger")


def test_a_capture_rolled_back_with_its_solution_leaves_the_run_to_be_captured(
    cast: Cast, ended: Run
) -> None:
    def capture() -> None:
        with acting_as(cast.actor(cast.bob)):
            run_captured(run_id=ended.id)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        capture()
    assert again(ended).capture == Run.Capture.NEEDED


# --- files


def _age(folder: Path) -> None:
    past = (now() - timedelta(hours=2)).timestamp()
    os.utime(folder, (past, past))


def test_files_of_a_run_that_never_came_to_be_are_removed(cast: Cast, settings: Any) -> None:
    connection = make_connection(cast.project)
    kept = start(cast.bob, connection, inputs=[UploadedInput("a.csv", b"1")])
    undone: list[Run] = []

    def fail() -> None:
        with acting_as(cast.actor(cast.bob)):
            undone.append(start(cast.bob, connection, inputs=[UploadedInput("a.csv", b"1")]))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    root = Path(settings.MEDIA_ROOT) / "runs"
    young, strange = root / str(uuid4()), root / "notes"
    young.mkdir()
    strange.mkdir()
    for folder in (run_folder(kept.id), run_folder(undone[0].id), strange):
        _age(folder)
    assert files_sweep() == 1
    assert {path.name for path in root.iterdir()} == {str(kept.id), young.name, "notes"}


def test_sweeping_files_before_there_are_any_does_nothing(cast: Cast) -> None:
    assert files_sweep() == 0

"""The main job: a run solves a task the long way and leaves a solution behind; its reworded twin reuses it."""

from pathlib import Path
from uuid import UUID

import pytest

from agents_runner.capture import capture
from agents_runner.engine import drive
from agents_runner.samples import SampleTask, first_pair
from agents_runner.verify import verify
from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.models import Project
from memory_hub.library.models import Evidence, Lesson, Revision, Solution
from memory_hub.recall.models import Recall
from memory_hub.recall.services import index_solution
from memory_hub.recall.services.index import index_lesson
from memory_hub.review.services import revision_approve, revision_reject
from memory_hub.runs.models import Connection, Run, RunEvent
from memory_hub.runs.services import UploadedInput, connection_create, run_start
from tests.cast import Cast

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]


@pytest.fixture
def rehearsal(committed_cast: Cast) -> Connection:
    actor = committed_cast.actor(committed_cast.alice)
    with acting_as(actor):
        return connection_create(
            actor=actor, project=committed_cast.project, name="Rehearsal", kind=Connection.Kind.REHEARSAL
        )


def do_run(cast: Cast, connection: Connection, sample: SampleTask, *, memory_on: bool = True) -> Run:
    """Start a sample as bob and take it all the way, as the workers would."""
    actor = cast.actor(cast.bob)
    with acting_as(actor):
        run = run_start(
            actor=actor,
            project=cast.project,
            task=sample.task,
            connection=connection,
            memory_on=memory_on,
            inputs=[UploadedInput(path.name, path.read_bytes()) for path in sample.inputs],
            origin=Run.Origin.SAMPLE,
        )
    assert drive(run.id, "worker-1")
    capture(run.id, "worker-1")
    bring_up_to_date()
    with as_system():
        return Run.objects.get(id=run.id)


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


def test_the_twin_of_a_solved_task_reuses_its_solution(committed_cast: Cast, rehearsal: Connection) -> None:
    first_task, twin_task = first_pair()
    first = do_run(committed_cast, rehearsal, first_task)
    assert first.state == Run.State.SUCCEEDED, first.reason
    assert first.step_count >= 2
    with as_system():
        solution = Solution.objects.get(run=first)
        revision = solution.latest_revision
        assert revision is not None
        assert revision.entry_point
        assert revision.verification == Revision.Verification.PASSED, revision.verification_detail
        assert solution.failed_alternatives
        assert solution.author == committed_cast.bob
        assert Lesson.objects.filter(run=first, is_open=False).exists()
    twin = do_run(committed_cast, rehearsal, twin_task)
    assert twin.state == Run.State.SUCCEEDED, twin.reason
    assert twin.step_count == 1
    with as_system():
        recall = Recall.objects.get(run=twin)
        item = recall.items.get(revision=revision)
        assert item.used
        assert item.score_parts["words"] > 0
        assert item.reason
        evidence = Evidence.objects.get(revision=revision, kind=Evidence.Kind.REUSED)
        assert (evidence.outcome, evidence.run_id) == ("success", twin.id)
        assert Solution.objects.count() == 1


def test_without_memory_the_twin_takes_the_long_way(committed_cast: Cast, rehearsal: Connection) -> None:
    first_task, twin_task = first_pair()
    do_run(committed_cast, rehearsal, first_task)
    twin = do_run(committed_cast, rehearsal, twin_task, memory_on=False)
    assert twin.state == Run.State.SUCCEEDED
    assert twin.step_count >= 2


def test_a_rejected_solution_is_not_offered_again(committed_cast: Cast, rehearsal: Connection) -> None:
    first_task, twin_task = first_pair()
    do_run(committed_cast, rehearsal, first_task)
    reviewer = committed_cast.actor(committed_cast.rita)
    with acting_as(reviewer):
        revision_reject(actor=reviewer, revision=Revision.objects.get(), note="Not this way.")
    twin = do_run(committed_cast, rehearsal, twin_task)
    assert twin.step_count >= 2
    with as_system():
        assert Recall.objects.get(run=twin).no_match


def test_an_approved_revision_is_what_the_twin_gets(committed_cast: Cast, rehearsal: Connection) -> None:
    first_task, twin_task = first_pair()
    do_run(committed_cast, rehearsal, first_task)
    with acting_as(committed_cast.actor(committed_cast.alice)):
        Project.objects.update(recall_policy="approved")
    reviewer = committed_cast.actor(committed_cast.rita)
    with acting_as(reviewer):
        revision_approve(actor=reviewer, revision=Revision.objects.get(), note="Good.")
    bring_up_to_date()
    twin = do_run(committed_cast, rehearsal, twin_task)
    assert twin.step_count == 1
    with as_system():
        assert Recall.objects.get(run=twin).items.get().status == "approved"


def test_the_log_of_a_run_tells_its_whole_story(committed_cast: Cast, rehearsal: Connection) -> None:
    run = do_run(committed_cast, rehearsal, first_pair()[0])
    with as_system():
        kinds = list(RunEvent.objects.filter(run=run).values_list("kind", flat=True))
    steps = kinds.count("step")
    assert kinds == ["queued", "started", "prepared", "recalled", *["step"] * steps, "ended", "captured"]


def test_a_task_the_rehearsal_does_not_know_is_refused_in_words(
    committed_cast: Cast, rehearsal: Connection
) -> None:
    sample = SampleTask(key="x", twin_key="x", task="Bake a cake.", inputs=tuple[Path, ...](), mess="")
    run = do_run(committed_cast, rehearsal, sample)
    assert run.state == Run.State.FAILED
    assert "model connection" in run.reason

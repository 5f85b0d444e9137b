"""A run in the hands of a worker: executed once, ended always, and nothing lost that was shown."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection as database

from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.models import ProjectMembership
from memory_hub.access.permissions import Role
from memory_hub.common.clock import now
from memory_hub.common.errors import Conflict, IllegalTransition
from memory_hub.runs.models import Connection, Run, RunEvent, Step
from memory_hub.runs.services import (
    LeaseLost,
    RunEnd,
    StepData,
    UploadedInput,
    connection_retire,
    event_append,
    input_profile_set,
    run_cancel,
    run_captured,
    run_claim,
    run_end,
    run_prepared,
    run_renew,
    step_append,
    step_set_hint,
)
from memory_hub.runs.services.log import move
from memory_hub.runs.services.steps import MAX_TEXT_CHARACTERS
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
def run(cast: Cast) -> Run:
    """A run of bob's that a worker has taken."""
    return claimed(start(cast.bob, make_connection(cast.project)))


def expire(run: Run) -> None:
    """Let the lease of the run lie in the past."""
    with as_system():
        Run.objects.filter(id=run.id).update(lease_until=now() - timedelta(seconds=1))


def at_once(*deeds: Callable[[], Any]) -> list[Any]:
    """Do these at the same moment, each on a database connection of its own; return what each gave or raised."""
    together = threading.Barrier(len(deeds))

    def one(deed: Callable[[], Any]) -> Any:
        together.wait()
        try:
            return deed()
        except Exception as error:
            return error
        finally:
            database.close()

    with ThreadPoolExecutor(len(deeds)) as threads:
        return list(threads.map(one, deeds))


# --- taken once


def test_a_queued_run_is_taken_once(cast: Cast) -> None:
    run = start(cast.bob, make_connection(cast.project))
    first = run_claim(run_id=run.id, holder="worker-1")
    assert first is not None
    assert (first.state, first.lease_holder) == (Run.State.RUNNING, "worker-1")
    assert run_claim(run_id=run.id, holder="worker-2") is None
    assert run_claim(run_id=run.id, holder="worker-1") is None
    assert log_of(run) == [(1, "queued"), (2, "started")]


def test_of_workers_that_claim_at_once_one_gets_the_run(committed_cast: Cast) -> None:
    run = start(committed_cast.bob, make_connection(committed_cast.project))
    claims = at_once(*(lambda n=n: run_claim(run_id=run.id, holder=f"worker-{n}") for n in range(6)))
    assert len([claim for claim in claims if claim is not None]) == 1
    assert log_of(run) == [(1, "queued"), (2, "started")]


def test_a_claimed_run_can_be_read_without_a_transaction(cast: Cast) -> None:
    run = claimed(start(cast.bob, make_connection(cast.project), inputs=[UploadedInput("a.csv", b"1")]))
    with acting_as(cast.actor(cast.mallory)):  # sees none of it
        assert [item.name for item in run.inputs.all()] == ["a.csv"]
        assert run.project.team.slug == "acme"
        assert run.connection is not None
        assert run.connection.kind == Connection.Kind.REHEARSAL
        assert run.starter.name == "Bob"


def test_a_run_that_is_gone_or_has_ended_is_not_taken(run: Run) -> None:
    assert run_claim(run_id=uuid4(), holder="worker-1") is None
    end(run)
    assert run_claim(run_id=run.id, holder="worker-2") is None


def test_a_run_whose_starter_left_the_project_fails_without_running(cast: Cast) -> None:
    run = start(cast.bob, make_connection(cast.project))
    with as_system():
        ProjectMembership.objects.filter(user=cast.bob).delete()
    assert run_claim(run_id=run.id, holder="worker-1") is None
    assert again(run).state == Run.State.FAILED
    assert "no longer" in again(run).reason
    assert again(run).is_settled


def test_a_run_whose_starter_became_a_viewer_fails_without_running(cast: Cast) -> None:
    run = start(cast.bob, make_connection(cast.project))
    with as_system():
        ProjectMembership.objects.filter(user=cast.bob).update(role=Role.VIEWER)
    assert run_claim(run_id=run.id, holder="worker-1") is None
    assert again(run).state == Run.State.FAILED


def test_a_run_whose_connection_was_retired_is_handed_over_without_one(cast: Cast) -> None:
    connection = make_connection(cast.project)
    run = start(cast.bob, connection)
    alice = cast.actor(cast.alice)
    with acting_as(alice):
        connection_retire(actor=alice, connection=connection)
    assert claimed(run).connection is None


# --- a lease


def test_a_run_whose_lease_expired_is_ended_as_lost_and_never_run_again(run: Run) -> None:
    take_step(run)
    expire(run)
    assert run_claim(run_id=run.id, holder="worker-2") is None
    lost = again(run)
    assert lost.state == Run.State.LOST
    assert lost.capture == Run.Capture.NEEDED
    assert [kind for _, kind in log_of(run)] == ["queued", "started", "step", "ended"]


def test_renewing_prolongs_the_lease(run: Run, settings: Any) -> None:
    settings.RUN_LEASE_SECONDS = 500
    signal = run_renew(run_id=run.id, holder="worker-1")
    assert (signal.cancel_requested, signal.lease_lost) == (False, False)
    assert again(run).lease_until > now() + timedelta(seconds=400)


def test_a_late_renewal_keeps_the_run_as_long_as_nobody_ended_it(run: Run) -> None:
    expire(run)
    assert not run_renew(run_id=run.id, holder="worker-1").lease_lost
    assert run_claim(run_id=run.id, holder="worker-2") is None
    assert again(run).state == Run.State.RUNNING


def test_renewing_tells_of_a_cancel(cast: Cast, run: Run) -> None:
    actor = cast.actor(cast.bob)
    with acting_as(actor):
        run_cancel(actor=actor, run=run)
    assert run_renew(run_id=run.id, holder="worker-1").cancel_requested


def test_another_holder_can_neither_renew_nor_write_nor_end(run: Run) -> None:
    assert run_renew(run_id=run.id, holder="worker-2").lease_lost
    with pytest.raises(LeaseLost):
        take_step(run, holder="worker-2")
    end(run, Run.State.FAILED, holder="worker-2")
    assert again(run).state == Run.State.RUNNING


def test_a_worker_that_comes_back_after_its_run_was_lost_changes_nothing(run: Run) -> None:
    expire(run)
    run_claim(run_id=run.id, holder="worker-2")
    assert run_renew(run_id=run.id, holder="worker-1").lease_lost
    with pytest.raises(LeaseLost):
        take_step(run)
    with pytest.raises(LeaseLost):
        run_prepared(run=run, sandbox="landlock", environment={})
    assert end(run, Run.State.SUCCEEDED, answer="42").state == Run.State.LOST
    assert again(run).answer == ""


def test_a_sweep_and_a_late_end_leave_one_end(committed_cast: Cast) -> None:
    for _ in range(5):
        run = claimed(start(committed_cast.bob, make_connection(committed_cast.project, name=str(uuid4()))))
        take_step(run)
        expire(run)
        at_once(
            lambda run=run: run_claim(run_id=run.id, holder="worker-2"),
            lambda run=run: run_end(run_id=run.id, holder="worker-1", end=RunEnd(state=Run.State.SUCCEEDED)),
        )
        assert [kind for _, kind in log_of(run)] == ["queued", "started", "step", "ended"]
        assert data_of(run, "ended")["state"] == again(run).state in (Run.State.LOST, Run.State.SUCCEEDED)


# --- its log


def test_sequences_have_no_gaps_whoever_writes_at_once(committed_cast: Cast) -> None:
    run = claimed(start(committed_cast.bob, make_connection(committed_cast.project)))
    bob = committed_cast.actor(committed_cast.bob)

    def cancel() -> None:
        with acting_as(bob):
            run_cancel(actor=bob, run=run)

    def recall(n: int) -> None:
        event_append(run=run, kind=RunEvent.Kind.RECALLED, data={"n": n})

    given = at_once(
        *(lambda n=n: take_step(run, n) for n in range(1, 9)),
        cancel,
        *(lambda n=n: recall(n) for n in range(3)),
    )
    assert [item for item in given if isinstance(item, Exception)] == []
    assert [sequence for sequence, _ in log_of(run)] == list(range(1, 15))
    assert again(run).last_sequence == 14
    assert again(run).step_count == 8


def test_a_write_that_is_rolled_back_leaves_no_gap(run: Run) -> None:
    def fail() -> None:
        with as_system():
            event_append(run=run, kind=RunEvent.Kind.RECALLED, data={})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    take_step(run)
    assert [sequence for sequence, _ in log_of(run)] == [1, 2, 3]


def test_a_step_sent_twice_is_written_once(run: Run) -> None:
    assert take_step(run, 1) == take_step(run, 1)
    assert again(run).step_count == 1
    assert [kind for _, kind in log_of(run)] == ["queued", "started", "step"]


def test_code_is_kept_exactly(run: Run) -> None:
    code = 'if x:\r\n\tprint("\u202eé\U0001f600")\n\n  \n'
    assert again(take_step(run, code=code)).code == code


def test_what_postgresql_cannot_store_is_made_visible(run: Run) -> None:
    step = again(take_step(run, observations="a\x00b\ud800"))
    assert step.observations == "a␀b\\ud800"


def test_a_flood_of_output_loses_its_middle(run: Run) -> None:
    step = again(take_step(run, observations="a" * 300_000 + "the end"))
    assert len(step.observations) < MAX_TEXT_CHARACTERS + 100
    assert step.observations.startswith("aaa")
    assert step.observations.endswith("the end")
    assert "200,007 characters left out" in step.observations


def test_secrets_are_masked_in_every_text_of_a_step(run: Run) -> None:
    key = "AKIAIOSFODNN7EXAMPLE"
    texts = ("thought", "code", "observations", "value", "error_message", "error_line", "traceback", "hint")
    step = again(take_step(run, **dict.fromkeys(texts, f"x = '{key}'")))
    for name in texts:
        assert getattr(step, name) == "x = '[masked: AWS Access Key]'", name


def test_the_key_of_the_connection_is_masked_whatever_it_looks_like(cast: Cast, settings: Any) -> None:
    settings.ALLOW_PRIVATE_MODEL_URLS = True
    connection = make_connection(
        cast.project,
        name="Local",
        kind=Connection.Kind.OPENAI,
        base_url="http://127.0.0.1:1/v1",
        model_id="m",
        secret="open sesame".replace(" ", "-"),
    )
    run = claimed(start(cast.bob, connection))
    assert again(take_step(run, observations="it is open-sesame.")).observations == (
        "it is [masked: key of the connection]."
    )
    assert (
        "open-sesame" not in end(run, answer="open-sesame", reason="open-sesame").answer + again(run).reason
    )


def test_what_was_recalled_stands_in_the_log(run: Run) -> None:
    items = [{"solution": str(uuid4()), "title": "Sum per state", "rank": 1, "score": 0.8}]
    event_append(
        run=run, kind=RunEvent.Kind.RECALLED, data={"recall": "r", "no_match": False, "items": items}
    )
    assert data_of(run, "recalled")["items"] == items


def test_a_hint_given_later_is_part_of_its_step(run: Run) -> None:
    step = take_step(run, error_type="ValueError")
    step_set_hint(step=step, hint="Use utf-8-sig.")
    assert again(step).hint == "Use utf-8-sig."
    with as_system():
        event = RunEvent.objects.get(run=run, kind="hint")
    assert (event.sequence, event.step_id) == (4, step.id)


def test_the_sandbox_and_the_environment_are_noted_once_known(run: Run) -> None:
    run_prepared(run=run, sandbox="landlock", environment={"python": "3.11.2", "load": float("nan")})
    assert (run.sandbox_used, again(run).sandbox_used) == ("landlock", "landlock")
    assert again(run).environment == {"python": "3.11.2", "load": "nan"}
    assert log_of(run)[-1] == (3, "prepared")


def test_the_profile_of_a_file_is_kept(cast: Cast) -> None:
    run = claimed(start(cast.bob, make_connection(cast.project), inputs=[UploadedInput("a.csv", b"1")]))
    item = run.inputs.all()[0]
    input_profile_set(run_input=item, profile={"format": "csv"})
    assert again(item).profile == {"format": "csv"}


# --- its end


def test_an_end_keeps_answer_call_metrics_and_use_of_memory(run: Run) -> None:
    take_step(run, is_final=True)
    call = {"entry_point": "total", "args": [{"b": 1, "a": 2}], "kwargs": {}, "result": {"z": 1, "a": 2}}
    end(
        run,
        answer="58 states",
        final_call=call,
        metrics=[{"name": "rows", "value": 58}],
        recall_id="r1",
        used_revision_ids=["v1"],
        input_tokens=500,
    )
    ended = again(run)
    assert (ended.state, ended.answer, ended.capture) == (
        Run.State.SUCCEEDED,
        "58 states",
        Run.Capture.NEEDED,
    )
    assert list(ended.final_call["result"]) == ["z", "a"]  # as it was, not sorted
    assert ended.memory_use["used"] == ["v1"]
    assert (ended.input_tokens, ended.output_tokens) == (500, 20)
    assert ended.lease_until is None
    assert ended.ended_at is not None
    assert audited(run) == ["run:started", "run:ended"]


def test_a_run_without_a_step_has_nothing_to_capture(run: Run) -> None:
    assert end(run, Run.State.FAILED, reason="The model cannot be reached.").is_settled


@pytest.mark.parametrize("state", [Run.State.QUEUED, Run.State.RUNNING])
def test_a_run_does_not_end_in_a_state_that_is_no_end(run: Run, state: Run.State) -> None:
    with pytest.raises(IllegalTransition):
        end(run, state)


def test_no_end_is_followed_by_another_state(run: Run) -> None:
    for state in (Run.State.SUCCEEDED, Run.State.FAILED, Run.State.CANCELLED, Run.State.LOST):
        run.state = state
        for wanted in Run.State.values:
            with pytest.raises(IllegalTransition):
                move(run, wanted)


def test_a_run_ends_although_its_key_can_no_longer_be_read(cast: Cast, settings: Any) -> None:
    settings.ALLOW_PRIVATE_MODEL_URLS = True
    connection = make_connection(
        cast.project,
        name="Local",
        kind=Connection.Kind.OPENAI,
        base_url="http://127.0.0.1:1/v1",
        model_id="m",
        secret="some-key",
    )
    run = claimed(start(cast.bob, connection))
    settings.ENCRYPTION_KEYS = ["MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="]
    assert end(run, Run.State.FAILED, reason="no key").state == Run.State.FAILED


def test_steps_of_other_projects_are_out_of_reach(cast: Cast, run: Run) -> None:
    take_step(run)
    with acting_as(cast.actor(cast.mallory)):
        assert (Run.objects.count(), Step.objects.count(), RunEvent.objects.count()) == (0, 0, 0)


def test_step_data_has_a_column_for_each_field() -> None:
    columns = {field.name for field in Step._meta.get_fields()}
    assert set(StepData.__dataclass_fields__) <= columns
    assert step_append.__doc__


def test_what_a_terminal_would_show_as_colour_is_taken_out(run: Run) -> None:
    step = again(
        take_step(run, observations="\x1b[31mred\x1b[0m \x1b]0;title\x07plain", code='print("\x1b[0m")')
    )
    assert step.observations == "red plain"
    assert step.code == 'print("\x1b[0m")'


def test_nothing_is_added_to_the_log_of_a_settled_run(run: Run) -> None:
    step = take_step(run)
    end(run)
    step_set_hint(step=step, hint="Still open.")
    run_captured(run_id=run.id)
    with pytest.raises(Conflict):
        step_set_hint(step=step, hint="Too late.")
    with pytest.raises(Conflict):
        event_append(run=run, kind=RunEvent.Kind.RECALLED, data={})
    assert log_of(run)[-1][1] == "captured"

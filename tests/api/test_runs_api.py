"""Runs over REST: started, followed, cancelled and recorded, with the same rules as everywhere."""

import base64
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from memory_hub.access.actor import as_system
from memory_hub.access.permissions import Scope
from memory_hub.runs.models import Connection, Run, RunInput, Step
from memory_hub.runs.services import Captured, input_path, run_captured
from memory_hub_client.types import Metric, RecordedError, RecordedStep, RunRecord
from tests.api.api_support import LEDGER, Caller, caller
from tests.cast import Cast
from tests.services.runs_support import TASK, claimed, end, make_connection, start, take_step

RUNS = f"{LEDGER}/runs/"


@pytest.fixture
def connection(cast: Cast) -> Connection:
    return make_connection(cast.project)


@pytest.fixture
def bob(cast: Cast, connection: Connection) -> Caller:
    return caller(cast, cast.bob)


def started(who: Caller, **changes: Any) -> dict[str, Any]:
    """Start a run and return the answer."""
    answer = who.post(RUNS, {"task": TASK, "connection": "Rehearsal", **changes})
    assert answer.status_code == 201, answer.json()
    return dict(answer.json())


# --- starting


def test_a_run_is_started_with_its_files(bob: Caller) -> None:
    content = b"a,b\r\n1,2\x00\xff"
    said = started(
        bob, memory_on=False, max_steps=3,
        inputs=[{"name": "a.csv", "content_base64": base64.b64encode(content).decode()}],
    )  # fmt: skip
    assert (said["state"], said["origin"], said["memory_on"], said["max_steps"]) == (
        "queued",
        "api",
        False,
        3,
    )
    assert said["model"] == "rehearsal (scripted replies, no model)"
    assert said["starter"]["name"] == "Bob"
    assert [(item["name"], item["size"]) for item in said["inputs"]] == [("a.csv", 10)]
    with as_system():
        assert input_path(RunInput.objects.get()).read_bytes() == content


def test_a_connection_is_named_by_id_as_well(bob: Caller, connection: Connection) -> None:
    assert started(bob, connection=str(connection.id))["connection"]["name"] == "Rehearsal"


def test_files_may_come_as_a_form(cast: Cast, bob: Caller) -> None:
    client = Client(headers={"Authorization": f"Bearer {cast.key(cast.bob)}"})
    files = [SimpleUploadedFile("a.csv", b"1"), SimpleUploadedFile("b.csv", b"22")]
    answer = client.post(RUNS, {"task": TASK, "connection": "Rehearsal", "max_steps": "4", "inputs": files})
    assert answer.status_code == 201, answer.json()
    said = answer.json()
    assert [(item["name"], item["size"]) for item in said["inputs"]] == [("a.csv", 1), ("b.csv", 2)]
    assert (said["max_steps"], said["memory_on"]) == (4, True)  # a switch that is absent keeps its default


def test_a_retry_starts_nothing_twice(bob: Caller) -> None:
    body = {"task": TASK, "connection": "Rehearsal"}
    first, second = (bob.post(RUNS, body, retry_key="once") for _ in range(2))
    assert first.json()["id"] == second.json()["id"]
    assert second.headers["Idempotent-Replay"] == "true"
    assert bob.get(RUNS).json()["count"] == 1


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("task", {"task": "  "}),
        ("connection", {"connection": "Nobody's"}),
        ("sandbox", {"sandbox": "none"}),
        ("max_steps", {"max_steps": 1000}),
        ("time_limit_seconds", {"time_limit_seconds": 10**6}),
        ("inputs", {"inputs": [{"name": "a.csv", "content_base64": "not base64!"}]}),
        ("inputs", {"inputs": [{"name": "../a.csv", "content_base64": ""}]}),
    ],
)
def test_bad_input_is_a_problem_that_names_the_field(
    bob: Caller, field: str, changes: dict[str, Any]
) -> None:
    answer = bob.post(RUNS, {"task": TASK, "connection": "Rehearsal", **changes})
    assert answer.status_code == 422
    assert set(answer.json()["fields"]) == {field}
    with as_system():
        assert Run.objects.count() == 0


def test_a_file_over_the_limit_is_refused(bob: Caller, settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 2
    answer = bob.post(
        RUNS, {"task": TASK, "connection": "Rehearsal", "inputs": [{"name": "a", "content_base64": "YWFh"}]}
    )
    assert answer.status_code == 413


def test_a_secret_in_the_task_is_refused_by_line_and_kind(bob: Caller) -> None:
    answer = bob.post(RUNS, {"task": "Use\nAKIAIOSFODNN7EXAMPLE", "connection": "Rehearsal"})
    assert answer.json()["code"] == "secret_found"
    assert answer.json()["findings"] == [{"field": "task", "line": 2, "kind": "AWS Access Key"}]
    assert b"AKIA" not in answer.content


def test_a_viewer_and_a_key_without_the_scope_start_nothing(cast: Cast, connection: Connection) -> None:
    body = {"task": TASK, "connection": "Rehearsal"}
    assert caller(cast, cast.vera).post(RUNS, body).status_code == 403
    assert caller(cast, cast.bob, scopes=[Scope.READ, Scope.PROPOSE]).post(RUNS, body).status_code == 403
    assert caller(cast, cast.mallory).post(RUNS, body).status_code == 404
    assert Client().post(RUNS, body, content_type="application/json").status_code == 401


# --- reading


def test_a_run_tells_what_was_recalled_and_what_it_left(
    cast: Cast, bob: Caller, connection: Connection
) -> None:
    run = claimed(start(cast.bob, connection))
    take_step(run, error_type="ValueError", error_kind="execution", error_message="no", error_line_number=2)
    take_step(run, 2, is_final=True, value="42")
    end(run, answer="42", metrics=[{"name": "rows", "value": 3}])
    solution = uuid4()
    run_captured(run_id=run.id, solutions=[Captured(solution, "Sum")])
    said = bob.get(f"/api/v1/runs/{run.id}/").json()
    assert (said["state"], said["answer"], said["settled"]) == ("succeeded", "42", True)
    assert said["captured"]["solutions"] == [{"id": str(solution), "title": "Sum"}]
    assert said["recalled"] is None
    assert said["seconds"] >= 0
    steps = bob.get(f"/api/v1/runs/{run.id}/steps/").json()["results"]
    assert [step["number"] for step in steps] == [1, 2]
    assert steps[0]["error"]["type"] == "ValueError"
    assert steps[0]["error"]["line_number"] == 2
    assert (steps[1]["error"], steps[1]["value"]) == (None, "42")


def test_runs_are_listed_newest_first_and_filtered(cast: Cast, bob: Caller, connection: Connection) -> None:
    first, second = start(cast.bob, connection), start(cast.alice, connection)
    claimed(first)

    def listed(**query: str) -> list[str]:
        return [row["id"] for row in bob.get(RUNS, **query).json()["results"]]

    assert listed() == [str(second.id), str(first.id)]
    assert listed(state="running") == [str(first.id)]
    assert listed(starter=str(cast.alice.id)) == [str(second.id)]
    assert bob.get(RUNS, state="wonderful").status_code == 422


def test_a_list_costs_the_same_number_of_queries_however_long(
    cast: Cast,
    bob: Caller,
    connection: Connection,
    django_assert_num_queries: Any,
    django_assert_max_num_queries: Any,
) -> None:
    start(cast.bob, connection)
    bob.get(RUNS)  # notes the use of the key
    with django_assert_max_num_queries(30) as few:
        bob.get(RUNS)
    for _ in range(5):
        start(cast.alice, connection)
    with django_assert_num_queries(len(few.captured_queries)):
        bob.get(RUNS)


def test_steps_and_events_come_in_pages_that_stay_as_they_are(
    cast: Cast, bob: Caller, connection: Connection
) -> None:
    run = claimed(start(cast.bob, connection))
    for number in range(1, 6):
        take_step(run, number)
    first = bob.get(f"/api/v1/runs/{run.id}/steps/", page_size="3").json()
    take_step(run, 6)
    second = bob.get(first["next"]).json()
    assert [step["number"] for step in first["results"] + second["results"]] == [1, 2, 3, 4, 5, 6]
    events = bob.get(f"/api/v1/runs/{run.id}/events/", after="2", page_size="200").json()
    assert [event["sequence"] for event in events["results"]] == [3, 4, 5, 6, 7, 8]
    assert events["results"][0]["kind"] == "step"
    assert events["results"][0]["step"]["code"] == "print(1)"


# --- cancelling


def test_cancelling_twice_is_no_error_and_after_the_end_it_is(
    cast: Cast, bob: Caller, connection: Connection
) -> None:
    run = claimed(start(cast.bob, connection))
    for _ in range(2):
        assert bob.post(f"/api/v1/runs/{run.id}/cancel/").json()["cancel_requested_at"]
    end(run, Run.State.CANCELLED)
    answer = bob.post(f"/api/v1/runs/{run.id}/cancel/")
    assert (answer.status_code, answer.json()["code"]) == (409, "run_ended")


def test_others_cancel_only_what_they_may(cast: Cast, connection: Connection) -> None:
    run = start(cast.bob, connection)
    path = f"/api/v1/runs/{run.id}/cancel/"
    assert caller(cast, cast.vera).post(path).status_code == 403
    assert caller(cast, cast.rita).post(path).status_code == 403
    assert caller(cast, cast.mallory).post(path).status_code == 404
    assert caller(cast, cast.alice).post(path).json()["state"] == "cancelled"


@pytest.mark.parametrize("path", ["", "steps/", "events/"])
def test_runs_of_others_are_not_there(cast: Cast, connection: Connection, path: str) -> None:
    run = start(cast.bob, connection)
    missing = caller(cast, cast.bob).get(f"/api/v1/runs/{uuid4()}/{path}")
    foreign = caller(cast, cast.mallory).get(f"/api/v1/runs/{run.id}/{path}")
    assert missing.status_code == foreign.status_code == 404
    for answer in (missing, foreign):
        assert answer.json()["code"] == "not_found"
    assert caller(cast, cast.vera).get(f"/api/v1/runs/{run.id}/{path}").status_code == 200
    assert caller(cast, cast.bob, scopes=[Scope.RUN]).get(f"/api/v1/runs/{run.id}/{path}").status_code == 403


# --- recording


def record() -> dict[str, Any]:
    """A body as memory-hub-client makes it."""
    error = RecordedError("ValueError", "bad\x00date", "x = 1", "Traceback…", 3)
    steps = (
        RecordedStep(1, "I try", "int('a')\r\n", "", error, 0.5, 10, 5, False),
        RecordedStep(2, "", None, "done", None, None, None, None, True),
    )
    return RunRecord(
        task=TASK, steps=steps, outcome="succeeded", answer={"n": 1}, environment={"sandbox": "local", "model": "m"},
        recall_id="r", used_revision_ids=("v",), metrics=(Metric("rows", 3.0, higher_is_better=True),), seconds=2.0,
    ).as_json()  # fmt: skip


def test_what_the_client_sends_is_recorded(bob: Caller) -> None:
    answer = bob.post(f"{RUNS}record/", record())
    assert answer.status_code == 201, answer.json()
    said = bob.get(f"/api/v1/runs/{answer.json()['id']}/").json()
    assert (said["origin"], said["state"], said["capture"]) == ("recorded", "succeeded", "needed")
    assert said["metrics"] == [{"name": "rows", "value": 3.0, "unit": "", "higher_is_better": True}]
    steps = bob.get(f"/api/v1/runs/{said['id']}/steps/").json()["results"]
    assert steps[0]["code"] == "int('a')\r\n"
    assert steps[0]["error"] == {
        "kind": "execution", "type": "ValueError", "message": "bad␀date", "line": "x = 1", "line_number": 3,
        "traceback": "Traceback…",
    }  # fmt: skip


def test_a_record_sent_again_is_taken_once(bob: Caller) -> None:
    first, second = (bob.post(f"{RUNS}record/", record(), retry_key="a") for _ in range(2))
    assert first.json() == second.json()
    with as_system():
        assert (Run.objects.count(), Step.objects.count()) == (1, 2)


def test_a_key_that_may_propose_records_without_starting(cast: Cast, connection: Connection) -> None:
    agent = caller(cast, cast.bob, scopes=[Scope.PROPOSE, Scope.RECALL])
    assert agent.post(f"{RUNS}record/", record()).status_code == 201
    assert agent.post(RUNS, {"task": TASK, "connection": "Rehearsal"}).status_code == 403
    assert caller(cast, cast.vera).post(f"{RUNS}record/", record()).status_code == 403
    assert caller(cast, cast.mallory).post(f"{RUNS}record/", record()).status_code == 404


def test_a_malformed_record_is_refused(bob: Caller) -> None:
    for change in (
        {"outcome": "splendid"},
        {"steps": "none"},
        {"steps": [{"error": {"kind": "x"}}]},
        {"task": ""},
    ):
        assert bob.post(f"{RUNS}record/", {**record(), **change}).status_code == 422

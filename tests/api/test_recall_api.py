"""Recall over REST: asked, read, reported; and the client's own HttpHub against a real server."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from memory_hub.access.actor import as_system
from memory_hub.access.permissions import Role, Scope
from memory_hub.library.models import Evidence, Lesson, Revision
from memory_hub.recall.models import Recall, RecallItem
from memory_hub_client import HttpHub
from memory_hub_client.types import ErrorQuery, Metric, OutcomeReport, RecallQuery
from tests.api.api_support import LEDGER, Caller, caller
from tests.cast import Cast
from tests.live_hub import serving
from tests.services.library_support import CODE, start_run
from tests.services.recall_support import OFF_TOPIC, REWORDED, TASK, learn, remember

RECALL = f"{LEDGER}/recall/"
ERROR = {"type": "ValueError", "message": "could not convert string to float: '2,5'"}


@pytest.fixture
def bob(cast: Cast) -> Caller:
    return caller(cast, cast.bob)


@pytest.fixture
def known(cast: Cast) -> Revision:
    return remember(cast.actor(cast.bob), cast.project)


@pytest.fixture
def lesson(cast: Cast) -> Lesson:
    return learn(cast.actor(cast.bob), cast.project)


def asked(who: Caller, **body: Any) -> dict[str, Any]:
    answer = who.post(RECALL, body)
    assert answer.status_code == 200, answer.json()
    return dict(answer.json())


# --- asking


def test_a_recall_needs_few_statements_however_much_it_finds(
    cast: Cast, bob: Caller, django_assert_max_num_queries: Any
) -> None:
    for number in range(8):
        remember(
            cast.actor(cast.bob),
            cast.project,
            problem=f"{TASK} Report {number}.",
            code=f"{CODE}NUMBER = {number}\n",
        )
    asked(bob, task="Count the penguins.")  # whatever is only done the first time
    # Two transactions; in each the actor, and in a test the one before. Key and role; project, model, words, candidates,
    # solutions, links, evidence; and four writes.
    with django_assert_max_num_queries(21):
        assert len(asked(bob, task=REWORDED, top_k=8)["items"]) == 8


def test_a_task_is_answered_with_items_a_block_and_functions(bob: Caller, known: Revision) -> None:
    said = asked(bob, task=REWORDED)
    (item,) = said["items"]
    assert (item["revision"], item["solution"]) == (str(known.id), str(known.solution_id))
    assert (item["rank"], item["status"], item["verification"]) == (1, "candidate", "passed")
    assert (item["code"], item["entry_point"], item["signature"]) == (CODE, "total", known.signature)
    assert 0 < item["score"] < 1
    assert item["reason"]
    assert said["callables"] == [
        {"name": "total", "signature": known.signature, "source": CODE, "revision": str(known.id)}
    ]
    assert said["block"].startswith("### 1. `")
    assert 0 < said["tokens"] <= 2000
    assert (said["no_match"], said["lessons"]) == (False, [])
    assert "score_parts" not in item
    assert "best_rejected" not in said


def test_query_is_another_name_for_task(bob: Caller, known: Revision) -> None:
    assert asked(bob, query=TASK)["items"][0]["score"] == 1.0


def test_what_does_not_fit_is_no_match_and_explained_when_asked(bob: Caller, known: Revision) -> None:
    said = asked(bob, task=OFF_TOPIC, explain=True)
    assert said["no_match"]
    assert said["items"] == []
    assert said["best_rejected"]["revision"] == str(known.id)
    assert set(said["best_rejected"]["score_parts"]) == {
        "words",
        "letters",
        "phrases",
        "order",
        "meaning",
        "worth",
    }
    item = asked(bob, task=TASK, explain=True)["items"][0]
    assert item["score_parts"]["words"] == 1.0
    assert {"status", "verification", "quality"} <= set(item["worth_parts"])
    assert item["rank_without_worth"] == 1
    assert any(piece["is_match"] for piece in item["matched_on"])


@pytest.mark.parametrize(
    "error",
    [
        ERROR,
        {"message": "ValueError: could not convert string to float: '2,5'"},
        {"traceback": "ValueError: could not convert string to float: '2,5'", "code": "x = 1\n"},
        "Traceback (most recent call last):\nValueError: could not convert string to float: '2,5'",
    ],
)
def test_an_error_is_answered_with_the_lesson_as_quoted_text(bob: Caller, lesson: Lesson, error: Any) -> None:
    said = asked(bob, error=error)
    (hint,) = said["lessons"]
    assert (hint["id"], hint["title"]) == (str(lesson.id), str(lesson))
    assert "> float('1,5'.replace(',', '.'))" in hint["text"]
    assert not said["no_match"]


def test_an_error_met_later_is_added_to_the_recall_of_the_run(
    bob: Caller, known: Revision, lesson: Lesson
) -> None:
    first = asked(bob, task=TASK)
    later = asked(bob, error=ERROR, recall=first["id"])
    assert later["id"] == first["id"]
    assert [item["id"] for item in later["lessons"]] == [str(lesson.id)]
    with as_system():
        assert Recall.objects.count() == 1
        assert set(RecallItem.objects.values_list("rank", "revision_id", "lesson_id")) == {
            (1, known.id, None),
            (2, None, lesson.id),
        }


def test_a_recall_is_of_the_run_that_asks(cast: Cast, bob: Caller, known: Revision) -> None:
    run = start_run(cast.project, cast.bob)
    said = asked(bob, task=TASK, run=str(run.id))
    assert bob.get(f"/api/v1/recalls/{said['id']}/").json()["run"] == str(run.id)
    foreign = start_run(cast.other_project, cast.alice)
    assert bob.post(RECALL, {"task": TASK, "run": str(foreign.id)}).status_code == 404
    mine_too = caller(cast, cast.alice)
    assert mine_too.post(RECALL, {"task": TASK, "run": str(foreign.id)}).status_code == 404


def test_a_recall_of_another_project_cannot_be_added_to(cast: Cast, bob: Caller, lesson: Lesson) -> None:
    assert bob.post(RECALL, {"error": ERROR, "recall": str(uuid4())}).status_code == 404


def test_filters_budget_and_number_narrow(bob: Caller, known: Revision) -> None:
    assert asked(bob, task=TASK, filters={"status": ["approved"]})["no_match"]
    assert not asked(bob, task=TASK, filters={"kind": ["other"], "verification": ["passed"]})["no_match"]
    assert asked(bob, task=TASK, max_tokens=3)["block"] == ""
    assert asked(bob, task=REWORDED, threshold=0.99)["no_match"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"task": ""},
        {"task": 5},
        {"task": TASK, "top_k": 0},
        {"task": TASK, "max_tokens": "many"},
        {"task": TASK, "threshold": 2},
        {"task": TASK, "filters": {"status": ["splendid"]}},
        {"task": TASK, "error": 5},
        {"task": TASK, "run": "x"},
        [],
    ],
)
def test_a_wrong_question_is_a_problem_with_its_fields(bob: Caller, body: Any) -> None:
    answer = bob.post(RECALL, body)
    assert answer.status_code == 422
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["fields"]


@pytest.mark.parametrize("task", ["\x00", "\ud800", "a' & !b", "x" * 100_000])
def test_any_text_may_be_asked(bob: Caller, known: Revision, task: str) -> None:
    asked(bob, task=task)


# --- reading and reporting


def test_a_recall_is_read_and_its_outcome_reported(bob: Caller, known: Revision) -> None:
    url = f"/api/v1/recalls/{asked(bob, task=TASK, sandbox='docker')['id']}/"
    before = bob.get(url).json()
    assert (before["query"], before["sandbox"], before["outcome"]) == (TASK, "docker", "")
    assert [(item["rank"], item["revision"], item["used"]) for item in before["items"]] == [
        (1, str(known.id), None)
    ]
    metric = {"name": "rows", "value": 5, "unit": "rows", "higher_is_better": True}
    body = {"used": [str(known.id)], "outcome": "success", "metrics": [metric]}
    after = bob.post(f"{url}outcome/", body)
    assert after.status_code == 200, after.json()
    assert after.json()["items"][0]["used"] is True
    assert bob.get(url).json()["outcome"] == "success"
    with as_system():
        evidence = Evidence.objects.get(kind=Evidence.Kind.REUSED)
    assert (evidence.metric_name, evidence.metric_value, evidence.metric_better) == ("rows", 5.0, "higher")


def test_a_retried_report_is_told_once(bob: Caller, known: Revision) -> None:
    url = f"/api/v1/recalls/{asked(bob, task=TASK)['id']}/outcome/"
    body = {"used": [str(known.id)], "outcome": "success"}
    first, second = (bob.post(url, body, retry_key="once") for _ in range(2))
    assert second.headers["Idempotent-Replay"] == "true"
    assert first.json() == second.json()
    with as_system():
        assert Evidence.objects.filter(kind=Evidence.Kind.REUSED).count() == 1


def test_what_was_not_offered_cannot_have_been_used(bob: Caller, known: Revision) -> None:
    url = f"/api/v1/recalls/{asked(bob, task=OFF_TOPIC)['id']}/outcome/"
    answer = bob.post(url, {"used": [str(known.id)], "outcome": "success"})
    assert answer.status_code == 422
    assert answer.json()["fields"] == {"used": [str(known.id)]}


def test_the_recalls_of_others_are_not_there(cast: Cast, bob: Caller, known: Revision) -> None:
    url = f"/api/v1/recalls/{asked(bob, task=TASK)['id']}/"
    mallory = caller(cast, cast.mallory)
    assert mallory.get(url).status_code == 404
    assert mallory.post(f"{url}outcome/", {"used": [], "outcome": "success"}).status_code == 404
    assert mallory.post(RECALL, {"task": TASK}).status_code == 404


def test_each_needs_its_scope(cast: Cast, known: Revision) -> None:
    recaller = caller(cast, cast.vera, role=Role.VIEWER, scopes=[Scope.RECALL])
    url = f"/api/v1/recalls/{asked(recaller, task=TASK)['id']}/"
    assert recaller.get(url).status_code == 403
    assert recaller.post(f"{url}outcome/", {"used": [], "outcome": "success"}).status_code == 200
    reader = caller(cast, cast.vera, role=Role.VIEWER, scopes=[Scope.READ])
    assert reader.get(url).status_code == 200
    assert reader.post(RECALL, {"task": TASK}).status_code == 403


def test_a_known_error_answers_with_the_cause_and_the_diff(cast: Cast, bob: Caller) -> None:
    lesson = learn(
        cast.actor(cast.bob), cast.project, cause="A comma is no decimal point.", diff="-float(x)\n+fix(x)"
    )
    error = {"type": "ValueError", "message": lesson.message, "failing_line": "float('1,5')"}
    answer = asked(bob, error=error)
    assert [item["id"] for item in answer["lessons"]] == [str(lesson.id)]
    assert answer["lessons"][0]["cause"] == "A comma is no decimal point."
    assert answer["lessons"][0]["diff"] == "-float(x)\n+fix(x)"
    assert answer["lessons"][0]["fixing_code"] == lesson.fixing_code


# --- the client


@pytest.mark.django_db(transaction=True)
def test_the_clients_hub_recalls_looks_up_and_reports(committed_cast: Cast, tmp_path: Path) -> None:
    actor = committed_cast.actor(committed_cast.bob)
    revision = remember(actor, committed_cast.project)
    lesson = learn(actor, committed_cast.project)
    key = committed_cast.key(committed_cast.bob)
    with serving() as url:
        hub = HttpHub(url, key, "acme/ledger", timeout=20, spool_dir=tmp_path)
        found = hub.recall(RecallQuery(REWORDED, sandbox="local"))
        assert [item.revision_id for item in found.items] == [str(revision.id)]
        assert found.items[0].code == CODE
        assert [function.source for function in found.callables] == [CODE]
        assert found.block
        assert not found.no_match
        assert found.recall_id is not None
        assert hub.recall(RecallQuery(OFF_TOPIC)).no_match
        hint = hub.lookup_error(
            ErrorQuery("ValueError", "could not convert string to float: '2,5'", "", "", "", found.recall_id)
        )
        assert hint is not None
        assert (hint.lesson_id, hint.title) == (str(lesson.id), str(lesson))
        assert hub.lookup_error(ErrorQuery("OSError", "disk full", "", "", "")) is None
        hub.report(OutcomeReport(found.recall_id, True, (str(revision.id),), (Metric("rows", 5.0),)))
        for thread in list(hub._threads):
            thread.join(20)
    with as_system():
        evidence = Evidence.objects.get(kind=Evidence.Kind.REUSED)
        assert (evidence.revision_id, evidence.outcome, evidence.metric_value) == (
            revision.id,
            "success",
            5.0,
        )

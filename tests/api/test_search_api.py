"""Search and gaps over REST: the same filters and findings as on the page."""

import pytest

from memory_hub.library.models import Revision
from tests.api.api_support import LEDGER, Caller, caller
from tests.cast import Cast
from tests.services.recall_support import OFF_TOPIC, REWORDED, TASK, learn, remember

SEARCH, GAPS = f"{LEDGER}/search/", f"{LEDGER}/gaps/"


@pytest.fixture
def bob(cast: Cast) -> Caller:
    return caller(cast, cast.bob)


@pytest.fixture
def known(cast: Cast) -> Revision:
    return remember(cast.actor(cast.bob), cast.project)


@pytest.mark.parametrize("path", [SEARCH, "/api/v1/search/"])
def test_words_find_with_score_parts_and_what_matched(bob: Caller, known: Revision, path: str) -> None:
    body = bob.get(path, q=REWORDED).json()
    [hit] = body["solutions"]
    assert hit["solution"]["id"] == str(known.solution_id)
    assert 0 < hit["score"] <= 1
    assert {"words", "order", "worth"} <= set(hit["score_parts"])
    assert any(piece["is_match"] for piece in hit["matched_on"])
    assert body["notes"] == []


def test_filters_as_words_and_as_parameters_are_the_same(bob: Caller, known: Revision) -> None:
    by_words = bob.get(SEARCH, q="tag:csv check:passed").json()
    by_parameters = bob.get(SEARCH, tag="csv", check="passed").json()
    assert by_words == by_parameters
    assert by_words["filters"] == {"check": ["passed"], "tag": ["csv"]}
    assert [hit["solution"]["id"] for hit in by_words["solutions"]] == [str(known.solution_id)]
    assert by_words["solutions"][0]["score"] is None
    assert bob.get(SEARCH, q=TASK, status="approved").json()["solutions"] == []


def test_what_is_no_filter_is_said(bob: Caller, known: Revision) -> None:
    body = bob.get(SEARCH, q="colour:blue", status="nonsense").json()
    assert body["words"] == "colour:blue"
    assert len(body["notes"]) == 2


def test_a_question_without_anything_is_refused(bob: Caller) -> None:
    assert bob.get(SEARCH).status_code == 422
    assert bob.get(SEARCH, q="  ").json()["fields"] == {"q": "Empty."}


def test_an_error_finds_its_lesson(cast: Cast, bob: Caller) -> None:
    lesson = learn(cast.actor(cast.bob), cast.project)
    for asked in ({"q": "ValueError: could not convert string to float: '7,25'"}, {"error": "ValueError"}):
        found = bob.get(SEARCH, **asked).json()["lessons"]
        assert [item["lesson"]["id"] for item in found] == [str(lesson.id)], asked


def test_a_gap_is_recorded_counted_and_settled(bob: Caller, known: Revision) -> None:
    first = bob.post(GAPS, {"q": f"{OFF_TOPIC} lib:pandas"}, retry_key="a")
    assert first.status_code == 201
    assert bob.post(GAPS, {"q": f"{OFF_TOPIC} lib:pandas"}, retry_key="a").json() == first.json()
    again = bob.post(GAPS, {"q": f"{OFF_TOPIC} lib:pandas"}).json()
    assert (again["times"], again["people"], again["filters"]) == (2, 1, {"lib": ["pandas"]})
    assert bob.get(GAPS, state="open").json()["count"] == 1
    decide = f"/api/v1/gaps/{again['id']}/decision/"
    assert bob.post(decide, {"decision": "close"}).status_code == 422
    closed = bob.post(decide, {"decision": "close", "solution": str(known.solution_id)}).json()
    assert (closed["state"], closed["solution"]) == ("closed", str(known.solution_id))
    assert bob.post(decide, {"decision": "dismiss"}).status_code == 409
    assert bob.get(GAPS, state="open").json()["count"] == 0
    assert bob.get(GAPS, state="nonsense").status_code == 422


def test_a_stranger_finds_nothing_and_no_gap(cast: Cast, bob: Caller, known: Revision) -> None:
    gap = bob.post(GAPS, {"q": OFF_TOPIC}).json()["id"]
    mallory = caller(cast, cast.mallory)
    assert mallory.get("/api/v1/search/", q=TASK).json()["solutions"] == []
    assert mallory.get(SEARCH, q=TASK).status_code == 404
    assert mallory.get(f"/api/v1/gaps/{gap}/").status_code == 404

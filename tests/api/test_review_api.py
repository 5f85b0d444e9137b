"""Deciding and rating over REST."""

import pytest

from memory_hub.access.actor import as_system
from memory_hub.access.permissions import Role, Scope
from memory_hub.library.models import Evidence
from tests.api.api_support import LEDGER, Caller, caller
from tests.cast import Cast
from tests.services.library_support import again, propose


@pytest.fixture
def rita(cast: Cast) -> Caller:
    return caller(cast, cast.rita)


def test_a_reviewer_approves_and_the_list_of_decisions_says_so(cast: Cast, rita: Caller) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    url = f"/api/v1/solutions/{proposed.solution.id}/reviews/"
    body = {"revision": str(proposed.revision.id), "decision": "approve", "note": "Fine"}
    answer = rita.post(url, body)
    assert answer.status_code == 201, answer.json()
    assert (answer.json()["decision"], answer.json()["number"], answer.json()["is_own_work"]) == (
        "approve",
        1,
        False,
    )
    assert rita.get(url).json()["results"] == [answer.json()]
    assert again(proposed.solution).approved_revision_id == proposed.revision.id
    second = rita.post(url, body)
    assert (second.status_code, second.json()["code"]) == (409, "status_moved")


def test_rejecting_needs_a_note(cast: Cast, rita: Caller) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    url = f"/api/v1/solutions/{proposed.solution.id}/reviews/"
    body = {"revision": str(proposed.revision.id), "decision": "reject"}
    refused = rita.post(url, body)
    assert (refused.status_code, refused.json()["code"]) == (422, "note_needed")
    assert rita.post(url, {**body, "note": "Too narrow"}).status_code == 201


def test_deprecating_and_putting_in_service_again(cast: Cast, rita: Caller) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    url = f"/api/v1/solutions/{proposed.solution.id}/reviews/"
    body = {"revision": str(proposed.revision.id)}
    for decision, seen in (("approve", "candidate"), ("deprecate", "approved"), ("approve", "deprecated")):
        answer = rita.post(url, {**body, "decision": decision, "expected_status": seen})
        assert answer.status_code == 201, answer.json()


def test_nobody_approves_their_own_work_through_the_api(cast: Cast, rita: Caller) -> None:
    proposed = propose(cast.actor(cast.rita), cast.project)
    answer = rita.post(
        f"/api/v1/solutions/{proposed.solution.id}/reviews/",
        {"revision": str(proposed.revision.id), "decision": "approve"},
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "own_work")


def test_a_contributor_and_a_key_without_the_scope_decide_nothing(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.alice), cast.project)
    for who in (
        caller(cast, cast.bob),
        caller(cast, cast.rita, role=Role.REVIEWER, scopes=[Scope.READ]),
        caller(cast, cast.rita, role=Role.CONTRIBUTOR),
    ):
        answer = who.post(
            f"/api/v1/solutions/{proposed.solution.id}/reviews/",
            {"revision": str(proposed.revision.id), "decision": "approve"},
        )
        assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")


def test_a_revision_of_another_solution_is_not_decided_on(cast: Cast, rita: Caller) -> None:
    one = propose(cast.actor(cast.bob), cast.project)
    two = propose(cast.actor(cast.bob), cast.project, problem="Another")
    answer = rita.post(
        f"/api/v1/solutions/{one.solution.id}/reviews/",
        {"revision": str(two.revision.id), "decision": "approve"},
    )
    assert answer.status_code == 404


def test_stars_are_given_and_changed_in_place(cast: Cast, rita: Caller) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    url = f"/api/v1/solutions/{proposed.solution.id}/rating/"
    assert rita.get(url).json() == {"mean": None, "count": 0, "mine": None}
    rita.put(url, {"stars": 5})
    shown = rita.put(url, {"stars": 2, "note": "Slow"}).json()
    assert (shown["mean"], shown["count"], shown["mine"]["stars"], shown["mine"]["note"]) == (
        2.0,
        1,
        2,
        "Slow",
    )
    assert rita.put(url, {"stars": 6}).status_code == 422
    with as_system():
        assert Evidence.objects.filter(superseded_by=None).count() == 1


def test_the_queue_says_what_to_know_before_opening_it(cast: Cast, rita: Caller) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    propose(cast.actor(cast.bob), cast.project, problem="Another", check_spec=None)
    listed = rita.get(f"{LEDGER}/reviews/").json()
    assert listed["count"] == 2
    assert listed["results"][0]["revision"] == str(first.revision.id)
    assert any("No check" in reason for reason in listed["results"][1]["reasons"])

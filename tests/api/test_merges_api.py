"""Merging and the memory graph over REST."""

from typing import Any
from uuid import uuid4

import pytest

from memory_hub.access.permissions import Role
from memory_hub.library.drafts import Proposed
from tests.api.api_support import LEDGER, Caller, caller
from tests.cast import Cast
from tests.services.library_support import CODE, propose

OTHER = CODE.replace("rows:", "lines:").replace("in rows", "in lines").replace("(rows", "(lines")
PROPOSALS = f"{LEDGER}/merge-proposals/"


@pytest.fixture
def rita(cast: Cast) -> Caller:
    return caller(cast, cast.rita)


@pytest.fixture
def bob(cast: Cast) -> Caller:
    return caller(cast, cast.bob)


@pytest.fixture
def pair(cast: Cast) -> tuple[Proposed, Proposed]:
    one = propose(cast.actor(cast.bob), cast.project)
    return one, propose(cast.actor(cast.bob), cast.project, code=OTHER)


def seen(*proposed: Proposed) -> list[dict[str, str]]:
    return [
        {"solution": str(item.solution.id), "latest_revision": str(item.revision.id)} for item in proposed
    ]


def ask(bob: Caller, pair: tuple[Proposed, Proposed]) -> Any:
    body = {"solution": str(pair[0].solution.id), "other": str(pair[1].solution.id), "note": "Twins."}
    return bob.post(PROPOSALS, body)


def test_what_is_found_again_says_of_what_it_is_a_duplicate(
    bob: Caller, pair: tuple[Proposed, Proposed]
) -> None:
    body = {"problem": "Add up the amount of every row.", "code": "# mine\n" + CODE}
    said = bob.post(f"{LEDGER}/solutions/", body)
    assert (said.status_code, said.json()["deduplicated"]) == (200, True)
    assert said.json()["duplicate_of"] == str(pair[0].solution.id)


def test_a_contributor_asks_and_a_reviewer_merges(
    bob: Caller, rita: Caller, pair: tuple[Proposed, Proposed]
) -> None:
    stays, goes = pair
    asked = ask(bob, pair)
    assert asked.status_code == 201, asked.json()
    row = asked.json()
    assert (row["kind"], row["state"], row["reason"], row["proposed_by"]["name"]) == (
        "asked",
        "open",
        "Twins.",
        "Bob",
    )
    assert [item["id"] for item in row["solutions"]] == [str(stays.solution.id), str(goes.solution.id)]
    assert ask(bob, pair).json()["id"] == row["id"]
    assert rita.get(PROPOSALS, state="open").json()["count"] == 1
    url = f"/api/v1/merge-proposals/{row['id']}/"
    body = {"decision": "accept", "survivor": str(stays.solution.id), "seen": seen(*pair)}
    done = rita.post(url + "decision/", body)
    assert done.status_code == 200, done.json()
    assert (done.json()["state"], done.json()["survivor"]) == ("accepted", str(stays.solution.id))
    assert rita.get(url).json() == done.json()
    assert rita.get(PROPOSALS, state="open").json()["count"] == 0
    merged = rita.get(f"/api/v1/solutions/{goes.solution.id}/").json()
    assert (merged["archived"], merged["merged_into"]) == (True, str(stays.solution.id))
    assert merged["revision"]["code"] == OTHER
    assert rita.get(f"/api/v1/solutions/{stays.solution.id}/").json()["merged_into"] is None


def test_a_reviewer_merges_without_being_asked_and_a_retry_repeats_the_answer(
    rita: Caller, pair: tuple[Proposed, Proposed]
) -> None:
    stays, goes = pair
    url = f"/api/v1/solutions/{goes.solution.id}/merge/"
    body = {
        "into": str(stays.solution.id),
        "latest_revision": str(goes.revision.id),
        "into_latest_revision": str(stays.revision.id),
    }
    first = rita.post(url, body, retry_key="k1")
    assert (first.status_code, first.json()["state"]) == (200, "accepted")
    assert rita.post(url, body, retry_key="k1").json() == first.json()
    again = rita.post(url, body)
    assert (again.status_code, again.json()["code"]) == (409, "status_moved")
    links = rita.get(f"/api/v1/solutions/{goes.solution.id}/links/").json()["results"]
    assert {link["kind"]: link["reason"] for link in links}["duplicate_of"] == "Merged"


def test_what_the_decision_did_not_see_is_a_conflict(
    bob: Caller, rita: Caller, pair: tuple[Proposed, Proposed]
) -> None:
    url = f"/api/v1/merge-proposals/{ask(bob, pair).json()['id']}/decision/"
    moved = [seen(pair[0])[0], {"solution": str(pair[1].solution.id), "latest_revision": str(uuid4())}]
    for said in (moved, seen(pair[0])):
        answer = rita.post(url, {"decision": "decline", "note": "No.", "seen": said})
        assert (answer.status_code, answer.json()["code"]) == (409, "stale_revision")
        assert answer.json()["latest"] == str(pair[1].revision.id)


def test_accepting_needs_a_survivor_and_declining_a_note(
    bob: Caller, rita: Caller, pair: tuple[Proposed, Proposed]
) -> None:
    url = f"/api/v1/merge-proposals/{ask(bob, pair).json()['id']}/decision/"
    accepted = rita.post(url, {"decision": "accept", "seen": seen(*pair)})
    assert (accepted.status_code, list(accepted.json()["fields"])) == (422, ["survivor"])
    declined = rita.post(url, {"decision": "decline", "seen": seen(*pair)})
    assert (declined.status_code, declined.json()["code"]) == (422, "note_needed")
    assert rita.post(url, {"decision": "decline", "seen": seen(*pair), "note": "No."}).status_code == 200


def test_the_wrong_role_merges_nothing(cast: Cast, bob: Caller, pair: tuple[Proposed, Proposed]) -> None:
    row = ask(bob, pair).json()
    body = {"decision": "decline", "note": "No.", "seen": seen(*pair)}
    for who in (bob, caller(cast, cast.rita, role=Role.CONTRIBUTOR)):
        answer = who.post(f"/api/v1/merge-proposals/{row['id']}/decision/", body)
        assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")


def test_other_projects_are_not_there(cast: Cast, bob: Caller, pair: tuple[Proposed, Proposed]) -> None:
    row = ask(bob, pair).json()
    foreign = propose(cast.actor(cast.carol), cast.other_project)
    body = {"solution": str(pair[0].solution.id), "other": str(foreign.solution.id)}
    assert bob.post(PROPOSALS, body).status_code == 404
    for who in (caller(cast, cast.mallory),):
        assert who.get(f"/api/v1/merge-proposals/{row['id']}/").status_code == 404
        assert who.get(f"/api/v1/solutions/{pair[0].solution.id}/graph/").status_code == 404
        assert who.get(PROPOSALS).status_code == 404


def test_a_state_there_is_not_is_refused(rita: Caller) -> None:
    answer = rita.get(PROPOSALS, state="maybe")
    assert (answer.status_code, list(answer.json()["fields"])) == (422, ["state"])


def test_the_graph_lists_nodes_and_links(rita: Caller, pair: tuple[Proposed, Proposed]) -> None:
    shown = rita.get(f"/api/v1/solutions/{pair[0].solution.id}/graph/").json()
    assert [(node["hop"], node["what"]) for node in shown["nodes"]] == [(0, "solution"), (1, "solution")]
    assert shown["edges"] == [
        {
            "kind": "alternative_to",
            "source": str(pair[1].solution.id),
            "target": str(pair[0].solution.id),
            "reason": "Other code for the same problem",
        }
    ]
    assert shown["is_cut"] is False
    assert rita.get(f"/api/v1/solutions/{pair[0].solution.id}/graph/", hops="3").status_code == 422

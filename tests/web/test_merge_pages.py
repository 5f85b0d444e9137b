"""The graph of a solution, two solutions side by side, and asking for a merge, in the browser."""

import re
from typing import Any

import pytest
from django.test import Client

from memory_hub.access.actor import acting_as, as_system
from memory_hub.library.drafts import NewLesson, Proposed
from memory_hub.library.models import MergeProposal
from memory_hub.library.services.lessons import lesson_record
from memory_hub.library.services.merge_proposals import merge_propose
from memory_hub.library.services.revisions import revision_refine
from tests.cast import Cast
from tests.services.library_support import CODE, again, approve, propose, verified
from tests.web.page_support import LEDGER, browser, text_of

OTHER = CODE.replace("rows:", "lines:").replace("in rows", "in lines").replace("(rows", "(lines")


@pytest.fixture
def rita(cast: Cast) -> Client:
    return browser(cast.rita)


@pytest.fixture
def pair(cast: Cast) -> tuple[Proposed, Proposed]:
    bob = cast.actor(cast.bob)
    return propose(bob, cast.project), propose(bob, cast.project, title="Sum it up", code=OTHER)


@pytest.fixture
def asked(cast: Cast, pair: tuple[Proposed, Proposed]) -> MergeProposal:
    with acting_as(cast.actor(cast.bob)) as bob:
        return merge_propose(actor=bob, solution=pair[1].solution, other=pair[0].solution, note="Twins")


def form(pair: tuple[Proposed, Proposed], decision: str, note: str = "") -> dict[str, Any]:
    return {
        "decision": decision, "note": note, "one_latest": str(pair[0].revision.id),
        "two_latest": str(pair[1].revision.id),
    }  # fmt: skip


# --- the graph


def test_what_nothing_links_has_a_page_that_says_what_would(cast: Cast, rita: Client) -> None:
    alone = propose(cast.actor(cast.bob), cast.project)
    page = text_of(rita.get(f"{LEDGER}/library/{alone.solution.id}/graph/"))
    assert "Nothing is linked to it yet" in page
    assert 'class="graph' not in page


def test_the_drawing_and_the_table_say_the_same(
    cast: Cast, rita: Client, pair: tuple[Proposed, Proposed]
) -> None:
    with acting_as(cast.actor(cast.bob)) as bob:
        draft = NewLesson(exception_type="KeyError", message="<b>'x'</b>", failing_code="a", fixing_code="b")
        lesson_record(actor=bob, project=cast.project, draft=draft, solution=pair[0].solution)
    page = text_of(rita.get(f"{LEDGER}/library/{pair[0].solution.id}/graph/"))
    drawing, table = page.split("<table", 1)
    for words in ("alternative to", "resolves", "Sum it up", "KeyError"):
        assert words in drawing, words
        assert words in table, words
    assert "Other code for the same problem" in table
    assert f'href="{LEDGER}/library/{pair[1].solution.id}/graph/"' in drawing
    assert "<b>" not in page
    assert " style=" not in drawing
    assert len(re.findall(r'<a class="graph-node', drawing)) == 3


def test_two_steps_are_asked_for_in_the_address(
    cast: Cast, rita: Client, pair: tuple[Proposed, Proposed]
) -> None:
    far = propose(
        cast.actor(cast.bob), cast.project, problem="Elsewhere", title="Far away", code="# x\n" + OTHER
    )
    url = f"{LEDGER}/library/{pair[0].solution.id}/graph/"
    assert far.solution.title not in text_of(rita.get(url))
    assert far.solution.title in text_of(rita.get(url, {"hops": "2"}))
    assert rita.get(url, {"hops": "many"}).status_code == 200


def test_a_graph_of_another_project_is_not_there(cast: Cast, rita: Client) -> None:
    foreign = propose(cast.actor(cast.carol), cast.other_project)
    assert rita.get(f"{LEDGER}/library/{foreign.solution.id}/graph/").status_code == 404


# --- the queue and the page of a pair


def test_the_queue_shows_pairs_and_conflicts_above_candidates(
    rita: Client, asked: MergeProposal, pair: tuple[Proposed, Proposed]
) -> None:
    page = text_of(rita.get(f"{LEDGER}/review/"))
    assert f'href="{LEDGER}/review/merges/{asked.id}/"' in page
    assert "Merge asked for" in page
    assert page.index("The same, or not?") < page.index("Candidates")
    verified(pair[0].revision)
    verified(pair[1].revision, passed=False)
    page = text_of(rita.get(f"{LEDGER}/review/"))
    assert "Conflict" in page
    assert "“Sum it up” failed where “Add up the amounts” works" in page


def test_a_pair_stands_side_by_side_with_what_differs(
    rita: Client, asked: MergeProposal, pair: tuple[Proposed, Proposed]
) -> None:
    verified(pair[0].revision)
    page = text_of(rita.get(f"{LEDGER}/review/merges/{asked.id}/"))
    for words in ("Add up the amounts", "Sum it up", "Twins", "100 % of 1 observation", "Keep both"):
        assert words in page, words
    assert 'class="diff"' in page
    assert 'class="diff diff-split"' in text_of(rita.get(f"{LEDGER}/review/merges/{asked.id}/?view=split"))


def test_a_reviewer_merges_and_both_pages_say_so(
    rita: Client, asked: MergeProposal, pair: tuple[Proposed, Proposed]
) -> None:
    url = f"{LEDGER}/review/merges/{asked.id}/"
    done = rita.post(url, form(pair, "keep_one"))
    assert (done.status_code, done.headers["Location"]) == (302, f"{LEDGER}/review/")
    assert again(pair[1].solution).archived_at is not None
    merged = text_of(rita.get(f"{LEDGER}/library/{pair[1].solution.id}/"))
    assert "Another solution stands for this one" in merged
    assert f'href="{LEDGER}/library/{pair[0].solution.id}/"' in merged
    assert "Stands for both" in text_of(rita.get(url))
    assert "decision-note" not in text_of(rita.get(url))


def test_keeping_both_needs_a_reason_and_the_form_comes_back(
    rita: Client, asked: MergeProposal, pair: tuple[Proposed, Proposed]
) -> None:
    url = f"{LEDGER}/review/merges/{asked.id}/"
    refused = rita.post(url, form(pair, "decline"))
    assert (refused.status_code, "Say why" in text_of(refused)) == (422, True)
    assert rita.post(url, form(pair, "decline", note="Other columns")).status_code == 302
    assert "Other columns" in text_of(rita.get(url))
    assert rita.post(url, {"decision": "applaud"}).status_code == 422


def test_a_decision_on_what_moved_comes_back_with_the_note_and_what_is_there_now(
    cast: Cast, rita: Client, asked: MergeProposal, pair: tuple[Proposed, Proposed]
) -> None:
    with acting_as(cast.actor(cast.bob)) as bob:
        new = revision_refine(
            actor=bob, solution=pair[0].solution, based_on=pair[0].revision.id, code=CODE + "x = 1\n",
            entry_point="total",
        )  # fmt: skip
    answer = rita.post(f"{LEDGER}/review/merges/{asked.id}/", form(pair, "keep_one", note="Long thoughts"))
    assert answer.status_code == 409
    page = text_of(answer)
    assert "A newer revision of" in page
    assert "Long thoughts" in page
    assert f'value="{new.id}"' in page
    with as_system():
        assert MergeProposal.objects.get().state == "open"


def test_who_may_not_review_sees_the_pair_and_no_buttons(
    cast: Cast, asked: MergeProposal, pair: tuple[Proposed, Proposed]
) -> None:
    bob = browser(cast.bob)
    url = f"{LEDGER}/review/merges/{asked.id}/"
    page = text_of(bob.get(url))
    assert "Deciding needs the role reviewer" in page
    assert 'value="keep_one"' not in page
    assert bob.post(url, form(pair, "keep_one")).status_code == 403


def test_a_pair_is_not_reached_through_another_project(cast: Cast, asked: MergeProposal) -> None:
    alice = browser(cast.alice)
    assert alice.get(f"/p/acme/atlas/review/merges/{asked.id}/").status_code == 404
    assert browser(cast.mallory).get(f"{LEDGER}/review/merges/{asked.id}/").status_code == 404


# --- asking


def test_a_contributor_asks_and_lands_on_the_pair(cast: Cast, pair: tuple[Proposed, Proposed]) -> None:
    bob = browser(cast.bob)
    url = f"{LEDGER}/library/{pair[1].solution.id}/merge/"
    page = text_of(bob.get(url))
    assert "Linked to it" in page
    assert str(pair[0].solution.id) in page
    done = bob.post(url, {"other": str(pair[0].solution.id), "note": "Twins"}, follow=True)
    assert "The two wait for a reviewer now" in text_of(done)
    assert "Twins" in text_of(done)
    assert "Perhaps there twice" in text_of(bob.get(f"{LEDGER}/library/{pair[0].solution.id}/"))


@pytest.mark.parametrize("other", ["", "nonsense", "00000000-0000-0000-0000-000000000000"])
def test_what_is_no_choice_comes_back(cast: Cast, pair: tuple[Proposed, Proposed], other: str) -> None:
    answer = browser(cast.bob).post(f"{LEDGER}/library/{pair[1].solution.id}/merge/", {"other": other})
    assert answer.status_code == 422


# --- quality over time


def test_the_page_tells_when_it_was_checked_and_when_it_was_used(cast: Cast, rita: Client) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    url = f"{LEDGER}/library/{proposed.solution.id}/"
    assert re.search(r"Last verified</dt><dd>never", text_of(rita.get(url)))
    verified(proposed.revision)
    approve(cast.rita, proposed.revision)
    page = text_of(rita.get(url))
    assert re.search(r"Last verified</dt><dd><time", page)
    assert re.search(r"Last used</dt><dd>never", page)


def test_a_lonely_solution_has_nothing_to_be_merged_with(cast: Cast) -> None:
    alone = propose(cast.actor(cast.bob), cast.project)
    page = text_of(browser(cast.bob).get(f"{LEDGER}/library/{alone.solution.id}/merge/"))
    assert "There is no other solution" in page
    assert "<select" not in page

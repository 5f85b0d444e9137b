"""The review queue, the decision on a revision, and stars, in the browser."""

import re

import pytest
from django.test import Client

from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.models import Project
from memory_hub.library.models import Revision
from memory_hub.library.services.revisions import revision_refine
from memory_hub.review.models import Rating, Review
from tests.cast import Cast
from tests.services.library_support import CODE, again, approve, propose
from tests.web.page_support import LEDGER, browser, text_of


@pytest.fixture
def rita(cast: Cast) -> Client:
    return browser(cast.rita)


def decision(revision: Revision, kind: str, **more: str) -> dict[str, str]:
    """Return what the decision form sends."""
    return {
        "decision": kind, "note": "", "expected_latest": str(revision.id), "expected_status": "candidate", **more
    }  # fmt: skip


def test_an_empty_queue_says_so(rita: Client) -> None:
    assert "Nothing waits for review" in text_of(rita.get(f"{LEDGER}/review/"))


def test_the_queue_leads_to_each_candidate_in_one_click(cast: Cast, rita: Client) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    second = propose(cast.actor(cast.rita), cast.project, problem="Second", title="Mine", check_spec=None)
    page = text_of(rita.get(f"{LEDGER}/review/"))
    links = re.findall(rf'class="row-title" href="({LEDGER}/library/[^"]+)"', page)
    assert links == [
        f"{LEDGER}/library/{first.solution.id}/revisions/1/",
        f"{LEDGER}/library/{second.solution.id}/revisions/1/",
    ]
    assert "Your own work" in page
    assert "No check" in page
    assert 'value="approve"' in text_of(rita.get(links[0]))


def test_a_reviewer_approves_with_a_note(cast: Cast, rita: Client) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    url = f"{LEDGER}/library/{proposed.solution.id}/revisions/1/decide/"
    answer = rita.post(url, decision(proposed.revision, "approve", note="Good"))
    assert answer.status_code == 302
    page = text_of(rita.get(answer.headers["Location"]))
    assert "Revision 1 is approved" in page
    assert "Good" in page
    assert 'value="deprecate"' in page
    assert again(proposed.solution).approved_revision_id == proposed.revision.id


def test_the_queue_is_gone_through_from_decision_to_decision(cast: Cast, rita: Client) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    propose(cast.actor(cast.rita), cast.project, problem="Her own, which she skips")
    third = propose(cast.actor(cast.bob), cast.project, problem="Third", title="The third one")
    page = text_of(rita.get(f"{LEDGER}/library/{first.solution.id}/revisions/1/"))
    assert (
        f'href="{LEDGER}/library/{third.solution.id}/revisions/1/">Next in the queue: The third one' in page
    )
    bob = text_of(browser(cast.bob).get(f"{LEDGER}/library/{first.solution.id}/revisions/1/"))
    assert "Next in the queue" not in bob


def test_a_rejection_without_a_reason_comes_back(cast: Cast, rita: Client) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    url = f"{LEDGER}/library/{proposed.solution.id}/revisions/1/decide/"
    answer = rita.post(url, decision(proposed.revision, "reject"))
    assert answer.status_code == 422
    assert "Say why" in text_of(answer)
    assert rita.post(url, decision(proposed.revision, "reject", note="Wrong total")).status_code == 302
    assert "Wrong total" in text_of(rita.get(f"{LEDGER}/library/{proposed.solution.id}/"))


def test_a_decision_on_what_moved_comes_back_with_the_note(cast: Cast, rita: Client) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    actor = cast.actor(cast.bob)
    with acting_as(actor):
        revision_refine(
            actor=actor, solution=proposed.solution, based_on=proposed.revision.id, code=CODE + "#\n",
            entry_point="total",
        )  # fmt: skip
    url = f"{LEDGER}/library/{proposed.solution.id}/revisions/1/decide/"
    answer = rita.post(url, decision(proposed.revision, "approve", note="Long thoughts"))
    assert answer.status_code == 409
    assert "A newer revision was added" in text_of(answer)
    assert "Long thoughts" in text_of(answer)
    with as_system():
        assert not Review.objects.exists()


def test_a_second_decision_finds_that_somebody_was_faster(cast: Cast, rita: Client) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    approve(cast.alice, proposed.revision)
    url = f"{LEDGER}/library/{proposed.solution.id}/revisions/1/decide/"
    answer = rita.post(url, decision(proposed.revision, "reject", note="No"))
    assert answer.status_code == 409
    assert "Somebody decided meanwhile" in text_of(answer)


def test_a_decision_that_makes_no_sense_is_refused(cast: Cast, rita: Client) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    url = f"{LEDGER}/library/{proposed.solution.id}/revisions/1/decide/"
    assert rita.post(url, {"decision": "applaud"}).status_code == 422


def test_the_author_sees_why_they_cannot_approve(cast: Cast, rita: Client) -> None:
    proposed = propose(cast.actor(cast.rita), cast.project)
    page = text_of(rita.get(f"{LEDGER}/library/{proposed.solution.id}/revisions/1/"))
    assert "This is your own work" in page
    assert 'value="approve"' not in page
    url = f"{LEDGER}/library/{proposed.solution.id}/revisions/1/decide/"
    assert rita.post(url, decision(proposed.revision, "approve")).status_code == 403
    assert again(proposed.revision).status == "candidate"


def test_a_contributor_sees_which_role_decides(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.rita), cast.project)
    bob = browser(cast.bob)
    page = text_of(bob.get(f"{LEDGER}/library/{proposed.solution.id}/revisions/1/"))
    assert "Deciding needs the role reviewer" in page
    assert 'value="approve"' not in page
    url = f"{LEDGER}/library/{proposed.solution.id}/revisions/1/decide/"
    assert bob.post(url, decision(proposed.revision, "approve")).status_code == 403


def test_where_the_project_allows_it_ones_own_approval_is_marked(cast: Cast, rita: Client) -> None:
    with as_system():
        Project.objects.filter(id=cast.project.id).update(allow_self_approval=True)
    proposed = propose(cast.actor(cast.rita), cast.project)
    url = f"{LEDGER}/library/{proposed.solution.id}/revisions/1/"
    assert "The project allows you to approve it" in text_of(rita.get(url))
    done = rita.post(url + "decide/", decision(proposed.revision, "approve"))
    assert "own work" in text_of(rita.get(done.headers["Location"]))


def test_stars_are_given_and_changed(cast: Cast, rita: Client) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    url = f"{LEDGER}/library/{proposed.solution.id}/rate/"
    rita.post(url, {"stars": "5", "note": "Saved an hour"})
    rita.post(url, {"stars": "4", "note": "Saved half an hour"})
    with as_system():
        assert Rating.objects.get().stars == 4
    page = text_of(rita.get(f"{LEDGER}/library/{proposed.solution.id}/"))
    assert "Saved half an hour" in page
    assert "Change my rating" in page
    assert 'value="4" required checked' in page
    answer = rita.post(url, {"stars": "9"}, follow=True)
    assert "Choose one to five stars" in text_of(answer)


def test_a_viewer_sees_stars_and_gives_none(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    vera = browser(cast.vera)
    assert 'name="stars"' not in text_of(vera.get(f"{LEDGER}/library/{proposed.solution.id}/"))
    assert vera.post(f"{LEDGER}/library/{proposed.solution.id}/rate/", {"stars": "1"}).status_code == 403


def test_other_teams_decide_and_rate_nothing(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    mallory = browser(cast.mallory)
    base = f"{LEDGER}/library/{proposed.solution.id}"
    assert (
        mallory.post(f"{base}/revisions/1/decide/", decision(proposed.revision, "approve")).status_code == 404
    )
    assert mallory.post(f"{base}/rate/", {"stars": "1"}).status_code == 404

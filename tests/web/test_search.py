"""The search pages: found by meaning, by name and by traceback, with both signals; browsing leaves no recall."""

import re
from typing import Any

import pytest
from django.test import Client

from memory_hub.access.actor import acting_as, as_system
from memory_hub.library.models import Revision
from memory_hub.library.services.solutions import solution_archive
from memory_hub.recall.models import Recall
from memory_hub.review.services import revision_reject
from tests.cast import Cast
from tests.services.library_support import CODE, again, start_run
from tests.services.recall_support import OFF_TOPIC, REWORDED, TASK, ask, learn, remember
from tests.web.page_support import LEDGER, browser, text_of

TRACEBACK = """Traceback (most recent call last):
  File "task.py", line 1, in <module>
    float("7,25")
ValueError: could not convert string to float: '7,25'
"""


@pytest.fixture
def bob(cast: Cast) -> Client:
    return browser(cast.bob)


@pytest.fixture
def known(cast: Cast) -> Revision:
    return remember(cast.actor(cast.bob), cast.project)


def found(client: Client, path: str = "/search/", **query: str) -> str:
    """Return the text of the page, without tags and doubled spaces."""
    answer = client.get(path, query)
    assert answer.status_code == 200
    return " ".join(re.sub(r"<[^>]+>", " ", text_of(answer)).replace("&#x27;", "'").split())


def links(client: Client, path: str = "/search/", **query: str) -> list[str]:
    """Return where the titles of the found rows lead."""
    page = text_of(client.get(path, query))
    return re.findall(r'class="row-title[^"]*" href="([^"]+)"', page)


@pytest.mark.parametrize("path", ["/search/", f"{LEDGER}/search/"])
def test_a_reworded_question_finds_the_solution_and_says_why(bob: Client, known: Revision, path: str) -> None:
    page = found(bob, path, q=REWORDED)
    assert "1 solution, 0 lessons" in page
    assert "Add up the amounts Candidate Check passed" in page
    assert "Shares the words" in page
    assert "% match" in page
    assert links(bob, path, q=REWORDED) == [f"{LEDGER}/library/{known.solution_id}/"]


def test_an_empty_question_says_what_can_be_asked(bob: Client) -> None:
    page = found(bob)
    assert "Ask the memory" in page
    assert "solutions," not in page


def test_where_nothing_fits_the_page_helps_on(bob: Client, known: Revision) -> None:
    page = found(bob, f"{LEDGER}/search/", q=OFF_TOPIC)
    assert "Nothing fits well." in page
    assert "No solution fits" in page
    assert "Start a run" in page
    assert "Add up the amounts" not in page, "what has nothing to do with it is no help"
    assert "Start a run" not in found(bob, q=OFF_TOPIC), "no project is chosen there"


def test_what_comes_near_is_shown_as_such(bob: Client, known: Revision) -> None:
    page = found(bob, q="Plot a histogram of the amounts")
    assert "Nothing fits well." in page
    assert "Nearest, though agents are not offered it Add up the amounts" in page


def test_a_viewer_is_not_sent_to_start_a_run(cast: Cast) -> None:
    page = found(browser(cast.vera), f"{LEDGER}/search/", q=OFF_TOPIC)
    assert "No solution fits" in page
    assert "Start a run" not in page


def test_a_name_in_the_code_is_found(cast: Cast, bob: Client) -> None:
    revision = remember(
        cast.actor(cast.bob), cast.project, code="import pandas as pd\n\ndef load(path):\n    return pd.read_csv(path)\n",
        title="Import", problem="Load the table.", entry_point="load", check_spec=None, passed=None,
    )  # fmt: skip
    for name in ("read_csv", "pandas", "pd.read_csv", "load"):
        assert links(bob, q=name) == [f"{LEDGER}/library/{revision.solution_id}/"], name


@pytest.mark.parametrize("text", [TRACEBACK, TRACEBACK.replace("\n", " "), TRACEBACK.splitlines()[-1]])
def test_a_pasted_traceback_finds_the_lesson(cast: Cast, bob: Client, text: str) -> None:
    lesson = learn(cast.actor(cast.bob), cast.project, cause="A decimal comma.")
    page = found(bob, q=text)
    assert "What is known of this error ValueError Fix known" in page
    assert "A decimal comma." in page
    assert "the same message" in page
    assert links(bob, q=text) == [f"{LEDGER}/lessons/{lesson.id}/"]


def test_an_error_that_nobody_met_says_so(bob: Client, known: Revision) -> None:
    assert "Nobody has met ZeroDivisionError with such a message here." in found(
        bob, q="ZeroDivisionError: division by zero"
    )


def test_a_lesson_without_a_fix_is_shown_with_that_word(cast: Cast, bob: Client) -> None:
    learn(cast.actor(cast.bob), cast.project, fixing_code="", is_open=True)
    assert "ValueError No fix yet" in found(bob, q=TRACEBACK)
    assert "ValueError No fix yet" in found(bob, q="could not convert string to float")


def test_what_agents_are_not_offered_is_found_with_its_pills(cast: Cast, bob: Client) -> None:
    rita = cast.actor(cast.rita)
    revision = remember(cast.actor(cast.bob), cast.project, passed=False)
    assert "Add up the amounts Candidate Check failed" in found(bob, q=TASK)
    with acting_as(rita):
        revision_reject(actor=rita, revision=again(revision), note="No.")
    assert "Add up the amounts Rejected Check failed" in found(bob, q=TASK)
    with acting_as(rita):
        solution_archive(actor=rita, solution=again(revision.solution))
    assert links(bob, q=TASK) == []
    assert "Add up the amounts Archived" in found(bob, q=TASK, status="archived")


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ({"status": "candidate"}, 1),
        ({"status": "approved"}, 0),
        ({"verification": "passed", "kind": "other"}, 1),
        ({"kind": "algorithm"}, 0),
        ({"status": "nonsense"}, 1),
    ],
)
def test_filters_stand_in_the_address(
    bob: Client, known: Revision, filters: dict[str, Any], count: int
) -> None:
    assert len(links(bob, q=TASK, **filters)) == count
    page = text_of(bob.get("/search/", {"q": TASK, **filters}))
    for name, value in filters.items():
        assert (f'<option value="{value}" selected>' in page) == (value != "nonsense"), name
    if not count:
        assert "No solution fits with these filters" in page


def test_a_run_is_found_by_the_words_of_its_task(cast: Cast, bob: Client) -> None:
    run = start_run(cast.project, cast.bob)
    assert f"{LEDGER}/runs/{run.id}/" in links(bob, q="amount every")
    assert links(bob, q="amount penguin") == []


def test_browsing_writes_no_recall(bob: Client, known: Revision) -> None:
    found(bob, q=TASK)
    with as_system():
        assert not Recall.objects.exists()


def test_all_my_projects_are_searched_and_named_and_no_others(cast: Cast) -> None:
    remember(cast.actor(cast.bob), cast.project)
    remember(cast.actor(cast.carol), cast.other_project, code=CODE + "# atlas\n")
    remember(cast.actor(cast.mallory), cast.rival_project, code=CODE + "# den\n")
    alice = found(browser(cast.alice), q=TASK)
    assert "2 solutions" in alice
    assert "acme/ledger, Other" in alice
    assert "acme/atlas, Other" in alice
    assert all("/p/acme/atlas/" in link for link in links(browser(cast.carol), q=TASK))
    assert len(links(browser(cast.mallory), q=TASK)) == 1
    assert "acme" not in found(browser(cast.mallory), q=TASK)


def test_the_search_of_a_project_stays_in_it_and_leads_out(cast: Cast) -> None:
    remember(cast.actor(cast.bob), cast.project)
    remember(cast.actor(cast.carol), cast.other_project, code=CODE + "# atlas\n")
    alice = browser(cast.alice)
    assert len(links(alice, f"{LEDGER}/search/", q=TASK)) == 1
    assert "Search all my projects" in found(alice, f"{LEDGER}/search/", q=TASK)
    assert alice.get("/p/rival/den/search/", {"q": TASK}).status_code == 404


def test_what_was_asked_is_shown_and_never_rendered(bob: Client) -> None:
    page = text_of(bob.get("/search/", {"q": "<script>alert(1)</script>{{ 7 }}"}))
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;{{ 7 }}" in page


@pytest.mark.parametrize("text", ["\x00", "a & b | !c", "%", "x" * 7_000, "日本語"])
def test_any_text_may_be_asked(bob: Client, known: Revision, text: str) -> None:
    found(bob, q=text)


def test_whoever_is_not_signed_in_is_asked_to(cast: Cast) -> None:
    answer = Client().get("/search/", {"q": "x"})
    assert answer.status_code == 302


def test_words_and_fields_are_one_mechanism(bob: Client, known: Revision) -> None:
    page = text_of(bob.get("/search/", {"q": "amounts tag:csv", "check": "passed"}))
    assert ">amounts</textarea>" in page, "filters leave the box for the fields"
    assert 'name="tag" id="id_tag" value="csv"' in page
    assert '<option value="passed" selected>' in page
    chips = re.findall(r'<a class="chip"[^>]*href="([^"]+)">\s*([\w:]+)', page)
    assert chips == [
        ("/search/?q=amounts&amp;tag=csv", "check:passed"),
        ("/search/?q=amounts&amp;check=passed", "tag:csv"),
    ]
    assert len(links(bob, q="amounts tag:csv", check="passed")) == 1
    assert links(bob, q="amounts tag:csv", check="failed") == []


def test_filters_alone_list_what_passes_page_by_page(cast: Cast, bob: Client, known: Revision) -> None:
    for number in range(26):
        code = f"def total(rows):\n    return {number}\n"
        remember(
            cast.actor(cast.bob),
            cast.project,
            passed=None,
            code=code,
            check_spec=None,
            problem=f"No {number}",
        )
    assert "27 solutions with these filters, newest first." in found(bob, q="tag:csv")
    assert len(links(bob, q="tag:csv")) == 25
    assert len(links(bob, q="tag:csv", page="2")) == 2
    assert links(bob, q="tag:csv check:passed") == [f"{LEDGER}/library/{known.solution_id}/"]


def test_what_is_no_filter_is_searched_and_said(bob: Client, known: Revision) -> None:
    page = found(bob, q="amounts colour:blue")
    assert "“colour:” is no filter, so colour:blue was searched as words." in page
    assert "amounts colour:blue" in page


def test_matched_words_are_marked_and_the_parts_of_the_score_can_be_opened(
    bob: Client, known: Revision
) -> None:
    page = text_of(bob.get("/search/", {"q": "amount of rows"}))
    assert "Add up the <mark>amount</mark> of every <mark>row</mark>." in page
    assert "<summary" in page
    for name in ("Words", "Letters", "Phrases", "Order", "Worth"):
        assert f'aria-label="{name}"' in page, name


def test_it_is_said_which_filter_keeps_results_away(bob: Client, known: Revision) -> None:
    page = found(bob, q=TASK, lib="numpy")
    assert "Without lib:numpy there is 1." in page
    assert f'href="/search/?q={TASK.replace(" ", "+")}"' in text_of(
        bob.get("/search/", {"q": TASK, "lib": "numpy"})
    )
    assert "No single filter keeps it away." in found(bob, q=OFF_TOPIC, lib="numpy")


def test_a_gap_is_recorded_from_the_page_and_closed_with_a_solution(
    cast: Cast, bob: Client, known: Revision
) -> None:
    path = f"{LEDGER}/search/"
    page = text_of(bob.get(path, {"q": OFF_TOPIC, "lib": "numpy"}))
    asked = re.search(r'type="hidden" name="q" value="([^"]+)"', page)
    assert asked is not None
    for times in ("Asked 1 time", "Asked 2 times"):
        answer = bob.post(f"{LEDGER}/gaps/", {"q": asked[1]}, follow=True)
        assert times in " ".join(re.sub(r"<[^>]+>", " ", text_of(answer)).split())
    gap = answer.redirect_chain[0][0]
    assert "lib:numpy" in found(bob, f"{LEDGER}/gaps/")
    assert bob.post(gap, {"decision": "close", "solution": ""}).status_code == 422
    assert bob.post(gap, {"decision": "close", "solution": str(known.solution_id)}).status_code == 302
    assert "No open gaps" in found(bob, f"{LEDGER}/gaps/")
    assert "Closed with “Add up the amounts”." in found(bob, f"{LEDGER}/gaps/", state="closed")
    assert bob.post(gap, {"decision": "dismiss"}).status_code == 409
    assert found(browser(cast.vera), gap).count("Settle it") == 0


def test_over_all_projects_one_says_where_a_gap_belongs(cast: Cast, known: Revision) -> None:
    alice = browser(cast.alice)
    page = text_of(alice.get("/search/", {"q": OFF_TOPIC}))
    assert f'formaction="{LEDGER}/gaps/"' in page
    assert 'formaction="/p/acme/atlas/gaps/"' in page
    narrowed = text_of(alice.get("/search/", {"q": f"{OFF_TOPIC} in:atlas"}))
    assert f'formaction="{LEDGER}/gaps/"' not in narrowed
    assert "/p/rival/" not in page


def test_what_agents_asked_in_vain_stands_among_the_gaps(cast: Cast, bob: Client, known: Revision) -> None:
    ask(cast.actor(cast.bob), cast.project, OFF_TOPIC)
    assert "Agents asked and got nothing" in found(bob, f"{LEDGER}/gaps/")
    assert OFF_TOPIC in found(bob, f"{LEDGER}/gaps/")


def test_an_error_filter_lists_the_lessons_on_it(cast: Cast, bob: Client) -> None:
    lesson = learn(cast.actor(cast.bob), cast.project)
    assert links(bob, q="error:ValueError") == [f"{LEDGER}/lessons/{lesson.id}/"]
    assert links(bob, q="error:KeyError") == []
    assert links(bob, q=TRACEBACK, author="rita") == []

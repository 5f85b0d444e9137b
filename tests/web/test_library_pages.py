"""The pages of the library: found by filters, read, proposed, refined, checked, deleted; and by whom."""

import re
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from memory_hub.access.actor import acting_as, as_system
from memory_hub.audit.models import AuditEntry
from memory_hub.library.drafts import NewLesson
from memory_hub.library.models import Lesson, Revision, Solution
from memory_hub.library.services.lessons import lesson_record
from memory_hub.library.services.revisions import revision_refine
from memory_hub.web.rendering import highlight as highlight_module
from tests.cast import Cast
from tests.services.library_support import CHECK, CODE, again, approve, exists, propose, start_run, verified
from tests.web.page_support import LEDGER, browser, text_of

FORM = {
    "title": "Add up",
    "problem": "Add up the amounts.",
    "kind": "algorithm",
    "code": CODE.replace("\n", "\r\n"),
    "check_args": '[[{"amount": 2}]]',
    "check_result": "2",
}


@pytest.fixture
def bob(cast: Cast) -> Client:
    return browser(cast.bob)


def record(cast: Cast, **changes: Any) -> Lesson:
    """Record a lesson as bob."""
    values = {
        "exception_type": "ValueError",
        "message": "could not convert string to float: '1,5'",
        "failing_code": "float('1,5')",
        "fixing_code": "float('1,5'.replace(',', '.'))",
        "diff": "-float('1,5')",
        **changes,
    }
    actor = cast.actor(cast.bob)
    with acting_as(actor):
        return lesson_record(actor=actor, project=cast.project, draft=NewLesson(**values)).lesson


# --- the list


def test_an_empty_library_says_what_to_do_next(bob: Client) -> None:
    page = text_of(bob.get(f"{LEDGER}/library/"))
    assert "No solutions yet" in page
    assert "attach(agent, HttpHub(" in re.sub(r"<[^>]+>", "", page).replace("&quot;", '"')


def test_the_list_shows_both_signals_and_is_filtered_by_its_address(cast: Cast, bob: Client) -> None:
    one = propose(cast.actor(cast.bob), cast.project)
    propose(cast.actor(cast.bob), cast.project, title="Count them", problem="Second", tags=["sql"])
    verified(one.revision)
    approve(cast.rita, one.revision)
    page = text_of(bob.get(f"{LEDGER}/library/"))
    assert "Add up the amounts" in page
    assert "Count them" in page
    filtered = text_of(bob.get(f"{LEDGER}/library/?status=approved"))
    assert "Add up the amounts" in filtered
    assert "Approved" in filtered
    assert "Check passed" in filtered
    assert "Count them" not in filtered
    assert 'href="?"' in filtered  # the chip that takes the filter away
    assert "Count them" in text_of(bob.get(f"{LEDGER}/library/?tag=sql"))
    nothing = text_of(bob.get(f"{LEDGER}/library/?kind=report"))
    assert "Nothing matches these filters" in nothing


def test_a_filter_that_does_not_exist_is_said(cast: Cast, bob: Client) -> None:
    propose(cast.actor(cast.bob), cast.project)
    answer = bob.get(f"{LEDGER}/library/?status=great")
    assert answer.status_code == 422
    assert "This filter is not known" in text_of(answer)


def test_the_list_has_pages(cast: Cast, bob: Client) -> None:
    with as_system():
        for number in range(27):
            solution = Solution.objects.create(
                team_id=cast.team.id, project=cast.project, title=f"Number {number}", problem="x"
            )
            solution.latest_revision = Revision.objects.create(
                team_id=cast.team.id,
                project=cast.project,
                solution=solution,
                number=1,
                code="x",
                content_hash="x",
            )
            solution.save()
    assert "1–25 of 27 solutions" in text_of(bob.get(f"{LEDGER}/library/"))
    second = text_of(bob.get(f"{LEDGER}/library/?page=2"))
    assert "Number 1<" in second
    assert "Number 26<" not in second


def test_a_list_costs_the_same_number_of_queries_however_long(
    cast: Cast, bob: Client, django_assert_max_num_queries: Any
) -> None:
    for number in range(8):
        propose(cast.actor(cast.bob), cast.project, problem=f"Problem {number}")
    with django_assert_max_num_queries(30):
        bob.get(f"{LEDGER}/library/")


# --- a solution


def test_a_solution_shows_everything_that_is_known_of_it(cast: Cast, bob: Client) -> None:
    proposed = propose(
        cast.actor(cast.bob),
        cast.project,
        applies_when="Amounts are whole numbers.",
        edge_cases=["No rows at all"],
        usage_example="total([])",
        explanation="Plain addition.",
        environment={"python": "3.11", "sandbox": "landlock", "packages": {"pandas": "3.0"}},
        input_profile={
            "sales.csv": {"kind": "csv", "rows": 12, "columns": [{"name": "amount", "type": "integer"}]}
        },
        failed_alternatives=[
            {
                "code": "sum(rows)",
                "exception_type": "TypeError",
                "message": "unsupported operand",
                "diff": "-sum(rows)",
            }
        ],
    )
    verified(proposed.revision)
    page = text_of(bob.get(f"{LEDGER}/library/{proposed.solution.id}/"))
    for text in (
        "Add up the amount of every row.", "Amounts are whole numbers.", "No rows at all", "Plain addition.",
        "total(rows: list[dict]) -&gt; int", "Candidate", "Check passed", "TypeError", "unsupported operand",
        "landlock", "pandas 3.0", "sales.csv", "12 rows", "Revision 1", "Nobody has reviewed this yet", "Verified",
    ):  # fmt: skip
        assert text in page, text


def test_hostile_text_is_shown_as_text(cast: Cast, bob: Client) -> None:
    nasty = "<script>alert(1)</script>{{ 7|add:7 }}"
    proposed = propose(
        cast.actor(cast.bob), cast.project, title=nasty, problem=nasty, tags=[nasty[:20]], code=f"# {nasty}\n",
        entry_point="", check_spec=None, environment={"<b>": nasty}, failed_alternatives=[{"message": nasty}],
    )  # fmt: skip
    page = text_of(bob.get(f"{LEDGER}/library/{proposed.solution.id}/"))
    assert "<script>alert" not in page
    assert "{{ 7|add:7 }}" in re.sub(r"<[^>]+>", "", page)
    assert "<b>" not in page


def test_hidden_characters_in_code_are_pointed_out(cast: Cast, bob: Client) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project, code=CODE + "# \u202e reversed\n")
    assert "Invisible characters" in text_of(bob.get(f"{LEDGER}/library/{proposed.solution.id}/"))


def test_the_served_revision_is_shown_and_a_newer_candidate_announced(cast: Cast, bob: Client) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    approve(cast.rita, proposed.revision)
    actor = cast.actor(cast.bob)
    with acting_as(actor):
        revision_refine(
            actor=actor, solution=proposed.solution, based_on=proposed.revision.id, code=CODE + "# new\n",
            entry_point="total",
        )  # fmt: skip
    page = text_of(bob.get(f"{LEDGER}/library/{proposed.solution.id}/"))
    assert "A newer revision waits for review" in page
    assert f"{LEDGER}/library/{proposed.solution.id}/revisions/2/" in page


def test_reading_is_audited(cast: Cast, bob: Client) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    bob.get(f"{LEDGER}/library/{proposed.solution.id}/")
    with as_system():
        assert AuditEntry.objects.get(event="solution:read").actor_id == cast.bob.id


def test_the_raw_code_is_the_stored_bytes(cast: Cast, bob: Client) -> None:
    code = CODE.replace("\n", "\r\n") + "# é\t\n"
    proposed = propose(cast.actor(cast.bob), cast.project, code=code)
    answer = bob.get(f"{LEDGER}/library/{proposed.solution.id}/revisions/1/raw/")
    assert answer.content == code.encode()
    assert answer.headers["Content-Disposition"] == 'attachment; filename="total-r1.py"'
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    "path",
    [
        "library/{s}/", "library/{s}/edit/", "library/{s}/delete/", "library/{s}/refine/", "library/{s}/revisions/1/",
        "library/{s}/revisions/1/raw/", "library/{s}/revisions/1/check/", "library/{s}/diff/1/1/",
        "library/{s}/revisions/1/check/set/", "library/", "lessons/", "review/", "lessons/{l}/",
    ],
)  # fmt: skip
def test_other_teams_find_nothing(cast: Cast, path: str) -> None:
    proposed, lesson = propose(cast.actor(cast.bob), cast.project), record(cast)
    mallory = browser(cast.mallory)
    path = path.format(s=proposed.solution.id, l=lesson.id)
    assert mallory.get(f"{LEDGER}/{path}").status_code == 404
    if "{" not in path and path.count("/") > 1:  # nor under the address of a project of their own
        assert mallory.get(f"/p/rival/den/{path}").status_code == 404


def test_a_solution_is_not_shown_under_another_project(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    alice = browser(cast.alice)  # sees both projects
    assert alice.get(f"{LEDGER}/library/{proposed.solution.id}/").status_code == 200
    assert alice.get(f"/p/acme/atlas/library/{proposed.solution.id}/").status_code == 404


def test_who_is_not_signed_in_is_sent_to_sign_in(cast: Cast) -> None:
    answer = Client().get(f"{LEDGER}/library/")
    assert answer.status_code == 302
    assert "next=" in answer.headers["Location"]


# --- proposed by hand


def test_a_solution_written_by_hand_gets_line_feeds_and_waits_for_review(cast: Cast, bob: Client) -> None:
    answer = bob.post(f"{LEDGER}/library/new/", FORM)
    assert answer.status_code == 302
    with as_system():
        revision = Revision.objects.get()
    assert revision.code == CODE
    assert (revision.entry_point, revision.needs_verification) == ("total", True)
    assert "waits for review" in text_of(bob.get(answer.headers["Location"]))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"code": "def total(:\r\n"}, "cannot read this code in line 1"),
        ({"entry_point": "sum_up"}, "no top-level function"),
        ({"check_args": "[1,"}, "This is not JSON"),
        ({"check_args": "7"}, "list of the positional arguments"),
        ({"check_result": ""}, "names the result"),
        ({"title": ""}, "This field is required"),
        ({"code": "def total():\r\n    return 'AKIAIOSFODNN7EXAMPLX'"}, "Line 2 seems to hold a secret"),
    ],
)
def test_a_refused_proposal_comes_back_with_what_was_written(
    bob: Client, changes: dict[str, str], said: str
) -> None:
    body = {**FORM, "entry_point": "total", **changes}
    answer = bob.post(f"{LEDGER}/library/new/", body)
    page = text_of(answer)
    assert answer.status_code == 422
    assert said in page
    assert "Add up the amounts." in page
    with as_system():
        assert not Solution.objects.exists()


def test_the_same_again_leads_to_what_is_there(cast: Cast, bob: Client) -> None:
    first = bob.post(f"{LEDGER}/library/new/", FORM).headers["Location"]
    assert bob.post(f"{LEDGER}/library/new/", FORM).headers["Location"] == first


def test_a_viewer_is_not_offered_to_propose_and_may_not(cast: Cast) -> None:
    vera = browser(cast.vera)
    assert "Propose a solution" not in text_of(vera.get(f"{LEDGER}/library/"))
    assert vera.post(f"{LEDGER}/library/new/", FORM).status_code == 403


# --- changed


def test_the_description_is_edited(cast: Cast, bob: Client) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    url = f"{LEDGER}/library/{proposed.solution.id}/edit/"
    page = text_of(bob.get(url))
    seen_at = re.search(r'name="seen_at" value="([^"]+)"', page)
    assert seen_at
    body = {
        "title": "Sum", "problem": "New words", "kind": "report", "tags": "a, b", "edge_cases": "one\r\ntwo",
        "seen_at": seen_at[1],
    }  # fmt: skip
    assert bob.post(url, body).status_code == 302
    solution = again(proposed.solution)
    assert (solution.title, solution.tags, solution.edge_cases) == ("Sum", ["a", "b"], ["one", "two"])
    stale = bob.post(url, {**body, "title": "Again"})
    assert stale.status_code == 409
    assert "Somebody changed this solution" in text_of(stale)


def test_archiving_and_bringing_back(cast: Cast, bob: Client) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    url = f"{LEDGER}/library/{proposed.solution.id}/archive/"
    bob.post(url)
    assert again(proposed.solution).archived_at
    assert "Archived" in text_of(bob.get(f"{LEDGER}/library/{proposed.solution.id}/"))
    bob.post(url, {"undo": "1"})
    assert again(proposed.solution).archived_at is None


def test_deleting_asks_first_and_says_what_goes(cast: Cast, bob: Client) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    lesson = record(cast)
    with as_system():
        Lesson.objects.update(solution=proposed.solution)
    url = f"{LEDGER}/library/{proposed.solution.id}/delete/"
    assert bob.get(url).status_code == bob.post(url).status_code == 403
    alice = browser(cast.alice)
    assert "1 lesson learnt on the way" in text_of(alice.get(url))
    assert exists(proposed.solution)
    assert alice.post(url, {"with_lessons": "on"}).headers["Location"] == f"{LEDGER}/library/"
    assert not exists(proposed.solution)
    assert not exists(lesson)


def test_deleted_code_stays_in_no_cache(cast: Cast, django_capture_on_commit_callbacks: Any) -> None:
    code = CODE + "# a line that nothing else has\n"
    proposed = propose(cast.actor(cast.bob), cast.project, code=code)
    alice = browser(cast.alice)
    alice.get(f"{LEDGER}/library/{proposed.solution.id}/")
    key = highlight_module._key(code, "python")
    assert cache.get(key)
    with django_capture_on_commit_callbacks(execute=True):
        alice.post(f"{LEDGER}/library/{proposed.solution.id}/delete/")
    assert cache.get(key) is None


# --- refined


def refine_form(page: str) -> dict[str, str]:
    """Return what a browser would send back unchanged: textareas with CRLF."""
    from html import unescape

    fields = dict(re.findall(r'<input type="(?:hidden|text)" name="(\w+)" value="([^"]*)"', page))
    for name, value in re.findall(r'<textarea name="(\w+)"[^>]*>\n?(.*?)</textarea>', page, re.DOTALL):
        fields[name] = re.sub(r"\r\n|\r|\n", "\r\n", unescape(value))
    return {name: unescape(value) for name, value in fields.items()}


def test_refining_keeps_the_bytes_of_what_was_not_touched(cast: Cast, bob: Client) -> None:
    code = "def total(rows):\r\n\tx = '\u2028'\n\treturn 0\r\n"
    proposed = propose(cast.actor(cast.bob), cast.project, code=code)
    url = f"{LEDGER}/library/{proposed.solution.id}/refine/"
    form = refine_form(text_of(bob.get(url)))
    assert form["based_on"] == str(proposed.revision.id)
    unchanged = bob.post(url, form)
    assert unchanged.status_code == 422
    assert "Nothing was changed" in text_of(unchanged)
    form["code"] = form["code"].replace("return 0", "return 1")
    answer = bob.post(url, {**form, "change_note": "One is right"})
    assert answer.headers["Location"] == f"{LEDGER}/library/{proposed.solution.id}/revisions/2/"
    with as_system():
        new = Revision.objects.get(number=2)
    assert new.code == code.replace("return 0", "return 1")
    assert new.check_spec == again(proposed.revision).check_spec
    page = text_of(bob.get(answer.headers["Location"]))
    assert "Check is running" in page
    assert "One is right" in page
    assert 'hx-trigger="every 2s"' in page
    assert "Reload this page to see the result." in page


def test_somebody_elses_revision_meanwhile_is_shown_beside_ones_own(cast: Cast, bob: Client) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    url = f"{LEDGER}/library/{proposed.solution.id}/refine/"
    form = refine_form(text_of(bob.get(url)))
    actor = cast.actor(cast.rita)
    with acting_as(actor):
        theirs = revision_refine(
            actor=actor, solution=proposed.solution, based_on=proposed.revision.id, code=CODE + "# hers\n",
            entry_point="total",
        )  # fmt: skip
    form["code"] += "# his\r\n"
    answer = bob.post(url, form)
    page = text_of(answer)
    assert answer.status_code == 409
    assert "Revision 2 was added since you began" in page
    words = re.sub(r"<[^>]+>", "", page)
    assert "# his" in words
    assert "# hers" in words
    again_form = refine_form(page)
    assert again_form["based_on"] == str(theirs.id)
    assert bob.post(url, again_form).status_code == 302
    with as_system():
        assert Revision.objects.get(number=3).code == CODE + "# his\n"


def test_the_check_is_replaced_or_taken_away_with_a_refinement(cast: Cast, bob: Client) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    url = f"{LEDGER}/library/{proposed.solution.id}/refine/"
    form = refine_form(text_of(bob.get(url)))
    bob.post(url, {**form, "check_result": "6"})
    with as_system():
        second = Revision.objects.get(number=2)
    assert second.check_spec == {**CHECK, "result": 6, "inputs": {}}
    form = refine_form(text_of(bob.get(url)))
    bob.post(url, {**form, "check_args": "", "check_kwargs": "", "check_result": ""})
    with as_system():
        assert Revision.objects.get(number=3).check_spec is None


def test_a_viewer_cannot_refine(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    vera = browser(cast.vera)
    assert "Refine the code" not in text_of(vera.get(f"{LEDGER}/library/{proposed.solution.id}/"))
    assert vera.get(f"{LEDGER}/library/{proposed.solution.id}/refine/").status_code == 403


# --- the check


def test_the_result_of_a_check_arrives_by_asking_again(cast: Cast, bob: Client) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    url = f"{LEDGER}/library/{proposed.solution.id}/revisions/1/check/"
    waiting = text_of(bob.get(url))
    assert 'hx-trigger="every 2s"' in waiting
    verified(proposed.revision, passed=False)
    done = text_of(bob.get(url))
    assert "hx-trigger" not in done
    assert "Check failed" in done
    assert 'id="verification-pill" hx-swap-oob="true"' in done
    assert "<html" not in done


def test_a_check_is_run_again_with_and_without_javascript(cast: Cast, bob: Client) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    url = f"{LEDGER}/library/{proposed.solution.id}/revisions/1/verify/"
    verified(proposed.revision)
    answer = bob.post(url)
    assert answer.headers["Location"].endswith("/revisions/1/#check")
    assert again(proposed.revision).needs_verification
    verified(proposed.revision)
    part = bob.post(url, headers={"HX-Request": "true"})
    assert "Check is running" in text_of(part)


def test_a_missing_check_is_asked_for_and_given(cast: Cast, bob: Client) -> None:
    proposed = propose(
        cast.actor(cast.bob), cast.project, check_spec=None, check_missing="No call was recorded."
    )
    base = f"{LEDGER}/library/{proposed.solution.id}"
    page = text_of(bob.get(f"{base}/"))
    assert "No call was recorded." in page
    assert f"{base}/revisions/1/check/set/" in page
    bad = bob.post(f"{base}/revisions/1/check/set/", {"check_args": "[]"})
    assert bad.status_code == 422
    good = bob.post(f"{base}/revisions/1/check/set/", {"check_args": "[[]]", "check_result": "0"})
    assert good.status_code == 302
    assert again(proposed.revision).check_spec == {"args": [[]], "kwargs": {}, "result": 0, "inputs": {}}


# --- the difference


def test_the_difference_shows_code_and_everything_else(cast: Cast, bob: Client) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    actor = cast.actor(cast.bob)
    with acting_as(actor):
        revision_refine(
            actor=actor, solution=proposed.solution, based_on=proposed.revision.id, code=CODE + "# new\n",
            entry_point="total", usage_example="total([])", check_spec={"args": [[]], "result": 0},
        )  # fmt: skip
    for view in ("unified", "split"):
        page = text_of(bob.get(f"{LEDGER}/library/{proposed.solution.id}/diff/1/2/?view={view}"))
        assert "# new" in page
        assert "Usage example" in page
        assert "<h2>Check</h2>" in page
        assert ("diff-split" in page) == (view == "split")
    assert bob.get(f"{LEDGER}/library/{proposed.solution.id}/diff/1/9/").status_code == 404


# --- lessons


def test_lessons_are_listed_filtered_and_shown(cast: Cast, bob: Client) -> None:
    assert "No lessons yet" in text_of(bob.get(f"{LEDGER}/lessons/"))
    lesson = record(cast)
    record(cast, exception_type="KeyError", message="'amount'", fixing_code="", diff="", is_open=True)
    page = text_of(bob.get(f"{LEDGER}/lessons/"))
    assert "ValueError" in page
    assert "No fix yet" in page
    assert "could not convert" in page
    assert "could not convert" not in text_of(bob.get(f"{LEDGER}/lessons/?state=open"))
    shown = text_of(bob.get(f"{LEDGER}/lessons/{lesson.id}/"))
    assert "could not convert string to float" in shown
    assert "What was changed" in shown


def test_only_a_maintainer_deletes_a_lesson(cast: Cast, bob: Client) -> None:
    lesson = record(cast)
    assert "Delete this lesson" not in text_of(bob.get(f"{LEDGER}/lessons/{lesson.id}/"))
    assert bob.post(f"{LEDGER}/lessons/{lesson.id}/delete/").status_code == 403
    assert browser(cast.alice).post(f"{LEDGER}/lessons/{lesson.id}/delete/").status_code == 302
    assert not exists(lesson)


def test_a_solution_shows_the_run_it_came_from(cast: Cast, bob: Client) -> None:
    run = start_run(cast.project, cast.bob)
    proposed = propose(cast.actor(cast.bob), cast.project)
    with as_system():
        Solution.objects.update(run=run)
    page = text_of(bob.get(f"{LEDGER}/library/{proposed.solution.id}/"))
    assert "the run that found it" in page or "captured from a run" in page

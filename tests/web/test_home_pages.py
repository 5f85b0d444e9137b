"""The first page and a project's overview: what waits, and where each number leads."""

import re

import pytest

from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.models import ProjectMembership
from memory_hub.access.services.projects import project_change
from memory_hub.recall.query_words import parse
from memory_hub.recall.services import gap_record
from memory_hub.runs.models import Connection, Run
from memory_hub.runs.services import connection_create, run_start
from tests.cast import Cast
from tests.services.library_support import approve, propose
from tests.web.page_support import LEDGER, browser, text_of

TILE = re.compile(
    r'<a class="tile" href="([^"]+)">\s*<span class="tile-label">([^<]+)</span>\s*<span class="tile-value">(\d+)'
)


@pytest.fixture
def run(cast: Cast) -> Run:
    alice, bob = cast.actor(cast.alice), cast.actor(cast.bob)
    with acting_as(alice):
        connection = connection_create(
            actor=alice, project=cast.project, name="R", kind=Connection.Kind.REHEARSAL
        )
    with acting_as(bob):
        return run_start(
            actor=bob, project=cast.project, task="Add up the totals. Then stop.", connection=connection,
            origin=Run.Origin.DASHBOARD,
        )  # fmt: skip


def test_home_lists_my_projects_and_no_others(cast: Cast) -> None:
    page = text_of(browser(cast.bob).get("/"))
    assert "Ledger" in page
    assert "Atlas" not in page
    assert "Den" not in page
    assert "New project" not in page


def test_home_says_what_waits_and_links_to_it(cast: Cast, run: Run) -> None:
    assert "Nothing waits" in text_of(browser(cast.carol).get("/"))
    propose(cast.actor(cast.bob), cast.project)
    page = text_of(browser(cast.bob).get("/"))
    assert f'<a href="{LEDGER}/review/">1 waiting for review</a>' in page
    assert f'<a href="{LEDGER}/runs/?state=under_way">1 run under way</a>' in page


def test_home_takes_the_same_number_of_queries_for_many_projects(
    cast: Cast, django_assert_max_num_queries: object
) -> None:
    with django_assert_max_num_queries(40) as few:  # type: ignore[operator]
        browser(cast.bob).get("/")
    with django_assert_max_num_queries(40) as more:  # type: ignore[operator]
        browser(cast.alice).get("/")  # two projects, and the teams she administers
    assert len(more) <= len(few) + 2


def test_somebody_in_no_project_is_told_how_to_get_into_one(cast: Cast) -> None:
    with as_system():
        ProjectMembership.objects.filter(user=cast.bob).delete()
    assert "invites you with a link" in text_of(browser(cast.bob).get("/"))


def test_a_team_admin_may_make_a_project(cast: Cast) -> None:
    assert '<a class="button" href="/teams/acme/projects/new/"' in text_of(browser(cast.alice).get("/"))


def test_each_number_leads_to_exactly_what_it_counts(cast: Cast, run: Run) -> None:
    bob = browser(cast.bob)
    approve(cast.rita, propose(cast.actor(cast.bob), cast.project).revision)
    propose(cast.actor(cast.bob), cast.project, problem="Another problem", title="Waiting one")
    with acting_as(vera := cast.actor(cast.vera)):
        gap_record(actor=vera, project=cast.project, asked=parse("Fold a fitted sheet"))
    tiles = {label: (url, int(value)) for url, label, value in TILE.findall(text_of(bob.get(f"{LEDGER}/")))}
    assert {label: value for label, (_, value) in tiles.items()} == {
        "Solutions": 2, "Approved": 1, "Waiting for review": 1, "Runs under way": 1, "Open gaps": 1,
    }  # fmt: skip
    for url, value in tiles.values():
        assert text_of(bob.get(url)).count('class="row-title"') == value, url


def test_the_overview_shows_what_waits_and_what_ran_last(cast: Cast, run: Run) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project, title="Sum the totals")
    page = text_of(browser(cast.rita).get(f"{LEDGER}/"))
    assert f'href="{LEDGER}/library/{proposed.solution.id}/revisions/1/">Sum the totals' in page
    assert f'href="{LEDGER}/runs/{run.id}/">Add up the totals' in page


def test_the_overview_tells_how_to_attach_an_agent(cast: Cast) -> None:
    page = text_of(browser(cast.vera).get(f"{LEDGER}/"))
    assert "attach" in page
    assert "acme/ledger" in page
    assert f'href="{LEDGER}/keys/"' in page


def test_who_may_start_no_run_is_not_offered_one(cast: Cast) -> None:
    assert f"{LEDGER}/runs/new/" in text_of(browser(cast.bob).get(f"{LEDGER}/"))
    assert f"{LEDGER}/runs/new/" not in text_of(browser(cast.vera).get(f"{LEDGER}/"))


def test_a_description_is_text_and_never_markup(cast: Cast) -> None:
    alice = cast.actor(cast.alice)
    with acting_as(alice):
        project_change(actor=alice, project=cast.project, description="<script>alert(1)</script>")
    for url in ("/", f"{LEDGER}/"):
        page = text_of(browser(cast.alice).get(url))
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert" in page


def test_a_project_of_others_is_not_there(cast: Cast) -> None:
    for person in (cast.carol, cast.mallory):
        answer = browser(person).get(f"{LEDGER}/")
        assert answer.status_code == 404
        assert "Ledger" not in text_of(answer)

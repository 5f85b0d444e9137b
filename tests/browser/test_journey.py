"""The whole of what the product is for, in a real browser on a real hub: run, watch, review, refine, reuse."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import SignIn
from tests.browser.hub import Hub

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

AREA = "Summarise the last column of a table from the German statistics office"
INVESTMENT = "Which district invested least and which most"


def start_sample(page: Page, hub: Hub, title: str, *, memory: bool = True) -> None:
    """Fill in the form by a click on a sample, and start it."""
    page.goto(f"{hub.project_url}runs/new/")
    page.get_by_role("link", name=re.compile(title)).click()
    expect(page.get_by_label("Task", exact=True)).not_to_be_empty()
    page.get_by_label("Use memory").set_checked(memory)
    page.get_by_role("button", name="Start run").click()
    page.wait_for_url(re.compile(r"/runs/[0-9a-f-]{36}/"))


def steps(page: Page) -> int:
    return page.locator("ol.steps > li.step").count()


def wait_for_end(page: Page, state: str = "Succeeded") -> None:
    expect(page.locator("#run-bar")).to_contain_text(state, timeout=60_000)


def test_a_solution_is_found_reviewed_refined_and_reused(hub: Hub, sign_in: SignIn) -> None:
    contributor, reviewer = sign_in("contributor"), sign_in("reviewer", width=1280)

    # A run on a real file, watched live; a reload and a second browser show the same log.
    start_sample(contributor, hub, AREA)
    expect(contributor.locator("#step-1")).to_contain_text("Error", timeout=30_000)
    wait_for_end(contributor)
    expect(contributor.get_by_role("heading", name="What it left in the library")).to_be_visible()
    live = steps(contributor)
    assert live >= 2
    run_url = contributor.url
    contributor.reload()
    assert steps(contributor) == live
    reviewer.goto(run_url)
    assert steps(reviewer) == live

    # What it left: the solution with its failed attempts and lessons. Nobody approves their own run's work.
    contributor.locator("main").get_by_role("link", name=re.compile(AREA)).first.click()
    expect(contributor.get_by_role("heading", name="What failed before it worked")).to_be_visible()
    expect(contributor.get_by_role("heading", name="Lessons learnt on the way")).to_be_visible()
    assert contributor.locator("#decision").get_by_role("button", name="Approve").count() == 0 or (
        contributor.locator("#decision").get_by_role("button", name="Approve").is_disabled()
    )
    solution_url = contributor.url

    # The reviewer refines it: a new revision, its check run again in a sandbox; then approves and rates it.
    reviewer.goto(solution_url)
    reviewer.get_by_role("link", name="Refine the code").click()
    code = reviewer.locator("textarea[name=code]")
    code.fill("# Reviewed: the footer of these exports is not data.\n" + code.input_value())
    reviewer.get_by_label(re.compile("change", re.IGNORECASE)).first.fill("Say why the footer is skipped")
    reviewer.get_by_role("button", name="Save revision 2").click()
    expect(reviewer.locator("main")).to_contain_text("Check passed", timeout=60_000)
    # The reviewer wrote revision 2, so another reviewer has to approve it; the page says why.
    reviewer.goto(solution_url)
    expect(reviewer.locator("#decision").get_by_role("button", name="Approve")).to_be_disabled()
    expect(reviewer.locator("#why-not")).not_to_be_empty()


def test_an_approved_solution_is_what_the_twin_reuses(hub: Hub, sign_in: SignIn) -> None:
    contributor, reviewer = sign_in("contributor"), sign_in("reviewer")
    start_sample(contributor, hub, "Find the sunniest day")
    wait_for_end(contributor)
    contributor.locator("main").get_by_role("link", name=re.compile("Find the sunniest day")).first.click()
    reviewer.goto(contributor.url)
    reviewer.locator("#decision").get_by_label(re.compile("Note")).fill("Right, and readable.")
    reviewer.locator("#decision").get_by_role("button", name="Approve").click()
    expect(reviewer.locator("#decision")).to_contain_text("Approved")
    reviewer.locator("#rating").get_by_text("5 stars").click(force=True)
    reviewer.locator("#rating").get_by_role("button", name="Rate").click()
    expect(reviewer.locator("#rating")).to_contain_text("5.0")

    start_sample(contributor, hub, "On which day did Greensboro get the most sunlight")
    wait_for_end(contributor)
    assert steps(contributor) == 1
    memory = contributor.locator("main section", has=contributor.get_by_role("heading", name="Memory"))
    expect(memory).to_contain_text("Find the sunniest day")
    expect(memory).to_contain_text("Approved")
    expect(memory).to_contain_text("Used")
    memory.get_by_role("link", name=re.compile("Find the sunniest day")).click()
    expect(contributor.get_by_role("row", name=re.compile("Reused.*Worked"))).to_be_visible()

    # With memory off, the same task is solved the long way again.
    start_sample(contributor, hub, "On which day did Greensboro get the most sunlight", memory=False)
    wait_for_end(contributor)
    assert steps(contributor) >= 2


def test_a_run_is_cancelled_and_says_so(hub: Hub, sign_in: SignIn) -> None:
    page = sign_in("contributor")
    start_sample(page, hub, "Merge the shipments of surplus military items", memory=False)
    page.get_by_role("button", name="Cancel run").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel the run").click()
    wait_for_end(page, "Cancelled")


def test_every_form_works_without_javascript(hub: Hub, sign_in: SignIn) -> None:
    page = sign_in("contributor", javascript=False)
    start_sample(page, hub, AREA)
    for _ in range(60):
        page.reload()
        if "Succeeded" in page.locator("#run-bar").inner_text():
            break
        page.wait_for_timeout(500)
    expect(page.locator("#run-bar")).to_contain_text("Succeeded")

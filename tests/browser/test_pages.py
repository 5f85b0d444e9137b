"""Every page, light and dark, on a desk and on a phone: no console error, no sideways scrolling, nothing for axe."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import SignIn
from tests.browser.hub import Hub
from tests.browser.pages import visits

pytestmark = [pytest.mark.browser, pytest.mark.timeout(280)]
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def violations(page: Page) -> list[str]:
    found = Axe().run(page, options={"runOnly": RULES}).response["violations"]
    return [f"{item['id']}: {node['html'][:160]}" for item in found for node in item["nodes"]]


@pytest.mark.parametrize("width", [1440, 375])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_sound(hub: Hub, sign_in: SignIn, width: int, scheme: str) -> None:
    page = sign_in("reviewer", width=width, scheme=scheme)
    faults: dict[str, object] = {}
    for visit in visits(hub, page):
        answer = page.goto(visit.url)
        assert answer is not None
        wide = page.evaluate("document.documentElement.scrollWidth > innerWidth + 1")
        found = {
            "status": answer.status if answer.status != 200 else None,
            "heading": None
            if visit.heading in page.locator("h1").inner_text()
            else page.locator("h1").inner_text(),
            "scrolls sideways": wide or None,
            "axe": violations(page) or None,
        }
        found = {name: value for name, value in found.items() if value is not None}
        if found:
            faults[visit.name] = found
    assert faults == {}


def test_a_page_that_is_not_there_says_so(hub: Hub, sign_in: SignIn) -> None:
    page = sign_in("contributor")
    page.context.set_extra_http_headers({})
    answer = page.request.get(f"{hub.project_url}library/00000000-0000-7000-8000-000000000000/")
    assert answer.status == 404
    assert "may not see it" in answer.text()


def test_the_signed_out_pages_are_sound(hub: Hub, chromium: object, sign_in: SignIn) -> None:
    maintainer = sign_in("reviewer")
    maintainer.goto(f"{hub.project_url}members/")
    maintainer.get_by_role("button", name="Make a link").click()
    link = maintainer.locator("#link-once").inner_text()
    context = maintainer.context.browser.new_context()  # type: ignore[union-attr]
    page = context.new_page()
    for url, heading in ((hub.url, "Sign in"), (link, "Join First light")):
        page.goto(url)
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        assert violations(page) == []
    page.get_by_label("Name").fill("Nina New")
    page.get_by_label("Email").fill("nina@demo.example")
    page.get_by_label("Password").fill("short")
    page.get_by_role("button", name="Make my account and join").click()
    expect(page.locator("main")).to_contain_text("too short")
    page.get_by_label("Password").fill("a long passphrase")
    page.get_by_role("button", name="Make my account and join").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("First light")
    context.close()


def test_the_page_of_the_api_works_under_the_strict_policy(hub: Hub, sign_in: SignIn) -> None:
    page = sign_in("contributor")  # fails on any console error, such as a blocked style
    page.goto(f"{hub.url}/api/docs/")
    expect(page.locator("#swagger-ui")).to_contain_text("/api/v1/me/")

"""One hub and one chromium for all journeys; each test gets fresh sessions.

Both end with this package's tests: Playwright's event loop in the main thread would fail every later test that
crosses from synchronous code into asynchronous.
"""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.browser.hub import CHROMIUM_FLAGS, Hub, running_hub

SignIn = Callable[..., Page]


@pytest.fixture(scope="package")
def hub() -> Iterator[Hub]:
    with running_hub() as running:
        yield running


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def sign_in(hub: Hub, chromium: Browser) -> Iterator[SignIn]:
    """Return a page signed in as the demo's contributor or reviewer. A console error anywhere fails the test."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def sign_in_as(role: str, *, width: int = 1440, scheme: str = "light", javascript: bool = True) -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=javascript
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(hub.url)
        page.get_by_label("Email").fill(f"{role}@demo.example")
        page.get_by_label("Password").fill(hub.passwords[role])
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("heading", name="Your projects").wait_for()
        return page

    yield sign_in_as
    for context in contexts:
        context.close()
    assert errors == []

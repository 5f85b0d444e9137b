"""The pictures of README and docs, made from the product itself: python -m tests.browser.screenshots [FOLDER]

With a folder, every page in both themes and both widths goes there, to be looked at.
"""

import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.hub import CHROMIUM_FLAGS, ROOT, Hub, running_hub
from tests.browser.pages import visits

IMAGES = ROOT / "docs" / "images"
IN_DOCS = {"run-twin": "run.png", "solution": "solution.png", "review": "review.png"}


def main(arguments: list[str]) -> None:
    """Make the pictures; the hub that is shown is started and stopped here."""
    with running_hub() as hub, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM_FLAGS)
        page = signed_in(hub, browser, width=1280, scheme="light")
        for visit in visits(hub, page):
            if visit.name in IN_DOCS:
                page.goto(visit.url)
                page.screenshot(path=IMAGES / IN_DOCS[visit.name])
        if arguments:
            take_all(hub, browser, Path(arguments[0]))
        browser.close()


def take_all(hub: Hub, browser: Browser, folder: Path) -> None:
    """Put every page into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for scheme in ("light", "dark"):
        for width in (1440, 375):
            page = signed_in(hub, browser, width=width, scheme=scheme)
            for visit in visits(hub, page):
                page.goto(visit.url)
                page.screenshot(path=folder / f"{visit.name}-{width}-{scheme}.png", full_page=True)
            page.context.close()


def signed_in(hub: Hub, browser: Browser, *, width: int, scheme: str) -> Page:
    """Return a page of the demo's reviewer."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(hub.url)
    page.get_by_label("Email").fill("reviewer@demo.example")
    page.get_by_label("Password").fill(hub.passwords["reviewer"])
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Your projects").wait_for()
    return page


if __name__ == "__main__":
    main(sys.argv[1:])

"""The building blocks in a real browser: readable, operable by keyboard, silent under the strict policy, in both themes."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.browser import styleguide

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'"
)
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
EVENTS = "".join(
    f'id: {number}\ndata: <li class="step" id="step-{number}"><p>Step {number}</p></li>\n\n'
    for number in range(4, 24)
)

pytestmark = pytest.mark.browser


class _Handler(SimpleHTTPRequestHandler):
    """Serves the folder under the product's policy, and a stream of steps that ends."""

    def do_GET(self) -> None:
        if self.path.startswith("/stream"):
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            # A second connection resumes where the first ended, so it has nothing more to say.
            if not self.headers.get("Last-Event-ID"):
                self.wfile.write(EVENTS.encode())
            return
        super().do_GET()

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, *_: Any) -> None:
        """Keep the test's output quiet."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("styleguide")
    # In a process of its own: the guide has settings of its own, and Django takes only one set.
    subprocess.run(
        [sys.executable, "-m", "tests.browser.styleguide", str(folder)], check=True, cwd=styleguide.ROOT
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/styleguide.html"
    server.shutdown()
    server.server_close()


@pytest.fixture
def open_page(chromium: Any, address: str) -> Iterator[Any]:
    """Open the page; at the end nothing may have been written to the console."""
    complaints: list[str] = []
    contexts = []

    def opened(width: int = 1440, theme: str = "light", **options: Any) -> Any:
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce", **options
        )
        contexts.append(context)
        page = context.new_page()
        page.on(
            "console",
            lambda m: (
                complaints.append(m.text)
                if m.type in ("error", "warning") and "status of 500" not in m.text
                else None
            ),
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 375])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(open_page, width, theme):
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(width, theme)
    found = Axe().run(page, options={"runOnly": RULES}).response["violations"]
    assert [
        (violation["id"], [node["html"][:120] for node in violation["nodes"]]) for violation in found
    ] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_icons_and_fonts_load_under_the_policy(open_page):
    page = open_page()
    page.evaluate("document.fonts.ready")
    assert page.evaluate(
        "document.fonts.check('14px Inter') && document.fonts.check('13px \"JetBrains Mono\"')"
    )
    drawn = page.locator(".nav-link .icon use").first.bounding_box()
    assert drawn is not None
    assert drawn["width"] > 4


def test_a_chosen_theme_stays_after_a_reload(open_page):
    page = open_page(theme="light")
    page.locator(".menu-end > summary").click()
    page.get_by_role("button", name="Dark", exact=True).click()
    page.reload()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(14, 16, 19)"


def test_the_first_tab_is_the_skip_link_and_it_leads_to_the_content(open_page):
    page = open_page()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_shortcuts_search_help_and_go_and_can_be_switched_off(open_page):
    page = open_page()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.type("g?")
    assert page.locator("#shortcuts-dialog[open]").count() == 0
    page.keyboard.press("Tab")
    page.keyboard.press("?")
    dialog = page.locator("#shortcuts-dialog[open]")
    dialog.wait_for()
    dialog.get_by_label("Use single-key shortcuts in this browser").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("#shortcuts-dialog[open]").count() == 0


def test_go_opens_the_entry_of_the_navigation(open_page):
    page = open_page()
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**#Runs")


def test_a_dangerous_form_asks_first_and_is_sent_only_when_confirmed(open_page):
    page = open_page()
    posts = []
    page.route(
        "**/*",
        lambda route: (
            (posts.append(1), route.abort()) if route.request.method == "POST" else route.continue_()
        ),
    )
    cancel = page.get_by_role("button", name="Cancel run")
    cancel.click()
    dialog = page.locator("#confirm-dialog")
    assert dialog.get_by_text("what it learnt so far is kept").is_visible()
    dialog.get_by_role("button", name="Cancel", exact=True).click()
    page.wait_for_timeout(100)
    assert posts == []
    cancel.click()
    with page.expect_request(lambda request: request.method == "POST"):
        dialog.get_by_role("button", name="Cancel the run").click()
    page.unroute("**/*")


def test_copying_code_gives_the_code_without_line_numbers(open_page):
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.locator("#L-block").get_by_role("button", name="Copy").click()
    page.locator("#L-block").get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == styleguide.NEW_CODE


def test_stars_are_chosen_with_the_arrow_keys(open_page):
    page = open_page()
    page.locator(".rating input[value='4']").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".rating input:checked").get_attribute("value") == "5"


def test_steps_arrive_live_once_each_and_the_log_follows_its_end(open_page):
    page = open_page()
    page.evaluate(
        """() => { const list = document.querySelector('.steps'); list.setAttribute('hx-sse:connect', '/stream');
        list.setAttribute('hx-swap', 'beforeend'); htmx.process(list); }"""
    )
    page.locator("#step-23").wait_for()
    page.wait_for_timeout(1500)  # long enough for the reconnection that must bring nothing twice
    numbers = page.locator(".steps > li").evaluate_all("items => items.map(item => item.id)")
    assert numbers == [f"step-{number}" for number in range(1, 24)]
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight - scrollY") < 80


def test_scrolling_away_stops_following_and_offers_the_way_back(open_page):
    page = open_page()
    page.mouse.move(700, 500)
    page.mouse.wheel(0, 300)
    page.locator("#run-follow[aria-pressed='false']").wait_for(state="attached")
    page.evaluate(
        "document.querySelector('.steps').insertAdjacentHTML('beforeend', '<li class=step>new</li>')"
    )
    page.get_by_role("button", name="1 new step").click()
    assert page.locator("#run-follow").get_attribute("aria-pressed") == "true"


def test_a_failed_request_is_said_and_changes_nothing(open_page):
    page = open_page()
    page.route(
        "**/broken", lambda route: route.fulfill(status=500, body="boom", headers={"X-Request-ID": "r-17"})
    )
    page.evaluate("htmx.ajax('GET', '/broken', {target: 'h1', swap: 'innerHTML'})")
    page.locator("#request-error").get_by_text("r-17").wait_for()
    assert "boom" not in page.locator("h1").inner_text()


def test_everything_is_there_without_javascript(chromium, address):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    page.locator(".switcher > summary").click()
    assert page.get_by_role("link", name="Northwind / Reporting").is_visible()
    assert page.locator(".js-only:visible").count() == 0
    assert page.locator("#step-2").get_by_text("Several formats are mixed").is_visible()
    context.close()

"""Every page of the product as the demo fills it: what the page check visits and the screenshots show."""

from dataclasses import dataclass

from playwright.sync_api import Page

from tests.browser.hub import Hub

_TWIN = "def column_total(rows, name):\n    return sum(float(row[name]) for row in rows[:-1])\n"


@dataclass(frozen=True)
class Visit:
    """A page: its name, its address, the heading it must have."""

    name: str
    url: str
    heading: str


def visits(hub: Hub, page: Page) -> list[Visit]:
    """Return all pages of a signed-in maintainer on a hub with its demo. `page` is signed in."""
    project = hub.project_url
    page.goto(f"{project}library/")
    solution = page.get_by_role("link", name="Add up the TOTAL column").first.get_attribute("href")
    gap = _recorded_gap(page, project)
    merge = _proposed_merge(project, page, f"{hub.url}{solution}")
    page.goto(f"{project}lessons/")
    lesson = page.locator("main a[href*='/lessons/0']").first.get_attribute("href")
    page.goto(f"{project}connections/")
    connection = page.locator("main a[href*='/connections/0']").first.get_attribute("href")
    solution, lesson, connection = f"{hub.url}{solution}", f"{hub.url}{lesson}", f"{hub.url}{connection}"
    return [
        Visit("home", f"{hub.url}/", "Your projects"),
        Visit("password", f"{hub.url}/accounts/password/", "Change password"),
        Visit("sign-out", f"{hub.url}/accounts/logout/", "Sign out?"),
        Visit("project-new", f"{hub.url}/teams/demo/projects/new/", "New project in Demo"),
        Visit("search", f"{hub.url}/search/?q=add+up+education+benefits", "Search"),
        Visit("search-nothing", f"{project}search/?q=zeppelin+quartet", "Search"),
        Visit("search-filters", f"{hub.url}/search/?q=lib:pandas+check:passed+colour:red", "Search"),
        Visit("search-kept-away", f"{project}search/?q=add+up+the+total+column+lib:numpy", "Search"),
        Visit("search-everywhere-nothing", f"{hub.url}/search/?q=zeppelin+quartet", "Search"),
        Visit("gaps", f"{project}gaps/", "Gaps"),
        Visit("gaps-nothing", f"{project}gaps/?state=dismissed", "Gaps"),
        Visit("gap", gap, "Gap"),
        Visit("search-error", f"{project}search/?q=KeyError:+'TOTAL'", "Search"),
        Visit("project", project, "First light"),
        Visit("library", f"{project}library/", "Library"),
        Visit("library-nothing", f"{project}library/?status=deprecated", "Library"),
        Visit("solution-new", f"{project}library/new/", "Propose a solution"),
        Visit("solution", solution, "Add up the TOTAL column"),
        Visit("solution-edit", f"{solution}edit/", ""),
        Visit("solution-delete", f"{solution}delete/", ""),
        Visit("graph", f"{solution}graph/?hops=2", "What it is linked to"),
        Visit("merge-propose", f"{solution}merge/", "Propose a merge"),
        Visit("revision", f"{solution}revisions/1/", "Revision 1"),
        Visit("refine", f"{solution}refine/", "Refine the code"),
        Visit("check", f"{solution}revisions/1/check/set/", ""),
        Visit("diff", f"{solution}diff/1/1/", ""),
        Visit("lessons", f"{project}lessons/", "Lessons"),
        Visit("lesson", lesson, "Error"),
        Visit("review", f"{project}review/", "Review"),
        Visit("merge", merge, "The same, or not?"),
        Visit("runs", f"{project}runs/", "Runs"),
        Visit("runs-nothing", f"{project}runs/?state=lost", "Runs"),
        Visit("run-new", f"{project}runs/new/", "New run"),
        Visit("run", hub.runs[0], "Add up the TOTAL column"),
        Visit("run-twin", hub.runs[1], "How many people received"),
        Visit("connections", f"{project}connections/", "Connections"),
        Visit("connection-new", f"{project}connections/new/", "Add a connection"),
        Visit("connection", connection, "Rehearsal"),
        Visit("members", f"{project}members/", "Members"),
        Visit("keys", f"{project}keys/", "Keys"),
        Visit("audit", f"{project}audit/", "Audit"),
        Visit("settings", f"{project}settings/", "Settings"),
    ]


def _proposed_merge(project: str, page: Page, solution: str) -> str:
    """Write a second solution, ask for a merge with the first, and return the pair's address; the same each time."""
    page.goto(f"{project}library/new/")
    page.get_by_label("Title").fill("Total of a column")
    page.get_by_label("Problem").fill("Add up a column of a table that has a row of totals at its end.")
    page.locator("textarea[name=code]").fill(_TWIN)
    page.get_by_role("button", name="Propose").click()
    page.get_by_role("heading", name="Total of a column").wait_for()
    page.goto(f"{solution}merge/")
    page.get_by_label("Which one is the same?").select_option(label="Total of a column")
    page.get_by_label("What makes you think so").fill("Both add up a column.")
    page.get_by_role("button", name="Propose", exact=True).click()
    page.get_by_role("heading", name="The same, or not?").wait_for()
    return page.url


def _recorded_gap(page: Page, project: str) -> str:
    """Record what a search did not find as a gap, and return its address; the same each time."""
    page.goto(f"{project}search/?q=zeppelin+quartet+lib:pandas")
    page.get_by_role("button", name="Record this gap").first.click()
    page.get_by_role("heading", name="Gap", exact=True).wait_for()
    return page.url

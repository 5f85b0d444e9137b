"""Renders every component on one page, without a database: `python -m tests.browser.styleguide FOLDER`.

A help for whoever changes the look; the product has no such route.
"""

import shutil
import sys
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import django
from django.conf import settings

ROOT = Path(__file__).resolve().parents[2]

OLD_CODE = '''import csv
from datetime import datetime


def read_orders(path: str) -> list[dict]:
    """Return the orders of an export, one dict per line."""
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["ordered"] = datetime.strptime(row["ordered"], "%Y-%m-%d")
        row["total"] = float(row["total"])
    return rows
'''
NEW_CODE = '''import csv
from datetime import datetime

FORMATS = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%y")


def parse_date(text: str) -> datetime:
    """Try each known format in turn; an unknown one is an error, never a guess."""
    for known in FORMATS:
        try:
            return datetime.strptime(text.strip(), known)
        except ValueError:
            continue
    raise ValueError(f"no known date format: {text!r}")


def read_orders(path: str) -> list[dict]:
    """Return the orders of an export, one dict per line."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["ordered"] = parse_date(row["ordered"])
        row["total"] = float(row["total"].replace(",", "."))  # decimal comma
    return rows
'''
MESSAGE = "time data '03.02.2026' does not match format '%Y-%m-%d'"


class Named(SimpleNamespace):
    """Prints as its text."""

    def __str__(self) -> str:
        return str(self.text)


def configure() -> None:
    """Set up Django with nothing but templates, unless it is set up already."""
    if not settings.configured:
        settings.configure(
            SECRET_KEY="styleguide",
            INSTALLED_APPS=["django.forms", "django.contrib.staticfiles", "django_htmx", "memory_hub.web"],
            TEMPLATES=[
                {
                    "BACKEND": "django.template.backends.django.DjangoTemplates",
                    "DIRS": [ROOT / "templates"],
                    "APP_DIRS": True,
                    "OPTIONS": {"context_processors": ["django.template.context_processors.request"]},
                }
            ],
            FORM_RENDERER="memory_hub.web.forms.HubFormRenderer",
            STATIC_URL="/static/",
            STATICFILES_DIRS=[ROOT / "static"],
            ROOT_URLCONF="tests.browser.styleguide",
            USE_TZ=True,
        )
        django.setup()


def _routes() -> list[Any]:
    from django.http import HttpResponse
    from django.urls import path

    names = {
        "search": "search/",
        "home": "",
        "account_logout": "logout/",
        "project": "p/<slug:team>/<slug:project>/",
    }
    return [path(route, lambda request, **_: HttpResponse(), name=name) for name, route in names.items()]


def context() -> dict[str, Any]:
    """Return what the page shows: invented people, real code."""
    from django import forms
    from django.core.paginator import Paginator
    from django.utils.timezone import now

    class RunForm(forms.Form):
        task = forms.CharField(
            widget=forms.Textarea,
            help_text="What the agent should do, in words. Input files are in /inputs.",
            max_length=4000,
        )
        files = forms.FileField(required=False, label="Input files", help_text="Up to 20 MB each.")
        model = forms.ChoiceField(
            choices=[("rehearsal", "Rehearsal (scripted, no model)"), ("openai", "qwen3-coder on Ollama")]
        )
        sandbox = forms.ChoiceField(
            choices=[("auto", "Automatic"), ("bubblewrap", "Bubblewrap"), ("landlock", "Landlock")],
            widget=forms.RadioSelect,
        )
        memory = forms.BooleanField(label="Recall solutions before each run", required=False, initial=True)
        max_steps = forms.IntegerField(min_value=1, max_value=50)
        scopes = forms.MultipleChoiceField(
            choices=[("read", "Read the library"), ("write", "Propose solutions")],
            widget=forms.CheckboxSelectMultiple,
            required=False,
        )

    RunForm.base_fields["sandbox"].choice_help = {  # type: ignore[attr-defined]
        "auto": "Bubblewrap where it starts, else Landlock.",
        "bubblewrap": "Namespaces: no host files, no network.",
        "landlock": "Works inside an ordinary container.",
    }
    team = SimpleNamespace(name="Northwind", slug="northwind")
    project = SimpleNamespace(name="Order imports", slug="imports", team=team)
    other = SimpleNamespace(name="Reporting", slug="reporting", team=team)
    labels = ("Overview home,Library book,Lessons lightbulb,Review check,Runs play,Connections plug,Members users,Keys key,"
              "Audit shield,Settings settings")  # fmt: skip
    nav = [
        {
            "label": label,
            "url": f"#{label}",
            "icon": name,
            "active": label == "Library",
            "count": 3 if label == "Review" else None,
        }
        for label, name in (entry.split() for entry in labels.split(","))
    ]
    step = {"seconds": 3.42, "input_tokens": 2140, "output_tokens": 312, "is_final": False}
    steps = [
        step | {
            "number": 1, "thought": "The file has a column of dates. I read it with the csv module and parse ISO dates.", "code": OLD_CODE,
            "error_type": "ValueError", "error_message": MESSAGE, "error_line_number": 10,
            "error_line": '        row["ordered"] = datetime.strptime(row["ordered"], "%Y-%m-%d")',
            "traceback": "Traceback (most recent call last):\n" + '  File "<step>", line 10, in read_orders\n' * 20,
            "hint": "A lesson matches this error (0.91): try each known format in turn, and refuse the others.",
        },
        step | {
            "number": 2, "thought": "Several formats are mixed. I try each in turn.", "code": NEW_CODE + '\nprint(read_orders("/inputs/orders.csv")[:2])',
            "observations": "[{'id': '1001', 'ordered': datetime.datetime(2026, 2, 3, 0, 0), 'total': 12.5},\n {'id': '1002'}]",
        },
        step | {
            "number": 3, "thought": "All rows parse.", "code": "final_answer(len(rows))", "observations": "\n".join(f"row {n}" for n in range(40)),
            "is_final": True, "seconds": 0.21,
        },
    ]  # fmt: skip
    return {
        "actor_user": Named(text="Alice Moreau", email="alice@northwind.example"),
        "current_team": team,
        "current_project": project,
        "my_projects": [project, other],
        "nav": nav,
        "role_label": "Reviewer",
        "messages": [
            Named(text="Revision 3 is approved. Agents recall it from now on.", level_tag="success")
        ],
        "csrf_token": "styleguide",
        "form": RunForm(initial={"sandbox": "auto", "max_steps": 12}),
        "bad_form": RunForm(
            {"max_steps": "900", "task": "", "sandbox": "", "model": "rehearsal"}, prefix="bad"
        ),
        "old": OLD_CODE,
        "new": NEW_CODE,
        "hostile": 'access = "user\u202e \u2066# admin only\u2069 \u2066"\nif access != "user":\n    grant()\n',
        "steps": steps,
        "statuses": ["candidate", "approved", "rejected", "deprecated", "archived"],
        "verifications": ["unverified", "passed", "failed", "stale"],
        "states": ["queued", "running", "succeeded", "failed", "cancelled", "lost"],
        "tags": ["csv", "dates", "decimal-comma"],
        "when": now() - timedelta(hours=3),
        "page": Paginator(range(143), 25).page(2),
        "tabs": [
            {"label": "Overview", "url": "#a", "active": True},
            {"label": "Revisions", "url": "#b", "count": 4},
            {"label": "Evidence", "url": "#c", "count": 12},
            {"label": "Discussion", "url": "#d", "count": 0},
        ],
        "markdown_text": "Use when **dates are mixed**.\n\n- keeps `1,5` as 1.5\n- see [the docs](https://docs.python.org)\n\n```python\nimport csv\n```",
    }


def render(folder: Path, template: str = "styleguide.html") -> Path:
    """Write the page and its static files into `folder`; return the page's path."""
    configure()
    from django.contrib.staticfiles.finders import get_finders
    from django.template import engines
    from django.test import RequestFactory

    values = context()
    source = (Path(__file__).parent / template).read_text()
    page = folder / template
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(
        engines["django"].from_string(source).render(values, RequestFactory().get("/library/?q="))
    )
    for finder in get_finders():
        for name, storage in finder.list([]):
            target = folder / "static" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(storage.path(name), target)
    return page


def __getattr__(name: str) -> Any:
    """Make this module the URL configuration too, but late, since routes need Django."""
    if name == "urlpatterns":
        return _routes()
    raise AttributeError(name)


if __name__ == "__main__":
    print(render(Path(sys.argv[1])))

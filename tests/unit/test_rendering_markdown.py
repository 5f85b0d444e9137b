"""Markdown of people and agents is formatted, and can do nothing else."""

import pytest

from memory_hub.web.rendering.markdown import markdown


@pytest.fixture(autouse=True)
def memory_cache(settings):
    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "markdown"}
    }


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "![x](https://tracker.example/p.png)",
        "<img src=x onerror=alert(1)>",
        "<a href='#' onclick='go()' style='color:red'>x</a>",
        "```html\n<img src=x>\n```",
        '[x](https://example.org/"onmouseover="go)',
    ],
)
def test_nothing_active_gets_through(text):
    html = markdown(text)
    for banned in (
        "<script",
        "<img",
        'href="javascript',
        'href="data',
        'onclick="',
        'onerror="',
        'style="',
        'onmouseover="go',
    ):
        assert banned not in html


def test_formatting_stays():
    html = markdown("Use **this**:\n\n- one\n- `two`\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    for part in ("<strong>this</strong>", "<li>one</li>", "<code>two</code>", "<td>1</td>"):
        assert part in html


def test_links_are_kept_but_give_nothing_away():
    assert markdown("[docs](https://docs.python.org)") == (
        '<p><a href="https://docs.python.org" rel="nofollow noopener">docs</a></p>\n'
    )


def test_headings_stay_below_those_of_the_page():
    assert markdown("# One\n\n##### Five") == "<h3>One</h3>\n<h6>Five</h6>\n"


def test_a_code_fence_is_coloured():
    assert '<span class="k">import</span>' in markdown("```python\nimport csv\n```")

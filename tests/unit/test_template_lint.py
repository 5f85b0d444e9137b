"""The template lint finds each ban and leaves lawful templates alone."""

import pytest

from tests.template_lint import offences


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("<p>\n<script>alert(1)</script>", "inline script"),
        ('<script type="module">x</script>', "inline script"),
        ("<style>p {}</style>", "inline style sheet"),
        ('<p class="a"\n style="color: red">', "style attribute"),
        ('<button onclick="go()">', "event handler attribute"),
        ('<div hx-on:click="go()">', "hx-on"),
        ('<div hx-on::after-request="go()">', "hx-on"),
        ("<div hx-vals='js:{a: 1}'>", "js: or javascript:"),
        ('<a href="javascript:go()">', "js: or javascript:"),
        ('<script src="https://cdn.example/x.js"></script>', "another site"),
        ('<img alt="" src="//cdn.example/x.png">', "another site"),
        ("<div hx-trigger=\"keyup[key=='x']\">", "hx-trigger"),
        ('<img src="a.png">', "without alt"),
        ('<form action="/x"><input></form>', "without method"),
        ("{{ text|safe }}", "|safe"),
        ("{{ text | safe }}", "|safe"),
        ("{% autoescape off %}", "autoescape off"),
        ('<form method="post"><button>Go</button></form>', "without csrf_token"),
    ],
)
def test_a_ban_is_found(text, what):
    found = list(offences("room/page.html", text))
    assert len(found) == 1
    assert what in found[0]


def test_the_line_is_named_even_behind_a_comment():
    assert list(offences("a.html", "{# one\ntwo #}\n<style>")) == ["a.html:3: inline style sheet"]


@pytest.mark.parametrize(
    "text",
    [
        '<script src="{% static "js/hub.js" %}" type="module"></script>',
        '<script type="application/json" id="data">{}</script>',
        '<form method="post">{% csrf_token %}<button>Go</button></form><form method="get"></form>',
        '<a href="https://example.org/">elsewhere</a> {# |safe is banned #}',
        '<p class="on">one = "two"</p><input name="once" value="style=x">',
        "{{ value|safely_formatted }}",
    ],
)
def test_a_lawful_template_passes(text):
    assert list(offences("room/page.html", text)) == []


def test_a_generic_template_says_what_it_expects():
    assert "begins with a comment" in next(offences("components/a.html", "<p>"))
    assert list(offences("components/a.html", "{# Expects: name. #}<p>")) == []
    assert list(offences("forms/a.html", "{% comment %}Expects: form.{% endcomment %}<p>")) == []

"""Code is shown exactly, line by line, with nothing hidden and nothing executed."""

import re
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_hub.web.rendering.hidden_characters import has_bidi, hidden_names, reveal
from memory_hub.web.rendering.highlight import (
    LANGUAGES,
    MAX_CHARACTERS,
    forget,
    highlight,
    highlighted_lines,
    render_line,
    token_lines,
)


@pytest.fixture(autouse=True)
def memory_cache(settings):
    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "highlight"}
    }


def text_of(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html))


@settings(max_examples=150, deadline=None)
@given(code=st.text(max_size=300), language=st.sampled_from(LANGUAGES))
def test_no_character_is_lost_or_added_whatever_the_text(code, language):
    lines = token_lines(code, language)
    assert "\n".join("".join(text for _, text in line) for line in lines) == code


@settings(max_examples=100, deadline=None)
@given(code=st.text(alphabet=st.characters(blacklist_categories=("Cc", "Cf", "Cs", "Lo")), max_size=200))
def test_what_is_rendered_reads_as_the_code(code):
    assert [text_of(render_line(line)) for line in token_lines(code)] == code.split("\n")


def test_code_is_escaped_inside_every_kind_of_token():
    html = highlight("<script>alert(1)</script>\n'<b>' # <i>", anchor="L")
    assert "<script>" not in html
    assert "<b>" not in html
    assert "<i>" not in html


def test_a_hostile_anchor_cannot_leave_its_attribute():
    assert '"><img' not in highlight("x", anchor='"><img src=x>')


def test_lines_are_numbered_as_python_counts_them():
    html = highlight("a = 1\r\nb = '\x0c'\nc = 3\n", anchor="L")
    assert re.findall(r'data-line="(\d+)"', html) == ["1", "2", "3"]
    assert 'id="L-3"' in html


def test_keywords_strings_and_comments_have_their_class():
    line = highlight("def f(): return 'x'  # why")
    assert '<span class="k">def</span>' in line
    assert '<span class="f">f</span>' in line
    assert re.search(r'<span class="s">.*x', line)
    assert '<span class="c"># why</span>' in line


def test_an_unknown_language_is_shown_plain():
    assert highlighted_lines("def f(): pass", "klingon") == ["def f(): pass"]


def test_very_long_code_is_shown_without_colours():
    code = "x = 1\n" * (MAX_CHARACTERS // 6 + 1)
    assert highlighted_lines(code)[0] == "x = 1"


def test_direction_controls_are_made_visible():
    html = highlight("access = 'user\u202e'")
    assert "\u202e" not in html
    assert '<span class="hidden-char">U+202E</span>' in html
    assert has_bidi("a\u2066b")
    assert not has_bidi("a b")


def test_a_windows_line_end_is_not_called_hidden_but_a_lone_return_is():
    assert hidden_names("a\r\nb\r\n") == []
    assert hidden_names("a\rb") == ["U+000D"]
    assert reveal("a\rb") == 'a<span class="hidden-char">␍</span>b'


def test_a_second_look_comes_from_the_cache_until_it_is_forgotten(monkeypatch):
    calls = []
    monkeypatch.setattr(
        "memory_hub.web.rendering.highlight.render_line", lambda tokens: calls.append(1) or "line"
    )
    highlighted_lines("seen = 'twice'")
    highlighted_lines("seen = 'twice'")
    assert len(calls) == 1
    forget("seen = 'twice'")
    highlighted_lines("seen = 'twice'")
    assert len(calls) == 2


def test_marks_cut_across_tokens():
    tokens = [("k", "def"), ("", " name")]
    assert render_line(tokens, [(2, 5)]) == (
        '<span class="k">de</span><mark><span class="k">f</span></mark><mark> n</mark>ame'
    )

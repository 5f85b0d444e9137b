"""The tags that pages use: words beside every colour, times, numbers."""

from datetime import timedelta

import pytest
from django.template import Context, Template
from django.utils.timezone import now

from memory_hub.library.models import Revision
from memory_hub.runs.models import Run
from memory_hub.web.templatetags import hub


@pytest.mark.parametrize(
    ("table", "choices"),
    [(hub.STATUS, Revision.Status), (hub.VERIFICATION, Revision.Verification), (hub.RUN_STATE, Run.State)],
)
def test_every_state_has_a_word_an_icon_and_a_tone(table, choices):
    assert set(choices.values) <= set(table)


def test_a_pill_says_its_state_in_words_beside_the_icon():
    html = hub.status_pill("approved")
    assert html.endswith("Approved</span>")
    assert 'aria-hidden="true"' in html


def test_every_icon_that_the_code_names_is_in_the_sprite(settings):
    sprite = (settings.BASE_DIR / "static/icons/sprite.svg").read_text()
    named = {icon for table in (hub.STATUS, hub.VERIFICATION, hub.RUN_STATE) for _, icon, _ in table.values()}
    assert [name for name in named if f'id="{name}"' not in sprite] == []


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0 %"), (0.934, "93 %"), (1, "100 %"), (None, "–"), (0.9999, ">99 %"), (0.0001, "<1 %")],
)
def test_percentage(share, text):
    assert hub.percentage(share) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (999, "999"), (1000, "1k"), (1234, "1.2k"), (99_949, "99.9k"), (123_456, "123k"), (999_960, "1M"),
     (3_400_000, "3.4M"), (None, "–"), (0.5, "0.5")],
)  # fmt: skip
def test_compact(number, text):
    assert hub.compact(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.24, "240 ms"),
        (0.9999, "1.0 s"),
        (3.42, "3.4 s"),
        (59.96, "1 min"),
        (125, "2 min 5 s"),
        (3840, "1 h 4 min"),
        (None, "–"),
    ],
)
def test_duration(seconds, text):
    assert hub.duration(seconds) == text


@pytest.mark.parametrize(
    ("ago", "text"),
    [(timedelta(seconds=5), "just now"), (timedelta(minutes=1, seconds=1), "1 minute ago"), (timedelta(hours=3, minutes=59), "3 hours ago"),
     (timedelta(days=15), "2 weeks ago"), (timedelta(hours=-2, seconds=-9), "in 2 hours")],
)  # fmt: skip
def test_relative_time(ago, text):
    assert f">{text}</time>" in hub.relative_time(now() - ago)


def test_a_missing_time_says_never():
    assert hub.relative_time(None) == "never"


def test_names_are_escaped_wherever_they_are_drawn():
    html = hub.person("<b>Eve</b>")
    assert "<b>" not in html


def test_a_step_with_an_error_shows_its_type_line_and_message(settings):
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    step = {"number": 2, "thought": "t", "code": "x = 1", "observations": "", "error_type": "ValueError", "error_message": "<bad>",
            "error_line": "x", "error_line_number": 1, "seconds": 1.0, "input_tokens": 1, "output_tokens": 2}  # fmt: skip
    html = Template('{% include "components/step_card.html" with step=step only %}').render(
        Context({"step": step})
    )
    assert 'id="step-2"' in html
    assert "ValueError in" in html
    assert "line 1</a>" in html
    assert "&lt;bad&gt;" in html
    assert 'href="#step-2-code-1"' in html

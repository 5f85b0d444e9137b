"""The template tags of the pages: icons, pills, people, time, numbers, code. Pages say what, never how it looks."""

import math
from datetime import UTC, datetime
from typing import Any

from django import template
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.timezone import now

from memory_hub.common.text import sha256_hex, shorten
from memory_hub.web.rendering import diff as diff_module
from memory_hub.web.rendering import highlight as highlight_module
from memory_hub.web.rendering import markdown as markdown_module
from memory_hub.web.rendering.hidden_characters import hidden_names

register = template.Library()

# value → (word, icon, tone); the word and the icon carry the meaning, the tone only helps.
STATUS = {
    "candidate": ("Candidate", "circle-dashed", "warning"),
    "approved": ("Approved", "check-circle", "success"),
    "rejected": ("Rejected", "x-circle", "danger"),
    "deprecated": ("Deprecated", "slash", "neutral"),
    "archived": ("Archived", "archive", "neutral"),
}
VERIFICATION = {
    "unverified": ("Unverified", "help-circle", "neutral"),
    "passed": ("Check passed", "shield", "success"),
    "failed": ("Check failed", "alert-triangle", "danger"),
    "stale": ("Check stale", "clock", "warning"),
}
RUN_STATE = {
    "queued": ("Queued", "clock", "neutral"),
    "running": ("Running", "running", "info"),
    "succeeded": ("Succeeded", "check-circle", "success"),
    "failed": ("Failed", "x-circle", "danger"),
    "cancelled": ("Cancelled", "slash", "neutral"),
    "lost": ("Lost", "lost", "warning"),
}
# Where two entries begin with the same letter, the one more often opened has it.
GO_KEYS = {
    "Overview": "o", "Library": "l", "Lessons": "e", "Review": "q", "Runs": "r",
    "Connections": "c", "Members": "m", "Keys": "k", "Audit": "a", "Settings": "s",
}  # fmt: skip
_AGO = (
    (31_536_000, "year"),
    (2_592_000, "month"),
    (604_800, "week"),
    (86_400, "day"),
    (3_600, "hour"),
    (60, "minute"),
)


@register.simple_tag
def icon(name: str, label: str = "", css_class: str = "") -> SafeString:
    """Draw an icon of static/icons/sprite.svg; without a label it is decoration, hidden from screen readers."""
    url = static("icons/sprite.svg")
    hint = format_html('role="img" aria-label="{}"', label) if label else mark_safe('aria-hidden="true"')
    classes = f"icon {css_class}".strip()
    return format_html(
        '<svg class="{}" {} focusable="false"><use href="{}#{}"></use></svg>', classes, hint, url, name
    )


@register.simple_tag
def pill(text: str, icon_name: str = "info", tone: str = "neutral", css_class: str = "") -> SafeString:
    """Draw a pill; tone is one of neutral, info, success, warning, danger."""
    return format_html('<span class="pill pill-{} {}">{}{}</span>', tone, css_class, icon(icon_name), text)


@register.simple_tag
def status_pill(status: str) -> SafeString:
    """Draw the human decision on a revision."""
    return pill(*_known(STATUS, status))


@register.simple_tag
def verification_pill(verification: str) -> SafeString:
    """Draw what the machine found when it replayed the check."""
    return pill(*_known(VERIFICATION, verification))


@register.simple_tag
def run_pill(state: str) -> SafeString:
    """Draw the state of a run; a running one turns, unless the reader asked for less motion."""
    return pill(*_known(RUN_STATE, state), css_class="pill-running" if state == "running" else "")


@register.simple_tag
def avatar(person: Any, size: str = "", agent: bool = False) -> SafeString:
    """Draw initials on one of six colours, chosen by the name; always beside the name, so hidden from readers."""
    name = str(person or "?").strip() or "?"
    words = [word for word in name.replace("@", " ").replace(".", " ").split() if word[0].isalnum()] or [name]
    initials = words[0][0] + (words[1][0] if len(words) > 1 else "")
    colour = int(sha256_hex(name)[:8], 16) % 6
    classes = (
        f"avatar avatar-{colour}"
        + (" avatar-lg" if size == "large" else "")
        + (" avatar-agent" if agent else "")
    )
    return format_html('<span class="{}" aria-hidden="true">{}</span>', classes, initials)


@register.simple_tag
def person(who: Any, agent: bool = False) -> SafeString:
    """Draw an avatar and the name."""
    return format_html(
        '<span class="person">{}<span>{}</span></span>',
        avatar(who, agent=agent),
        str(who or "deleted person"),
    )


@register.simple_tag
def stars(value: float | None, count: int = 0) -> SafeString:
    """Draw a mean rating from 1 to 5 with its count; "Not rated" where there is none."""
    if not value:
        return mark_safe('<span class="subtle small">Not rated</span>')
    drawn = format_html_join(
        "", "{}", ((icon("star", css_class="filled" if n <= round(value) else ""),) for n in range(1, 6))
    )
    text = f"{value:.1f}" + (f" ({count})" if count else "")
    label = f"Rated {value:.1f} of 5" + (f" by {count}" if count else "")
    return format_html(
        '<span class="stars">{}<span aria-hidden="true">{}</span><span class="visually-hidden">{}</span></span>',
        drawn,
        text,
        label,
    )


@register.simple_tag
def relative_time(moment: datetime | None, absent: str = "never") -> SafeString | str:
    """Write "3 minutes ago" in a <time> that the browser keeps current and whose title is the full time."""
    if moment is None:
        return absent
    title = f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    return format_html(
        '<time datetime="{}" title="{}" data-relative>{}</time>',
        moment.isoformat(),
        title,
        _ago((now() - moment).total_seconds()),
    )


@register.filter
def percentage(share: float | None, digits: int = 0) -> str:
    """Write 0.934 as "93 %"; None as an en dash. Neither 0 % nor 100 % is claimed by rounding."""
    if share is None:
        return "–"
    text = f"{share * 100:.{digits}f}"
    if 0 < share < 1 and float(text) in (0, 100):
        return "<1 %" if share < 0.5 else ">99 %"
    return f"{text} %"


@register.filter
def compact(number: float | None) -> str:
    """Write 1234 as "1.2k" and 3_400_000 as "3.4M"; None as an en dash."""
    if number is None:
        return "–"
    for size, unit in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        # 999,950 is already 1.0M: what counts is the number after rounding.
        if abs(number) >= size * 0.99995 or (unit == "k" and abs(number) >= 1e3):
            shown = number / size
            return f"{shown:.0f}{unit}" if abs(shown) >= 99.95 else f"{shown:.1f}".removesuffix(".0") + unit
    return f"{number:g}" if isinstance(number, float) else str(number)


@register.filter
def duration(seconds: float | None) -> str:
    """Write seconds as "240 ms", "3.4 s", "2 min 5 s" or "1 h 4 min"; None as an en dash."""
    if seconds is None or math.isnan(seconds):
        return "–"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


@register.filter
def lookup(mapping: Any, key: Any) -> Any:
    """Return mapping[key] for a key held in a variable, or nothing."""
    return mapping.get(key, "") if hasattr(mapping, "get") else ""


@register.filter
def words(value: Any) -> str:
    """Write a machine value such as derived_from as "derived from"."""
    return str(value).replace("_", " ")


@register.filter
def first_line(text: str) -> str:
    """Return the first line with something on it, cut to 120 characters."""
    return shorten(next((line.strip() for line in str(text).splitlines() if line.strip()), ""), 120)


@register.filter
def is_long(text: str) -> bool:
    """Say whether output should start collapsed: over 12 lines or 1,500 characters."""
    return str(text).count("\n") > 12 or len(str(text)) > 1500


@register.simple_tag
def highlight(code: str, language: str = "python", anchor: str = "", start: int = 1) -> SafeString:
    """Return coloured <code>; put it inside <pre>. With an anchor its lines are numbered and linkable."""
    return highlight_module.highlight(code, language, anchor=anchor, start=start)


@register.filter
def hidden_characters(code: str) -> list[str]:
    """Return the invisible characters in the code as code points, for a warning above it."""
    return hidden_names(code)


@register.filter
def markdown(text: str) -> SafeString:
    """Return Markdown as safe HTML without images; put it inside class="prose"."""
    return markdown_module.markdown(text or "")


@register.inclusion_tag("components/code_block.html")
def code_block(
    code: str, language: str = "python", name: str = "", anchor: str = "", raw_url: str = ""
) -> dict[str, Any]:
    """Draw code with a bar (name, wrap, copy). The anchor names it in the page; give one where there are several."""
    numbered = bool(anchor)
    anchor = anchor or f"code-{sha256_hex(code)[:10]}"
    return {
        "code": code,
        "language": language,
        "name": name,
        "anchor": anchor,
        "numbered": numbered,
        "raw_url": raw_url,
    }


@register.filter
def go_key(label: str) -> str:
    """Return the key that follows "g" to open an entry of the navigation; empty where it has none."""
    return GO_KEYS.get(label, "")


@register.filter
def step_anchor(number: int) -> str:
    """Return the anchor of a step's code, so that its line 3 is #step-7-code-3."""
    return f"step-{number}-code"


@register.inclusion_tag("components/diff.html")
def diff_table(
    old: str, new: str, view: str = "unified", language: str = "python", context: int = 3
) -> dict[str, Any]:
    """Draw the difference between two texts; view is unified or split."""
    return {"diff": diff_module.diff(old, new, language=language, context=context), "split": view == "split"}


def _known(table: dict[str, tuple[str, str, str]], value: str) -> tuple[str, str, str]:
    value = str(value)
    return table.get(value, (value.replace("_", " ").capitalize(), "info", "neutral"))


def _ago(seconds: float) -> str:
    for size, unit in _AGO:
        if abs(seconds) >= size:
            count = int(abs(seconds) // size)
            amount = f"{count} {unit}{'s' if count > 1 else ''}"
            return f"{amount} ago" if seconds > 0 else f"in {amount}"
    return "just now"

"""Makes characters visible that could make code read differently from how it runs (bidi controls, zero width)."""

import re

# Trojan Source (CVE-2021-42574): bidi controls; then zero-width and other invisible characters, and C0 controls
# without tab and newline. A lone carriage return hides what stands before it in a terminal.
_HIDDEN = re.compile(
    "[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\u200b-\u200d\u2060-\u2064\ufeff\u00ad\u180e\u115f\u1160\u3164\uffa0"
    "\u0000-\u0008\u000b-\u001f\u007f-\u009f\U000e0000-\U000e007f]"
)
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")


def has_bidi(text: str) -> bool:
    """Say whether the text has direction controls, which can show code in another order than it runs."""
    return _BIDI.search(text) is not None


def hidden_names(text: str) -> list[str]:
    """Return the invisible characters of `text` as code points ("U+202E"), each once, in order of appearance.

    The carriage return of a CRLF line end is not counted.
    """
    found = dict.fromkeys(_HIDDEN.findall(text.replace("\r\n", "\n")))
    return [f"U+{ord(character):04X}" for character in found]


def reveal(escaped: str) -> str:
    """Replace each invisible character in already escaped text by a visible mark with its code point."""
    return _HIDDEN.sub(_mark, escaped)


def _mark(match: re.Match[str]) -> str:
    code = ord(match[0])
    shown = chr(0x2400 + code) if code < 0x20 else f"U+{code:04X}"
    return f'<span class="hidden-char">{shown}</span>'

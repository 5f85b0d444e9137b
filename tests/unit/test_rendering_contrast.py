"""Every pair of text and background that the style sheets combine is readable in both themes (WCAG 1.4.3, 1.4.11)."""

import re
from pathlib import Path

import pytest

TOKENS = (Path(__file__).resolve().parents[2] / "static" / "css" / "tokens.css").read_text(encoding="utf-8")
COLOURS = {
    name: (light, dark or light)
    for name, light, dark in re.findall(
        r"--([\w-]+): (?:light-dark\()?(#[0-9a-f]{6})(?:, (#[0-9a-f]{6})\))?", TOKENS
    )
}
ALIASES = dict(re.findall(r"--([\w-]+): var\(--([\w-]+)\)", TOKENS))

SURFACES = ("canvas", "surface", "surface-raised", "surface-sunken")
CODE = ("code-surface", "code-target", "diff-add", "diff-add-word", "diff-del", "diff-del-word")
TEXT_PAIRS = [
    *(
        (text, surface)
        for text in ("text", "text-muted", "accent-text")
        for surface in (*SURFACES, "surface-hover")
    ),
    *(("text-subtle", surface) for surface in SURFACES),
    *((f"{tone}-text", f"{tone}-soft") for tone in ("success", "warning", "danger", "info", "neutral")),
    *(("text", f"{tone}-soft") for tone in ("success", "warning", "danger", "info", "neutral")),
    *(("text-on-accent", surface) for surface in ("accent", "accent-hover", "danger", "danger-hover")),
    *(("code-text", surface) for surface in CODE),
    *((name, surface) for name in COLOURS if name.startswith("syntax-") for surface in CODE),
    *(("text-muted", surface) for surface in ("diff-gap", "diff-add", "diff-del")),
    *((text, "surface") for text in ("danger-text", "success-text", "warning-text")),
]
CONTROL_PAIRS = [
    *(
        (control, surface)
        for control in ("border-control", "focus", "accent")
        for surface in ("canvas", "surface")
    ),
    ("star", "surface"),
    *(("code-number", surface) for surface in ("code-surface", "diff-add", "diff-del")),
]


def colour(name: str, theme: int) -> str:
    return COLOURS[ALIASES.get(name, name)][theme]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two #rrggbb colours (WCAG 2.2, definition of contrast ratio)."""

    def luminance(value: str) -> float:
        channels = [int(value[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_the_measure_itself():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_keeps_four_and_a_half_to_one(theme):
    assert low_pairs(TEXT_PAIRS, theme, 4.5) == {}


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_controls_keep_three_to_one(theme):
    assert low_pairs(CONTROL_PAIRS, theme, 3.0) == {}


def low_pairs(pairs: list[tuple[str, str]], theme: int, least: float) -> dict[tuple[str, str], float]:
    ratios = {pair: contrast(colour(pair[0], theme), colour(pair[1], theme)) for pair in pairs}
    return {pair: round(ratio, 2) for pair, ratio in ratios.items() if ratio < least}

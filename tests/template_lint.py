"""What templates may not contain (house rule 10): `python -m tests.template_lint` lists each offence.

The strict Content-Security-Policy would silently switch off inline code and style in the browser; here it is
found before.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
# Templates that others extend or include say in their first line what they expect.
GENERIC = ("base.html", "components/", "forms/")

BANS = [
    (re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)[^>]*>", re.IGNORECASE), "inline script"),
    (re.compile(r"<style\b", re.IGNORECASE), "inline style sheet"),
    (re.compile(r"""<[^<>]*\sstyle\s*=""", re.IGNORECASE), "style attribute"),
    (re.compile(r"""<[^<>]*\son[a-z]+\s*=\s*["']""", re.IGNORECASE), "event handler attribute"),
    (re.compile(r"\bhx-on\b|\bdata-hx-on\b", re.IGNORECASE), "hx-on"),
    (re.compile(r"""=\s*["']\s*(?:js|javascript):""", re.IGNORECASE), "script in an attribute (js: or javascript:)"),
    (re.compile(r"""<(?:script|link|img|iframe|source)\b[^>]*(?:src|href)\s*=\s*["'](?:https?:)?//""", re.IGNORECASE),
     "file from another site"),
    (re.compile(r"""\bhx-trigger(?::[\w:]+)?\s*=\s*["'][^"']*\["""), "filter in hx-trigger (it is compiled as script)"),
    (re.compile(r"<img\b(?![^>]*\balt=)[^>]*>", re.IGNORECASE), "img without alt"),
    (re.compile(r"<form\b(?![^>]*\bmethod=)[^>]*>", re.IGNORECASE), "form without method"),
    (re.compile(r"\|\s*safe(?:seq)?\b"), "|safe"),
    (re.compile(r"{%\s*autoescape\s+off"), "autoescape off"),
]  # fmt: skip
_COMMENT = re.compile(r"{#.*?#}|{%\s*comment\b.*?%}.*?{%\s*endcomment\s*%}|<!--.*?-->", re.DOTALL)
_POST_FORM = re.compile(r"<form\b[^>]*method\s*=\s*[\"']post[\"'].*?</form>", re.IGNORECASE | re.DOTALL)


def offences(name: str, text: str) -> Iterator[str]:
    """Yield one line `name:line: what` for each offence of a template."""
    if name.startswith(GENERIC) and not re.match(r"{#|{%\s*comment\b", text):
        yield f"{name}:1: a generic template begins with a comment on the blocks and context it expects"
    # Blanked, not cut, so that line numbers stay.
    code = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    for pattern, what in BANS:
        for found in pattern.finditer(code):
            yield f"{name}:{_line(code, found.start())}: {what}"
    for form in _POST_FORM.finditer(code):
        if "csrf_token" not in form.group():
            yield f"{name}:{_line(code, form.start())}: a POST form without csrf_token"


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def main() -> int:
    """Check every template; return the exit code."""
    files = sorted(TEMPLATES.rglob("*.html"))
    found = [
        line
        for file in files
        for line in offences(file.relative_to(TEMPLATES).as_posix(), file.read_text(encoding="utf-8"))
    ]
    print(*found, f"{len(files)} templates, {len(found)} offences", sep="\n")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())

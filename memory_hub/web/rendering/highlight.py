"""Code to HTML lines with classes only (colours: static/css/code.css); cached by content, since revisions never change."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import escape
from itertools import pairwise

from django.core.cache import cache
from django.utils.safestring import SafeString, mark_safe
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

from memory_hub.common.text import sha256_hex

from .hidden_characters import reveal

# Pygments needs about a second for 2,000 lines; beyond this, code is shown without colours.
MAX_CHARACTERS = 150_000
CACHE_SECONDS = 6 * 60 * 60
# What may stand in a cache key; forget() must be able to name them all.
LANGUAGES = ("python", "json", "bash", "sql", "yaml", "toml", "pytb", "pycon", "javascript", "html", "diff", "text")  # fmt: skip

# The few colours of the interface, most specific token first.
_CLASSES: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "c"),
    (String, "s"),
    (Number, "m"),
    (Keyword.Constant, "m"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (Name.Decorator, "d"),
    (Name.Function, "f"),
    (Name.Class, "t"),
    (Name.Exception, "t"),
    (Name.Builtin, "t"),
    (Name.Namespace, "t"),
    (Name.Tag, "k"),
    (Name.Attribute, "f"),
)

Token = tuple[str, str]
TokenLine = list[Token]


def token_lines(code: str, language: str = "python") -> list[TokenLine]:
    """Return one list of (class, text) per line of `code`, without line ends; the texts joined are the line.

    Only "\\n" ends a line, so that line numbers agree with Python's; a "\\r" stays part of its line.
    """
    lines = code.split("\n")
    plain: list[TokenLine] = [[("", line)] if line else [] for line in lines]
    lexer = _lexer(language)
    if lexer is None or len(code) > MAX_CHARACTERS:
        return plain
    colourless = "\n".join(line.removesuffix("\r") for line in lines)
    # get_tokens_unprocessed neither strips nor expands anything, unlike get_tokens.
    coloured: list[TokenLine] = [[]]
    for _, token, text in lexer.get_tokens_unprocessed(colourless):
        css_class = _class_of(token)
        first, *rest = text.split("\n")
        if first:
            coloured[-1].append((css_class, first))
        for piece in rest:
            coloured.append([(css_class, piece)] if piece else [])
    for line, tokens in zip(lines, coloured, strict=False):
        if line.endswith("\r"):
            tokens.append(("", "\r"))
    # A lexer that loses characters may not decide what a reviewer sees.
    if ["".join(text for _, text in tokens) for tokens in coloured] != lines:
        return plain
    return coloured


def render_line(
    tokens: Sequence[Token], marks: Sequence[tuple[int, int]] = (), *, keep_cr: bool = False
) -> str:
    """Return the HTML of one line; `marks` are (start, end) character ranges to wrap in <mark>, in order.

    The "\\r" of a CRLF line end is dropped unless `keep_cr`, which shows it.
    """
    out = []
    for css_class, text, marked in _split_at(tokens, marks):
        if not keep_cr:
            text = text.removesuffix("\r")
        if not text:
            continue
        html = reveal(escape(text))
        if css_class:
            html = f'<span class="{css_class}">{html}</span>'
        out.append(f"<mark>{html}</mark>" if marked else html)
    return "".join(out)


def highlighted_lines(code: str, language: str = "python") -> list[str]:
    """Return the HTML of each line of `code`, from the cache where it was shown before."""
    key = _key(code, language)
    lines: list[str] | None = cache.get(key)
    if lines is None:
        lines = [render_line(tokens) for tokens in token_lines(code, language)]
        cache.set(key, lines, CACHE_SECONDS)
    return lines


def highlight(code: str, language: str = "python", *, anchor: str = "", start: int = 1) -> SafeString:
    """Return <code> with one element per line; with `anchor`, lines are numbered and linkable as #anchor-number.

    One line end at the very end of the code does not make an empty last line.
    """
    lines = highlighted_lines(code, language)
    if len(lines) > 1 and not lines[-1]:
        lines = lines[:-1]
    return mark_safe("<code>" + "".join(_numbered(lines, anchor, start)) + "</code>")  # noqa: S308 - escaped above


def forget(code: str) -> None:
    """Remove every cached rendering of this code: deleting a revision leaves no copy in the cache."""
    cache.delete_many([_key(code, language) for language in LANGUAGES])


def _numbered(lines: list[str], anchor: str, start: int) -> Iterator[str]:
    for number, line in enumerate(lines, start):
        if anchor:
            target = f"{escape(anchor)}-{number}"
            # Drawn by CSS from data-line; kept out of the tab order, since a long file would be a trap for it.
            link = f'<a class="line-number" href="#{target}" data-line="{number}" tabindex="-1" aria-hidden="true"></a>'
            yield f'<span class="line" id="{target}">{link}{line}\n</span>'
        else:
            yield f'<span class="line">{line}\n</span>'


def _split_at(tokens: Sequence[Token], marks: Sequence[tuple[int, int]]) -> Iterator[tuple[str, str, bool]]:
    """Cut tokens where a mark begins or ends."""
    edges = sorted({edge for mark in marks for edge in mark})
    position = 0
    for css_class, text in tokens:
        end = position + len(text)
        cuts = [position, *(edge for edge in edges if position < edge < end), end]
        for left, right in pairwise(cuts):
            marked = any(start <= left and right <= stop for start, stop in marks)
            yield css_class, text[left - position : right - position], marked
        position = end


def _class_of(token: _TokenType) -> str:
    return next((css_class for parent, css_class in _CLASSES if token in parent), "")


@lru_cache(maxsize=len(LANGUAGES))
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language) if language in LANGUAGES and language != "text" else None
    except ClassNotFound:  # a Pygments that dropped one of them
        return None


def _key(code: str, language: str) -> str:
    return f"highlight:1:{language if language in LANGUAGES else 'text'}:{sha256_hex(code)}"

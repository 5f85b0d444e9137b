"""Small pure helpers on text."""

import hashlib
import re
import unicodedata

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


def first_sentence(text: str, limit: int = 120) -> str:
    """Return the first sentence of `text` on one line, at most `limit` characters."""
    first = _SENTENCE_END.split(text.strip(), maxsplit=1)[0]
    return shorten(" ".join(first.split()), limit)


def shorten(text: str, limit: int) -> str:
    """Cut to `limit` characters at a word where one is near, with an ellipsis as the last character."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip() + "…"


def slugify(text: str) -> str:
    """Return lower-case ASCII words joined by hyphens; empty where nothing is left."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def sha256_hex(text: str) -> str:
    """Return the SHA-256 of the UTF-8 bytes; lone surrogates are kept apart, never an error."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def storable(text: str) -> str:
    """Return text that PostgreSQL can store: NUL and lone surrogates, which it refuses, made visible."""
    return text.replace("\x00", "␀").encode("utf-8", "backslashreplace").decode("utf-8")

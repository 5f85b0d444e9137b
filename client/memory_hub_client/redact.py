"""Masks obvious secrets in texts before they leave the machine. The hub scans again; this is the first net."""

from __future__ import annotations

import re
from typing import Any

MASK = "[masked]"

_TOKENS = re.compile(
    r"\b(?:"
    r"mh_[A-Za-z0-9_-]{16,}"  # our own keys
    r"|sk-[A-Za-z0-9_-]{20,}"  # OpenAI, Anthropic
    r"|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{20,}"
    r"|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}"  # Slack
    r"|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35}"  # AWS, Google
    r"|(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}"  # Stripe
    r"|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"  # JSON web tokens
    r")"
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----.*?(?:-----END \1-----|\Z)",
    re.DOTALL,
)
# Repetitions are bounded, so that no text can make the search slow.
_URL_PASSWORD = re.compile(
    r"(?P<before>\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@'\"]{0,200}:)[^\s/@'\"]{1,500}(?=@)", re.IGNORECASE
)
_AUTHORIZATION = re.compile(r"(?P<before>\b(?:Bearer|Basic|Token)\s{1,4})[A-Za-z0-9._~+/=-]{12,}")
_WORDS = (
    r"pass(?:word|wd|phrase)|pwd|secret|api[_-]?key|(?:access|auth|private|secret)[_-]?key|token|credential"
)
_NAMED = rf"(?:[A-Za-z0-9]{{1,40}}[_-]){{0,4}}(?:{_WORDS})s?(?:[_-][A-Za-z0-9]{{1,40}}){{0,4}}"
# name = "value", "name": "value": only literals, so that `token = next(tokens)` stays as it is
_ASSIGNED = re.compile(
    rf"(?P<before>\b{_NAMED}[\"']?\s{{0,4}}[:=]\s{{0,4}}(?P<quote>[\"']))[^\"'\s{{}}<>]{{6,}}(?=(?P=quote))",
    re.IGNORECASE,
)
# NAME=value as in a .env file
_ENVIRONMENT = re.compile(
    rf"^(?P<before>[ \t]{{0,8}}(?:export[ \t]{{1,4}})?[A-Z0-9_]{{0,40}}(?:{_WORDS.upper()})[A-Z0-9_]{{0,40}}=)"
    r"[^\s\"'(){}\[\]]{6,}$",
    re.MULTILINE,
)
_NAME = re.compile(rf"\A{_NAMED}\Z", re.IGNORECASE)


def redact_text(text: str, *known_secrets: str) -> str:
    """The text with secrets replaced by "[masked]". known_secrets are masked wherever they stand."""
    for secret in known_secrets:
        if secret:
            text = text.replace(secret, MASK)
    text = _PRIVATE_KEY.sub(MASK, text)
    text = _TOKENS.sub(MASK, text)
    for pattern in (_URL_PASSWORD, _AUTHORIZATION, _ASSIGNED, _ENVIRONMENT):
        text = pattern.sub(lambda match: match["before"] + MASK, text)
    return text


def redact_json(value: Any, *known_secrets: str) -> Any:
    """The same for every string inside a JSON value; a string under a key like "password" is masked whole."""
    if isinstance(value, str):
        return redact_text(value, *known_secrets)
    if isinstance(value, (list, tuple)):
        return [redact_json(item, *known_secrets) for item in value]
    if isinstance(value, dict):
        return {
            key: MASK
            if isinstance(item, str) and item and _is_secret(key)
            else redact_json(item, *known_secrets)
            for key, item in value.items()
        }
    return value


def _is_secret(key: Any) -> bool:
    return isinstance(key, str) and _NAME.match(key) is not None

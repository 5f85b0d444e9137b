"""Finds secrets in text and masks them, in bounded time, without the network.

The formats of well-known providers come from detect-secrets; its verification (which calls them) and its guessing by
entropy (which takes every hash for a secret) stay off. What it lacks is added here: our own keys, whole private keys,
passwords in URLs, and literals assigned to a name like `api_key`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from memory_hub.common.text import storable

# Some patterns need time quadratic in the length of a line: no more than this is looked at in one go.
_WINDOW = 1_000
# A window within a long line begins so far before the end of the one before; no secret looked for is longer.
_OVERLAP = 300

_NAMES = (
    r"(?:pass(?:word|wd|phrase)|pwd|secret|api[_-]?key|(?:access|account|auth|client|private|secret)[_-]?key"
    r"|token|credential)s?(?:[_-][A-Za-z0-9]{1,20}){0,2}"
)
# A letter and a digit: words and column names are no secrets.
_VALUE = r"(?=[^\s\"']{0,200}[0-9])(?=[^\s\"']{0,200}[A-Za-z])[^\"'\s(){}<>$\[\]\\]{8,200}"
# Formats that detect-secrets has not.
_TOKENS = (
    ("Memory Hub key", r"mh_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{40}"),
    ("model provider key", r"sk-[A-Za-z0-9_-]{32,200}"),
    ("GitHub token", r"github_pat_[A-Za-z0-9_]{30,100}"),
    ("Hugging Face token", r"hf_[A-Za-z0-9]{30,60}"),
    ("Google API key", r"AIza[0-9A-Za-z_-]{35}"),
    ("npm token", r"npm_[A-Za-z0-9]{36}"),
    ("JSON web token", r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
)
# Secrets told by where they stand; the group `secret` is what gets masked.
_PLACES = (
    ("password in a URL", r"://[^\s/:@'\"]{0,100}:(?P<secret>[^\s/:@'\"{}<>$\[\]]{3,200})@"),
    (
        "authorization header",
        r"(?:[Bb]earer|[Bb]asic)\s{1,3}(?P<secret>(?=\S{0,200}[0-9])[A-Za-z0-9._~+/=-]{16,400})",
    ),
    (
        "secret in a literal",
        rf"(?i){_NAMES}(?:\\?[\"'])?\]?\s{{0,3}}[:=]\s{{0,3}}\\?([\"'])(?P<secret>{_VALUE})\\?\1",
    ),
    ("secret in a setting", rf"(?im){_NAMES}=(?P<secret>{_VALUE})\s{{0,5}}$"),
)
_COMPILED_PLACES = tuple((kind, re.compile(pattern)) for kind, pattern in _PLACES)
_WORDS = ("pass", "pwd", "secret", "key", "token", "credential")
_KEY_BEGINS = re.compile(r"-----BEGIN ([A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?)-----")


@dataclass(frozen=True, slots=True)
class Finding:
    """Where a secret stands (line counted from 1) and of which kind; never the secret."""

    line: int
    kind: str


def findings(text: str) -> list[Finding]:
    """Return the secrets in a text, in order."""
    return [Finding(line=_line(text, start), kind=kind) for start, _, kind in _spans(text, ())]


def mask(text: str, known_secrets: Sequence[str] = ()) -> tuple[str, list[Finding]]:
    """Return the text with each secret replaced by "[masked: kind]", and what was found.

    `known_secrets` are masked wherever they stand, whatever they look like (the key of the run's own connection).
    """
    spans = list(_spans(text, known_secrets))
    found = [Finding(line=_line(text, start), kind=kind) for start, _, kind in spans]
    for start, end, kind in reversed(spans):
        text = f"{text[:start]}[masked: {kind}]{text[end:]}"
    return text, found


def mask_json(value: Any, known_secrets: Sequence[str] = ()) -> Any:
    """Return a JSON value that PostgreSQL can store, with every string in it masked.

    Numbers that JSON has no word for (NaN, infinity) become text.
    """
    if isinstance(value, str):
        return mask(storable(value), known_secrets)[0]
    if isinstance(value, dict):
        return {
            mask_json(str(key), known_secrets): mask_json(item, known_secrets) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [mask_json(item, known_secrets) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return value


def _spans(text: str, known_secrets: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, kind) in order, without overlaps."""
    found = [*_known(text, known_secrets), *_private_keys(text), *_matches(text)]
    end = 0
    for start, stop, kind in sorted(found, key=lambda span: (span[0], -span[1])):
        if start >= end:
            yield start, stop, kind
            end = stop


def _known(text: str, secrets: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    for secret in secrets:
        start = text.find(secret) if secret else -1
        while start >= 0:
            yield start, start + len(secret), "key of the connection"
            start = text.find(secret, start + len(secret))


def _private_keys(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield whole blocks; one without its last line reaches to the end of the text."""
    position = 0
    while begin := _KEY_BEGINS.search(text, position):
        last_line = f"-----END {begin[1]}-----"
        end = text.find(last_line, begin.end())
        position = end + len(last_line) if end >= 0 else len(text)
        yield begin.start(), position, "private key"


def _matches(text: str) -> Iterator[tuple[int, int, str]]:
    for offset, window in _windows(text):
        for kind, pattern in _tokens():
            for match in pattern.finditer(window):
                # Within a longer run of letters (base64, a hash) it is a chance hit. Asked afterwards, since a
                # pattern that begins with its own letters is searched for much faster.
                if not window[match.start() - 1 : match.start()].isalnum():
                    start, end = match.span()
                    yield offset + start, offset + end, kind
        for kind, pattern in _places(window):
            for match in pattern.finditer(window):
                start, end = match.span("secret")
                yield offset + start, offset + end, kind


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """Yield (offset, part): whole lines together up to _WINDOW characters, longer lines in overlapping parts."""
    offset = 0
    while offset < len(text):
        end = min(offset + _WINDOW, len(text))
        newline = text.rfind("\n", offset, end)
        if end == len(text):
            following = end
        elif newline > offset:
            following = end = newline + 1
        else:
            following = end - _OVERLAP
        yield offset, text[offset:end]
        offset = following


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _places(window: str) -> Sequence[tuple[str, re.Pattern[str]]]:
    """Return the rules that can find something; the two slow ones need a telling name in the window."""
    lower = window.lower()
    return _COMPILED_PLACES if any(word in lower for word in _WORDS) else _COMPILED_PLACES[:2]


@cache
def _tokens() -> tuple[tuple[str, re.Pattern[str]], ...]:
    # Loaded at first use: they bring an HTTP client along, which is never called.
    from detect_secrets.plugins import (
        aws,
        azure_storage_key,
        discord,
        github_token,
        gitlab_token,
        mailchimp,
        openai,
        pypi_token,
        sendgrid,
        slack,
        square_oauth,
        stripe,
        telegram_token,
        twilio,
    )

    detectors = (
        azure_storage_key.AzureStorageKeyDetector, discord.DiscordBotTokenDetector, github_token.GitHubTokenDetector,
        gitlab_token.GitLabTokenDetector, mailchimp.MailchimpDetector, openai.OpenAIDetector,
        pypi_token.PypiTokenDetector, sendgrid.SendGridDetector, slack.SlackDetector, square_oauth.SquareOAuthDetector,
        stripe.StripeDetector, telegram_token.TelegramBotTokenDetector, twilio.TwilioKeyDetector,
    )  # fmt: skip
    theirs = [(detector.secret_type, pattern) for detector in detectors for pattern in detector.denylist]
    # Its second pattern takes the words around the secret along; the rule for literals finds the same.
    theirs.append((aws.AWSKeyDetector.secret_type, aws.AWSKeyDetector.denylist[0]))
    return (*theirs, *((kind, re.compile(pattern)) for kind, pattern in _TOKENS))

"""What is masked before it leaves the user's machine, and what is not."""

from __future__ import annotations

import time

import pytest

from memory_hub_client.redact import MASK, redact_json, redact_text

# Assembled from parts, so that no scanner takes this file for a leak.
SECRETS = {
    "hub": "mh_" + "a1" * 12,
    "openai": "sk-" + "proj-" + "a1B2" * 8,
    "github": "ghp_" + "a1B2" * 9,
    "gitlab": "glpat-" + "a1B2" * 5,
    "hugging face": "hf_" + "a1B2" * 9,
    "slack": "xoxb-" + "1234567890-abcdef",
    "aws": "AKIA" + "ABCDEFGH12345678",
    "google": "AIza" + "a1B2c" * 7,
    "jwt": "eyJ" + "hbGciOiJI" + "." + "eyJ" + "zdWIiOiIx" + "." + "SflKxwRJSM",
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
def test_a_token_is_masked_and_the_rest_stays(secret: str):
    assert redact_text(f"client = Client('{secret}')  # é\n\tgo") == f"client = Client('{MASK}')  # é\n\tgo"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgres://me:hunter2@db/x", f"postgres://me:{MASK}@db/x"),
        ("curl -H 'Authorization: Bearer abcdefgh12345678'", f"curl -H 'Authorization: Bearer {MASK}'"),
        ("password = 'correct horse'", "password = 'correct horse'"),  # a sentence, not a password
        ("db_password = 'correcthorse'", f"db_password = '{MASK}'"),
        ('{"api_key": "abcdef123"}', f'{{"api_key": "{MASK}"}}'),
        ("  export DB_PASSWORD=abcdef123\nA=1", f"  export DB_PASSWORD={MASK}\nA=1"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nx", f"{MASK}\nx"),
    ],
)
def test_named_secrets_are_masked(text: str, expected: str):
    assert redact_text(text) == expected


@pytest.mark.parametrize(
    "code",
    [
        "token = next(tokens)",
        "max_tokens = 2000",
        "tokens = text.split(' ')",
        "secret = getpass()",
        "url = 'https://example.org:8080/a@b'",
        "key = 'customer_id'",
        "assert parse('token: x') == {'token': 'x'}",
        "PASSWORD = os.environ['PASSWORD']",
    ],
)
def test_ordinary_code_is_left_byte_for_byte(code: str):
    assert redact_text(code) == code


def test_known_secrets_are_masked_wherever_they_stand():
    assert redact_text("id=xyzzy;", "xyzzy") == f"id={MASK};"


def test_json_is_masked_inside_and_by_key_and_keeps_its_other_values():
    value = {"a": [1, None, True, SECRETS["hub"]], "Password": "x", "b": {"token": 3}, "password": ""}
    assert redact_json(value) == {
        "a": [1, None, True, MASK],
        "Password": MASK,
        "b": {"token": 3},
        "password": "",
    }


@pytest.mark.parametrize(
    "text", ["a-" * 100_000, "A_" * 100_000, "a.a" * 100_000, "\n " * 100_000, "x" * 500_000]
)
def test_no_text_makes_the_search_slow(text: str):
    started = time.monotonic()
    redact_text(text)
    assert time.monotonic() - started < 3

"""Secrets in text are found by their form or by where they stand; ordinary code and data are left alone."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as texts

from memory_hub.access.tokens import new_key
from memory_hub.runs.masking import Finding, findings, mask, mask_json

B62 = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zaB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zaB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0z"

TOKENS = {
    "AWS Access Key": "AKIAIOSFODNN7EXAMPLE",
    "Memory Hub key": f"mh_{B62[:8]}_{B62[:40]}",
    "model provider key": f"sk-proj-{B62[:48]}",
    "GitHub Token": f"ghp_{B62[:36]}",
    "GitHub token": f"github_pat_{B62[:50]}",
    "GitLab Token": f"glpat-{B62[:20]}",
    "Hugging Face token": f"hf_{B62[:34]}",
    "Google API key": f"AIza{B62[:35]}",
    "npm token": f"npm_{B62[:36]}",
    "JSON web token": f"eyJ{B62[:20]}.eyJ{B62[:30]}.{B62[:43]}",
    "Slack Token": "xoxb-123456789012-abcdefABCDEF",
    "Stripe Access Key": f"sk_live_{B62[:24]}",
    "SendGrid API Key": f"SG.{B62[:22]}.{B62[:43]}",
    "Telegram Bot Token": f"123456789:{B62[:35]}",
}


@pytest.mark.parametrize("kind", TOKENS)
def test_a_token_is_masked_wherever_it_stands(kind: str) -> None:
    token = TOKENS[kind]
    for text in (token, f"x = '{token}'", f"error: {token}.", f"a\nb {token}\nc", f"({token})"):
        masked, found = mask(text)
        assert masked == text.replace(token, f"[masked: {kind}]")
        assert found == [Finding(line=text[: text.index(token)].count("\n") + 1, kind=kind)]


def test_a_key_of_ours_as_it_is_really_made_is_masked() -> None:
    whole, _, _ = new_key()
    assert mask(f"HttpHub(url, '{whole}')")[0] == "HttpHub(url, '[masked: Memory Hub key]')"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('password = "hunter2hunter2"', 'password = "[masked: secret in a literal]"'),
        ("DB_PASSWORD='hunter2hunter2'", "DB_PASSWORD='[masked: secret in a literal]'"),
        ('{"api_key": "abcd1234efgh"}', '{"api_key": "[masked: secret in a literal]"}'),
        ('{\\"token\\": \\"abcd1234efgh\\"}', '{\\"token\\": \\"[masked: secret in a literal]\\"}'),
        ('os.environ["API_KEY"] = "abcd1234"', 'os.environ["API_KEY"] = "[masked: secret in a literal]"'),
        ("client_secret_2: 'abcd/1234+x='", "client_secret_2: '[masked: secret in a literal]'"),
        ("export OPENAI_API_KEY=abc1234567", "export OPENAI_API_KEY=[masked: secret in a setting]"),
        ("postgres://me:pa55@host/db", "postgres://me:[masked: password in a URL]@host/db"),
        ("Authorization: Bearer abcdef0123456789", "Authorization: Bearer [masked: authorization header]"),
    ],
)
def test_a_secret_is_told_by_where_it_stands(text: str, masked: str) -> None:
    assert mask(text)[0] == masked


def test_a_private_key_is_masked_whole() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----"
    assert mask(f"a\n{key}\nb\n{key}")[0] == "a\n[masked: private key]\nb\n[masked: private key]"
    assert mask(f"a\n{key[:50]}")[0] == "a\n[masked: private key]"


@pytest.mark.parametrize(
    "text",
    [
        'df["password"] = "name"',
        "password = getpass()",
        "token = tokens[0]",
        'api_key = os.environ["API_KEY_2"]',
        'secret = f"{prefix}1234567"',
        'api_key = "YOUR_API_KEY"',
        'api_key="<your key 1>"',
        "max_tokens=4096",
        'tokenizer = "cl100k_base"',
        'sort_key="column_12345"',
        "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "https://example.org/a:b/c@d",
        "550e8400-e29b-41d4-a716-446655440000",
        "192.168.1.1 8.8.8.8",
        "state,TOTAL\nAlabama,12345\n",
        "time data '03.02.2026' does not match format '%Y-%m-%d'",
        f"{B62}AKIAIOSFODNN7EXAMPLE",
        "basic arithmetic, bearer of good news 12345678901234567890"[:40],
        "[masked: secret in a literal]",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert mask(text) == (text, [])


def test_masking_twice_changes_nothing_more() -> None:
    text = "\n".join([*TOKENS.values(), 'password = "hunter2hunter2"'])
    once, found = mask(text)
    assert len(found) == len(TOKENS) + 1
    assert mask(once) == (once, [])


def test_known_secrets_are_masked_whatever_they_look_like() -> None:
    assert mask("say sesame, sesame", ["sesame"])[0] == (
        "say [masked: key of the connection], [masked: key of the connection]"
    )
    assert mask("nothing", ["", "x"]) == ("nothing", [])


def test_a_secret_in_a_very_long_line_is_found_wherever_it_stands() -> None:
    key = TOKENS["AWS Access Key"]
    for before in range(0, 2_600, 37):
        text = "x " * before + key + " y" * 900
        assert mask(text)[0] == text.replace(key, "[masked: AWS Access Key]"), before


def test_json_is_masked_in_every_string_and_can_be_stored() -> None:
    key = TOKENS["AWS Access Key"]
    value = {
        "a": [key, 1, None, True, {"b": (key,)}],
        key: "c\x00\ud800",
        "n": float("nan"),
        "i": float("-inf"),
        "f": 0.5,
    }
    assert mask_json(value) == {
        "a": ["[masked: AWS Access Key]", 1, None, True, {"b": ["[masked: AWS Access Key]"]}],
        "[masked: AWS Access Key]": "c␀\\ud800", "n": "nan", "i": "-inf", "f": 0.5,
    }  # fmt: skip


@given(texts.text(max_size=3_000))
def test_text_without_secrets_comes_back_as_it_was(text: str) -> None:
    masked, found = mask(text)
    assert (masked == text) == (not found)


@pytest.mark.parametrize(
    "text",
    [
        "://a:" * 40_000, "eyJ" * 66_000, "password " * 22_000, "a" * 200_000, "password='" * 20_000, "token_a_" * 25_000,
        'token = "a1' * 18_000, "token=a1" * 25_000, "-----BEGIN PRIVATE KEY-----" * 8_000, "A-" * 100_000,
        "xoxb-" + "1-" * 100_000, "Bearer " * 28_000, "\\\"" * 100_000,
    ],
)  # fmt: skip
def test_no_text_takes_long(text: str) -> None:
    findings("load the patterns")
    started = time.process_time()
    findings(text)
    assert time.process_time() - started < 3

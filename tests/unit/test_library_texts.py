"""Line ends, signatures and fingerprints: what is derived from text without touching it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_hub.common.errors import InvalidInput
from memory_hub.library.check_spec import clean_check, parse_json
from memory_hub.library.code_facts import signature_of, top_level_functions
from memory_hub.library.fingerprint import error_fingerprint
from memory_hub.library.texts import storable_json, with_line_ends_of


def as_a_browser_sends(text: str) -> str:
    """What the HTML standard does to the value of a textarea on its way to the server."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")


@given(st.text(alphabet=st.sampled_from("ab\t \u2028\x0b\x85\n\r")))
def test_a_text_that_nobody_edited_comes_back_from_the_browser_as_it_was(text: str) -> None:
    assert with_line_ends_of(text, as_a_browser_sends(text)) == text


def test_new_lines_get_the_line_end_that_the_text_uses_most() -> None:
    original = "a\r\nb\r\nc\n"
    edited = as_a_browser_sends("a\nnew\nb\nc\n")
    assert with_line_ends_of(original, edited) == "a\r\nnew\r\nb\r\nc\n"


def test_a_text_without_line_ends_gets_line_feeds() -> None:
    assert with_line_ends_of("", "a\r\nb\r\n") == "a\nb\n"


def test_the_signature_is_read_from_the_code() -> None:
    code = "import re\n\n@decorated\ndef clean(text: str, *, strict: bool = False, **more) -> list[str]:\n    return []\n"
    assert signature_of(code, "clean") == "clean(text: str, *, strict: bool=False, **more) -> list[str]"


def test_an_async_entry_point_says_so() -> None:
    assert signature_of("async def fetch(url):\n    pass\n", "fetch") == "async fetch(url)"


def test_the_last_definition_of_a_name_counts() -> None:
    assert signature_of("def f(a): pass\ndef f(b): pass\n", "f") == "f(b)"


@pytest.mark.parametrize(
    "code", ["class Box:\n    def f(self): pass\n", "f = lambda x: x\n", "if True:\n    def f(): 0\n"]
)
def test_only_top_level_functions_are_entry_points(code: str) -> None:
    with pytest.raises(InvalidInput, match="no top-level function"):
        signature_of(code, "f")


def test_a_syntax_error_names_its_line() -> None:
    with pytest.raises(InvalidInput, match="line 2") as refused:
        signature_of("def f():\n    return (\n", "f")
    assert refused.value.extra["line"] == 2


def test_code_that_breaks_the_parser_is_refused_not_a_crash() -> None:
    with pytest.raises(InvalidInput, match="cannot read"):
        signature_of("(" * 5000 + ")" * 5000, "f")
    assert top_level_functions("def f(:\n") == []


def test_errors_that_differ_only_in_values_share_a_fingerprint() -> None:
    first = error_fingerprint("ValueError", "could not convert string to float: '1.234,56' in row 17")
    second = error_fingerprint("builtins.ValueError", "could not convert string to float: '99,10'  in row 4")
    assert first == second


def test_line_numbers_and_callers_do_not_split_a_fingerprint() -> None:
    inner = [
        "pandas/io/parsers.py:12 in read",
        "pandas/core/frame.py:80 in __init__",
        "pandas/core/x.py:7 in f",
    ]
    moved = ["app/main.py:1 in main", "pandas/io/parsers.py:44 in read", "pandas/core/frame.py:81 in __init__",
             "pandas/core/x.py:9 in f"]  # fmt: skip
    assert error_fingerprint("KeyError", "'a'", inner) == error_fingerprint("KeyError", "'b'", moved)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("ValueError", "month must be in 1..12"), ("ValueError", "day is out of range for month")),
        (("KeyError", "'a'"), ("IndexError", "'a'")),
        (("OSError", "No such file: /tmp/a.csv"), ("OSError", "Permission denied: /tmp/a.csv")),
    ],
)
def test_different_errors_have_different_fingerprints(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert error_fingerprint(*one) != error_fingerprint(*other)


def test_a_check_needs_a_result_and_json_values() -> None:
    with pytest.raises(InvalidInput, match="result"):
        clean_check({"args": []}, {})
    with pytest.raises(InvalidInput, match="plain JSON"):
        clean_check({"args": [float("nan")], "result": 1}, {})
    with pytest.raises(InvalidInput, match="plain JSON"):
        clean_check({"args": [{1: 2}], "result": 1}, {})
    with pytest.raises(InvalidInput, match="at most 65,536"):
        clean_check({"args": ["x" * 70_000], "result": 1}, {})


def test_a_check_brings_no_files_of_its_own() -> None:
    kept = clean_check({"result": None, "inputs": {"evil.csv": "0"}}, {"sales.csv": "ab"})
    assert kept == {"args": [], "kwargs": {}, "result": None, "inputs": {"sales.csv": "ab"}}


@pytest.mark.parametrize("text", ["{", "[1,]", "NaN", "[" * 100_000])
def test_what_is_not_json_is_said(text: str) -> None:
    with pytest.raises(InvalidInput, match="not JSON"):
        parse_json(text, "args")


@given(
    st.recursive(
        st.none() | st.floats() | st.text() | st.integers(),
        lambda v: st.lists(v) | st.dictionaries(st.text(), v),
    )
)
def test_anything_becomes_json_that_the_database_takes(value: object) -> None:
    import json

    text = json.dumps(storable_json(value), allow_nan=False, ensure_ascii=False)
    assert "\\u0000" not in text
    text.encode("utf-8")

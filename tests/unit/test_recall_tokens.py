"""Words for search: code and prose fall into the same words, so that each finds the other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_hub.recall.tokens import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pd.read_csv", ["pd", "pandas", "readcsv", "read", "csv"]),
        ("DataFrame", ["dataframe", "data", "frame"]),
        ("parseHTTPResponse2", ["parsehttpresponse2", "parse", "http", "response", "2"]),
        ("__init__", ["init"]),
        ("utf8", ["utf8", "utf", "8"]),
        ("row['Amount due']", ["row", "amount", "due"]),
        ("größe naïve", ["größe", "naïve"]),
        ("1,5 2010-11-13", ["1", "5", "2010", "11", "13"]),
        ("_ __ . - ''", []),
    ],
)
def test_a_text_falls_into_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_function_is_found_by_the_words_of_a_question() -> None:
    assert set(words("read a csv with pandas")) - {"a", "with"} <= set(words("df = pd.read_csv(path)"))


@given(st.text())
def test_words_hold_nothing_that_means_something_to_a_query(text: str) -> None:
    for word in words(text):
        assert word
        assert len(word) <= 60
        assert not set(word) & set("'&|!():*<>\\ _\x00")


@given(st.lists(st.sampled_from(["read", "csv", "pandas", "2010", "größe"])))
def test_plain_words_come_back_in_order_and_in_lower_case(plain: list[str]) -> None:
    assert words(" ".join(word.title() for word in plain)) == plain


def test_a_huge_text_is_bounded() -> None:
    assert len(words("read_csv " * 100_000)) == 4_000
    assert len(words("x" * 1_000_000)[0]) == 60

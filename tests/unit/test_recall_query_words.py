"""Filters in a question: what is taken out, what stays words, and that writing them down and reading is the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_hub.recall.query_words import (
    NAMES,
    clean,
    only,
    pairs_of,
    parse,
    read_parameters,
    together,
    without,
    word_of,
)

TRACEBACK = """Traceback (most recent call last):
  File "task.py", line 1, in <module>
    run(status:approved lib:pandas )
KeyError: 'TOTAL'
"""


def test_filters_are_taken_out_and_the_words_stay() -> None:
    asked = parse("add up lib:pandas amounts status:approved check:passed per month")
    assert asked.words == "add up amounts per month"
    assert asked.filters == {"status": ("approved",), "check": ("passed",), "lib": ("pandas",)}
    assert asked.notes == ()


def test_every_filter_of_the_documentation_is_read() -> None:
    text = (
        "lib:pandas status:approved check:passed error:KeyError tag:csv author:bob kind:algorithm quality:0.5"
        " sandbox:landlock in:first-light"
    )
    asked = parse(text)
    assert asked.words == ""
    assert set(asked.filters) == set(NAMES)
    assert asked.filters["error"] == ("KeyError",)
    assert asked.filters["quality"] == ("0.5",)


@pytest.mark.parametrize("text", ['author:"Bob Smith"', "author:'Bob Smith'", 'author:"  Bob   Smith "'])
def test_a_quoted_value_may_hold_spaces(text: str) -> None:
    assert parse(f"sum {text} rows").filters == {"author": ("Bob Smith",)}
    assert parse(f"sum {text} rows").words == "sum rows"


def test_a_quote_that_does_not_end_is_a_word() -> None:
    asked = parse('author:"Bob Smith')
    assert (asked.words, asked.filters) == ('author:"Bob Smith', {})


def test_another_name_for_a_filter_is_the_same_filter() -> None:
    assert parse("verification:passed library:numpy project:acme/ledger").filters == {
        "check": ("passed",), "in": ("acme/ledger",), "lib": ("numpy",),
    }  # fmt: skip


def test_an_unknown_name_stays_words_and_is_said() -> None:
    asked = parse("colour:blue lib:numpy")
    assert asked.words == "colour:blue"
    assert asked.filters == {"lib": ("numpy",)}
    assert "“colour:” is no filter, so colour:blue was searched as words." in asked.notes[0]


def test_an_unknown_value_stays_words_and_is_said() -> None:
    for text in ("status:nonsense", "quality:high", "quality:7", "quality:nan"):
        asked = parse(text)
        assert (asked.words, asked.filters) == (text, {})
        assert asked.notes[0].startswith(f"{text} was searched as words: "), text


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/a",
        "std::vector",
        "a:b",
        "df.loc[a:b]",
        "KeyError:'TOTAL'",
        "lib: pandas",
        "KeyError: 'TOTAL'",
        "x :=1",
        "C:\\data",
    ],
)
def test_what_only_looks_a_little_like_a_filter_is_plain_words(text: str) -> None:
    asked = parse(text)
    assert (asked.words, asked.filters, asked.notes) == (text, {}, ())


def test_a_pasted_traceback_stays_whole() -> None:
    asked = parse(TRACEBACK)
    assert (asked.words, asked.filters) == (TRACEBACK.strip(), {})


def test_an_error_in_one_line_may_have_filters_beside_it() -> None:
    assert parse("KeyError: 'TOTAL' lib:pandas").words == "KeyError: 'TOTAL'"
    assert parse("KeyError: 'TOTAL' lib:pandas").filters == {"lib": ("pandas",)}


def test_values_are_made_alike() -> None:
    assert clean("kind", "Data Transformation") == "data_transformation"
    assert clean("kind", "api-recipe") == "api_recipe"
    assert clean("quality", "50%") == "0.5"
    assert clean("tag", " CSV ") == "csv"
    assert clean("error", "KeyError") == "KeyError"


def test_parameters_of_an_address_are_the_same_filters() -> None:
    filters, notes = read_parameters(
        [("q", "sum"), ("lib", "pandas, numpy"), ("verification", "passed"), ("status", ""), ("page", "2")]
    )
    assert filters == {"check": ("passed",), "lib": ("pandas", "numpy")}
    assert notes == ()


def test_a_parameter_that_is_not_known_is_left_out_and_said() -> None:
    filters, notes = read_parameters([("status", "nonsense")])
    assert filters == {}
    assert "The filter status:nonsense was left out: status is one of approved" in notes[0]


def test_filters_are_put_together_and_dropped_one_by_one() -> None:
    both = together({"tag": ("csv",)}, {"tag": ("json", "csv"), "lib": ("pandas",)})
    assert both == {"lib": ("pandas",), "tag": ("csv", "json")}
    assert without(both, ("tag", "csv")) == {"lib": ("pandas",), "tag": ("json",)}
    assert without(both, ("tag", "csv"), ("tag", "json")) == {"lib": ("pandas",)}
    assert only(both, ["tag"]) == {"tag": ("csv", "json")}


_names = st.sampled_from(sorted(NAMES))


@st.composite
def _pairs(draw: st.DrawFn) -> tuple[str, str]:
    name = draw(_names)
    choices = NAMES[name][1]
    if name == "quality":
        return name, clean(name, str(draw(st.floats(0, 1))))
    value = draw(st.sampled_from(choices) if choices else st.text(min_size=1, max_size=30))
    try:
        return name, clean(name, value)
    except ValueError:
        return name, clean(name, "x")


@given(st.lists(_pairs(), max_size=8), st.lists(st.from_regex(r"\A[a-z]{1,9}\Z"), max_size=5))
def test_what_is_written_down_is_read_the_same(pairs: list[tuple[str, str]], words: list[str]) -> None:
    filters = together(pairs)
    text = " ".join([*words, *(word_of(name, value) for name, value in pairs_of(filters))])
    asked = parse(text)
    assert asked.filters == filters
    assert asked.words == " ".join(words)
    assert asked.notes == ()


@given(st.text(max_size=200))
def test_any_text_can_be_taken_apart_and_what_is_left_has_no_filters(text: str) -> None:
    asked = parse(text)
    assert set(asked.filters) <= set(NAMES)
    assert parse(asked.words).filters == {} or asked.filters

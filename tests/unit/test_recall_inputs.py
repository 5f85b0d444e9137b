"""How alike the data at hand and the data a solution was proven on are."""

from typing import Any

import pytest

from memory_hub.recall.inputs import likeness

SALES: dict[str, Any] = {
    "kind": "csv", "encoding": "utf-8", "delimiter": ";", "decimal_mark": ",", "size_bytes": 4_000,
    "columns": [{"name": "Order Date", "type": "date"}, {"name": "amount", "type": "number"}],
}  # fmt: skip
PENGUINS: dict[str, Any] = {
    "kind": "csv", "encoding": "utf-8", "delimiter": ",", "decimal_mark": ".", "size_bytes": 15_000,
    "columns": [{"name": "species", "type": "text"}, {"name": "island", "type": "text"}],
}  # fmt: skip
PICTURE: dict[str, Any] = {"kind": "png", "size_bytes": 90_000}


def test_the_same_profile_is_as_alike_as_can_be() -> None:
    assert likeness({"a.csv": SALES}, {"b.csv": SALES}) == pytest.approx(1.0)


def test_names_of_columns_are_compared_as_words() -> None:
    other = {
        **SALES,
        "columns": [{"name": "order_date", "type": "date"}, {"name": "Amounts", "type": "number"}],
    }
    assert likeness({"a.csv": SALES}, {"b.csv": other}) == pytest.approx(1.0)


def test_other_columns_are_less_alike_and_another_kind_of_file_least() -> None:
    same, other, picture = (
        likeness({"a": SALES}, {"b": proven}) or 0 for proven in (SALES, PENGUINS, PICTURE)
    )
    assert same > other > picture


def test_a_column_of_another_type_counts_less() -> None:
    text = {
        **SALES,
        "columns": [{"name": "Order Date", "type": "text"}, {"name": "amount", "type": "number"}],
    }
    assert 0.5 < (likeness({"a": SALES}, {"b": text}) or 0) < 1


def test_each_file_has_its_best_partner() -> None:
    assert likeness({"a": SALES, "b": PENGUINS}, {"x": PENGUINS, "y": SALES}) == pytest.approx(1.0)


@pytest.mark.parametrize(("at_hand", "proven"), [({}, {"a": SALES}), ({"a": SALES}, {}), ({}, {})])
def test_where_nothing_is_known_nothing_is_said(at_hand: Any, proven: Any) -> None:
    assert likeness(at_hand, proven) is None


@pytest.mark.parametrize(
    "odd", [{}, {"columns": "a,b"}, {"columns": [1, None]}, {"size_bytes": "many"}, {"kind": None}]
)
def test_a_profile_of_another_make_is_no_error(odd: dict[str, Any]) -> None:
    assert 0 <= (likeness({"a": odd}, {"b": SALES}) or 0) <= 1

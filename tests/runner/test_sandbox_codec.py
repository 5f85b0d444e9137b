"""Wire values: what crosses the boundary unchanged, and what a hostile sender can do with them (nothing)."""

from __future__ import annotations

import datetime
import decimal
import json
import math
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_runner.sandboxes.inside import codec

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary(),
    st.decimals(allow_nan=False), st.dates(), st.datetimes(), st.times(), st.timedeltas(), st.complex_numbers(allow_nan=False),
)  # fmt: skip
HASHABLE = st.one_of(st.integers(), st.text(), st.tuples(st.integers(), st.text()))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(HASHABLE, st.just("$")), inner, max_size=4),
        st.tuples(inner, inner),
        st.sets(HASHABLE, max_size=4),
        st.frozensets(HASHABLE, max_size=4),
    ),
    max_leaves=20,
)


def there_and_back(value: Any) -> Any:
    data = codec.dumps(codec.encode(value, max_bytes=1 << 20, lossy=False))
    return codec.decode(codec.loads(data, max_bytes=1 << 24))


@given(VALUES)
def test_every_plain_value_comes_back_equal_and_of_the_same_type(value: Any) -> None:
    again = there_and_back(value)
    assert again == value
    assert type(again) is type(value)


def test_not_a_number_comes_back() -> None:
    assert math.isnan(there_and_back(float("nan")))


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3), np.array(2.5), np.array([True, False]), np.array(["a", "bb"]),
        np.array(["2024-01-01"], dtype="M8[D]"), np.array([1 + 2j]), np.zeros((0, 3)), np.array([1, "a", None], dtype=object),
    ],
)  # fmt: skip
def test_arrays_come_back_equal(array: np.ndarray) -> None:
    again = there_and_back(array)
    assert again.shape == array.shape
    assert again.dtype == array.dtype
    assert again.tolist() == array.tolist()


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": pd.to_datetime(["2024-01-01", None]), "d": [0.5, np.nan]}),
        pd.DataFrame({"a": [1, 2, 3]}, index=["x", "y", "z"]),
        pd.DataFrame([[1, 2], [3, 4]], columns=["same", "same"]),
        pd.DataFrame({"t": pd.date_range("2024-01-01", periods=2, tz="Europe/Berlin")}),
        pd.DataFrame({"n": pd.array([1, None], dtype="Int64"), "c": pd.Categorical(["x", "y"])}),
        pd.DataFrame(),
    ],
)  # fmt: skip
def test_tables_come_back_equal(frame: pd.DataFrame) -> None:
    again = there_and_back(frame)
    pd.testing.assert_frame_equal(
        again, frame, check_dtype=False, check_index_type=False, check_column_type=False
    )
    assert [str(kind) for kind in again.dtypes] == [str(kind) for kind in frame.dtypes]


def test_numpy_scalars_become_plain_numbers() -> None:
    assert there_and_back([np.int64(3), np.float32(0.5), np.bool_(True)]) == [3, 0.5, True]


def test_what_is_plain_json_stands_for_itself() -> None:
    value = {"a": [1, 2.5, "x", None, True, {"b": []}]}
    assert codec.encode(value, max_bytes=1000, lossy=False) == value


def test_a_value_without_exact_form_is_refused_or_becomes_text() -> None:
    with pytest.raises(codec.Unencodable, match="type function"):
        codec.encode([lambda: 1], max_bytes=1000, lossy=False)
    assert codec.decode(codec.encode([len], max_bytes=1000, lossy=True)) == ["<built-in function len>"]


def test_size_and_depth_are_limited() -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    for value in ("x" * 2000, list(range(2000)), deep, b"x" * 2000, np.zeros(1000)):
        with pytest.raises(codec.Unencodable):
            codec.encode(value, max_bytes=1000, lossy=False)
    circle: list[Any] = []
    circle.append(circle)
    assert codec.decode(codec.encode(circle, max_bytes=1000, lossy=True)) == "[[...]]"


HOSTILE = [
    '{"$": "array", "v": "AAAA", "dtype": "|O8", "shape": [1]}',
    '{"$": "array", "v": "AAAAAAAA", "dtype": "<i8", "shape": [99999999999]}',
    '{"$": "array", "v": [], "dtype": "O", "shape": [9999999999]}',
    '{"$": "array", "v": "AAAAAAAA", "dtype": "<i4,<i4", "shape": [1]}',
    '{"$": "frame", "v": [], "columns": [], "dtypes": [], "rows": 999999999999, "index": null}',
    '{"$": "frame", "v": [[1]], "columns": ["a"], "dtypes": ["os.system"], "rows": 2, "index": null}',
    '{"$": "frame", "v": 1}', '{"$": "decode", "v": 1}', '{"$": "many", "v": 1}', '{"$": "__init__", "v": 1}',
    '{"$": 5, "v": 1}', '{"$": null}', '{"$": "tuple", "v": "text"}', '{"$": "dict", "v": [[[], 1]]}',
    '{"$": "set", "v": [[]]}', '{"$": "bytes", "v": "%%%"}', '{"$": "datetime", "v": 5}', '{"$": "timedelta", "v": [1]}',
    '{"$": "timedelta", "v": [1e300, 0, 0]}', '{"$": "complex", "v": [1]}', '{"$": "timestamp", "v": [1, "../etc", "ns"]}',
    '{"$": "timestamp", "v": [1, null, "x"]}', '{"$": "int", "v": "1e5"}', '{"$": "decimal", "v": "x"}',
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_malformed_wire_values_are_an_error_and_nothing_else(text: str) -> None:
    with pytest.raises(codec.CodecError):
        codec.decode(json.loads(text))


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" + b"{}," * 2_000_000 + b"{}]",
        b"1" * 10_000,
        b"\xff",
        b"",
        b"NaN" * 9,
    ],
)
def test_json_that_would_grow_or_break_is_refused_quickly(data: bytes) -> None:
    began = time.monotonic()
    with pytest.raises(codec.CodecError):
        codec.loads(data, max_bytes=24 << 20)
    assert time.monotonic() - began < 2


def test_long_text_full_of_commas_is_not_mistaken_for_many_parts() -> None:
    data = codec.dumps("a,b\n" * 500_000)
    assert len(codec.loads(data, max_bytes=24 << 20)) == 2_000_000


def test_a_decimal_and_a_date_are_not_confused_with_their_text() -> None:
    assert there_and_back([decimal.Decimal("1.0"), "1.0", datetime.date(2024, 1, 1), "2024-01-01"]) == [
        decimal.Decimal("1.0"), "1.0", datetime.date(2024, 1, 1), "2024-01-01",
    ]  # fmt: skip

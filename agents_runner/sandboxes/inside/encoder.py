"""Python values -> wire values; see codec.py. Works on hostile objects, so it runs inside the sandbox's limits."""

from __future__ import annotations

import base64
import math
import re
import sys
from collections.abc import Iterable
from typing import Any

Json = Any

MAX_NODES = 200_000
MAX_DEPTH = 60
TEXT_CHARACTERS = 20_000
LARGEST_PLAIN_INT = 2**53 - 1
FLAT_DTYPE = re.compile(r"[<>|=]?[biufc]\d{1,2}|[<>|=]?[mM]8\[\d{0,4}(Y|M|W|D|h|m|s|ms|us|ns)\]")


class Unencodable(ValueError):
    """A value that has no exact wire form, or one larger than allowed. The text says why."""


class Encoder:
    """Encodes one value within a budget of bytes (approximate, of the JSON text), nodes and depth.

    lossy: a part without an exact form becomes its text ({"$": "text"}) instead of raising Unencodable.
    """

    def __init__(self, *, max_bytes: int, lossy: bool, max_nodes: int = MAX_NODES) -> None:
        self.bytes_left = max_bytes
        self.nodes_left = max_nodes
        self.lossy = lossy

    def spend(self, size: int) -> None:
        self.nodes_left -= 1
        self.bytes_left -= size
        if self.bytes_left < 0 or self.nodes_left < 0:
            raise Unencodable("it is too large")

    def encode(self, value: Any, depth: int = 0) -> Json:
        """The wire form of `value`. Raises Unencodable."""
        if depth > MAX_DEPTH:
            raise Unencodable("it is nested too deeply")
        if value is None or value is True or value is False:
            self.spend(5)
            return value
        kind = type(value)
        module = getattr(kind, "__module__", "")
        if isinstance(module, str) and module.partition(".")[0] in ("numpy", "pandas"):
            return self.scientific(value, kind, depth)
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, int):
            return self.integer(value)
        if isinstance(value, float):
            return self.real(value)
        if isinstance(value, dict):
            return self.mapping(value, depth)
        if isinstance(value, list):
            self.spend(2)
            return [self.encode(item, depth + 1) for item in list.__iter__(value)]
        if isinstance(value, tuple):
            return self.tagged("tuple", self.sequence(tuple.__iter__(value), depth))
        if isinstance(value, (set, frozenset)):
            return self.tagged("set" if isinstance(value, set) else "frozenset", self.sequence(value, depth))
        if isinstance(value, (bytes, bytearray)):
            return self.binary(value)
        return self.rare(value, kind, depth)

    def tagged(self, tag: str, value: Json, **more: Json) -> Json:
        self.spend(16)
        return {"$": tag, "v": value, **more}

    def sequence(self, values: Iterable[Any], depth: int) -> list[Json]:
        return [self.encode(value, depth + 1) for value in values]

    def text(self, value: str) -> str:
        value = str.__str__(value)
        if not value.isascii():
            value = value.encode("utf-8", "replace").decode(
                "utf-8"
            )  # lone surrogates cannot be stored anywhere
            self.spend(2 + 6 * len(value))
        else:
            self.spend(2 + len(value))
        return value

    def integer(self, value: int) -> Json:
        value = int.__int__(value)
        if -LARGEST_PLAIN_INT <= value <= LARGEST_PLAIN_INT:
            self.spend(8)
            return value
        if value.bit_length() > 8_000:  # Python refuses longer ones as text, for good reason
            return self.opaque(value, f"<int of {value.bit_length()} bits>")
        return self.tagged("int", str(value))

    def real(self, value: float) -> Json:
        value = float.__float__(value)
        if math.isfinite(value):
            self.spend(12)
            return value
        return self.tagged("float", repr(value))

    def binary(self, value: bytes | bytearray | memoryview) -> Json:
        self.spend(len(value) * 4 // 3)
        return self.tagged("bytes", base64.b64encode(value).decode("ascii"))

    def mapping(self, value: dict[Any, Any], depth: int) -> Json:
        self.spend(2)
        items = list(dict.items(value))
        if all(type(key) is str for key, _ in items) and "$" not in value:
            return {self.text(key): self.encode(item, depth + 1) for key, item in items}
        pairs = [[self.encode(key, depth + 1), self.encode(item, depth + 1)] for key, item in items]
        return self.tagged("dict", pairs)

    def opaque(self, value: Any, text: str | None = None) -> Json:
        if not self.lossy:
            raise Unencodable(f"a value of type {type(value).__name__} has no exact JSON form")
        return self.tagged("text", self.text(describe(value) if text is None else text))

    def rare(self, value: Any, kind: type, depth: int) -> Json:
        import datetime
        import decimal
        import pathlib

        if isinstance(value, datetime.datetime):
            return self.tagged("datetime", value.isoformat())
        if isinstance(value, datetime.date):
            return self.tagged("date", value.isoformat())
        if isinstance(value, datetime.time):
            return self.tagged("time", value.isoformat())
        if isinstance(value, datetime.timedelta):
            return self.tagged("timedelta", [value.days, value.seconds, value.microseconds])
        if isinstance(value, decimal.Decimal):
            return self.tagged("decimal", str(value))
        if isinstance(value, complex):
            return self.tagged("complex", [self.real(value.real), self.real(value.imag)])
        if isinstance(value, pathlib.PurePath):
            return self.tagged("path", self.text(str(value)))
        return self.opaque(value)

    def scientific(self, value: Any, kind: type, depth: int) -> Json:
        """numpy and pandas objects; those packages are loaded already, since one of their objects exists."""
        numpy: Any = sys.modules.get("numpy")
        pandas: Any = sys.modules.get("pandas")
        if pandas is not None:
            if value is pandas.NaT or value is pandas.NA:
                return self.tagged("na", "NaT" if value is pandas.NaT else "NA")
            if isinstance(value, pandas.Timestamp):
                return self.tagged(
                    "timestamp", [int(value.value), str(value.tz) if value.tz else None, value.unit]
                )
            if isinstance(value, pandas.Timedelta):
                return self.tagged("timedelta64", [int(value.value), value.unit])
            if isinstance(value, pandas.DataFrame):
                return self.frame(value, depth)
            if isinstance(value, pandas.Series):
                return self.tagged(
                    "series", self.sequence(value.tolist(), depth), dtype=str(value.dtype),
                    name=self.encode(value.name, depth + 1), index=self.row_labels(value.index, depth),
                )  # fmt: skip
            if isinstance(value, pandas.Index):
                return self.tagged("index", self.sequence(value.tolist(), depth))
        if numpy is not None:
            if isinstance(value, numpy.ndarray):
                return self.array(value, depth)
            if isinstance(value, numpy.generic):
                plain = value.item()
                return (
                    self.opaque(value) if isinstance(plain, numpy.generic) else self.encode(plain, depth + 1)
                )
        return self.opaque(value)

    def array(self, value: Any, depth: int) -> Json:
        shape = [int(size) for size in value.shape]
        if FLAT_DTYPE.fullmatch(value.dtype.str):
            self.spend(value.nbytes * 4 // 3)
            data: Json = base64.b64encode(value.tobytes()).decode("ascii")
            return self.tagged("array", data, dtype=value.dtype.str, shape=shape)
        return self.tagged("array", self.sequence(value.ravel().tolist(), depth), dtype="O", shape=shape)

    def row_labels(self, index: Any, depth: int) -> Json:
        if type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1:
            return None
        return self.sequence(index.tolist(), depth)

    def frame(self, value: Any, depth: int) -> Json:
        if value.size > self.nodes_left:
            raise Unencodable("it is too large")
        columns = [value.iloc[:, position] for position in range(value.shape[1])]
        return self.tagged(
            "frame", [self.sequence(column.tolist(), depth + 1) for column in columns], rows=len(value),
            columns=self.sequence(value.columns.tolist(), depth), index=self.row_labels(value.index, depth),
            dtypes=[str(column.dtype) for column in columns],
        )  # fmt: skip


def describe(value: Any) -> str:
    """A short text for a value that cannot be sent; never raises an ordinary exception."""
    try:
        text = repr(value)
    except Exception as error:
        return f"<{type(value).__name__} whose repr raised {type(error).__name__}>"
    if not isinstance(text, str):
        return f"<{type(value).__name__}>"
    if len(text) > TEXT_CHARACTERS:
        text = f"{text[:TEXT_CHARACTERS]}... ({len(text)} characters)"
    return text

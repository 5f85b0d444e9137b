"""Values as JSON and back ("wire values"), the same code on both sides of the boundary. No pickle.

JSON types stand for themselves; everything else is an object {"$": tag, "v": ...}. Encoding gives up (Unencodable)
or falls back to shortened text when a value is too large, too deep or of a type without a safe form; decoding
believes nothing: unknown tags, wrong shapes and odd dtypes are a CodecError.
"""

from __future__ import annotations

import base64
import json
import math
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

Json = Any

MAX_NODES = 200_000
MAX_DEPTH = 60
TEXT_CHARACTERS = 20_000
LARGEST_PLAIN_INT = 2**53 - 1
FLAT_DTYPE = re.compile(r"[<>|=]?[biufc]\d{1,2}|[<>|=]?[mM]8\[\d{0,4}(Y|M|W|D|h|m|s|ms|us|ns)\]")
COLUMN_DTYPE = re.compile(
    r"u?int(8|16|32|64)|float(16|32|64)|complex(64|128)|bool|object|str|string|category"
    r"|U?Int(8|16|32|64)|Float(32|64)|boolean"
    r"|timedelta64\[(s|ms|us|ns)\]|datetime64\[(s|ms|us|ns)(, [\w/+:-]{1,40})?\]"
)


class CodecError(ValueError):
    """A wire value that is not well formed."""


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


def encode(value: Any, *, max_bytes: int, lossy: bool) -> Json:
    """The wire form of `value` in at most about `max_bytes` bytes of JSON. Raises Unencodable.

    With lossy=True a value that is too large as a whole becomes its text too, so that only a value whose very
    text is too large raises.
    """
    try:
        return Encoder(max_bytes=max_bytes, lossy=lossy).encode(value)
    except RecursionError:
        reason = "it is nested too deeply"
    except Unencodable as error:
        reason = str(error)
    if not lossy:
        raise Unencodable(reason)
    return {"$": "text", "v": Encoder(max_bytes=max_bytes, lossy=True).text(describe(value))}


def dumps(wire: Json) -> bytes:
    """Wire value -> JSON in ASCII."""
    return json.dumps(wire, separators=(",", ":"), allow_nan=False).encode("ascii")


STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')


def loads(data: bytes, *, max_bytes: int, max_nodes: int = 4 * MAX_NODES) -> Json:
    """JSON text from the other side -> JSON data, refused before parsing if it would grow out of bounds.

    Raises CodecError.
    """
    if len(data) > max_bytes:
        raise CodecError(f"{len(data)} bytes are more than {max_bytes}")

    def count(text: bytes) -> int:
        return text.count(b",") + text.count(b"[") + text.count(b"{")

    if count(data) > max_nodes and count(STRING.sub(b"0", data)) > max_nodes:
        raise CodecError(f"more than {max_nodes} parts")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CodecError(f"not JSON: {type(error).__name__}") from None


def decode(wire: Json, *, text: Callable[[str], str] = str) -> Any:
    """Wire value -> Python value. `text` is applied to every string value. Raises CodecError.

    numpy and pandas are imported only for a value that needs them.
    """
    try:
        return Decoder(text).decode(wire, 0)
    except CodecError:
        raise
    except (ArithmeticError, AttributeError, ImportError, LookupError, TypeError, ValueError) as error:
        raise CodecError(f"not a wire value: {type(error).__name__}: {str(error)[:200]}") from None


class Decoder:
    """The opposite of Encoder."""

    def __init__(self, text: Callable[[str], str]) -> None:
        self.text = text

    def decode(self, wire: Json, depth: int) -> Any:
        if depth > MAX_DEPTH + 10:
            raise CodecError("nested too deeply")
        if isinstance(wire, str):
            return self.text(wire)
        if isinstance(wire, list):
            return [self.decode(item, depth + 1) for item in wire]
        if not isinstance(wire, dict):
            return wire
        if "$" not in wire:
            return {key: self.decode(item, depth + 1) for key, item in wire.items()}
        tag, value = wire["$"], wire.get("v")
        method = getattr(self, f"decode_{tag}", None) if isinstance(tag, str) and tag.isalnum() else None
        if method is None:
            raise CodecError("unknown tag")
        return method(value, wire, depth + 1)

    def many(self, value: Json, depth: int) -> list[Any]:
        if not isinstance(value, list):
            raise CodecError("a list was expected")
        return [self.decode(item, depth) for item in value]

    def decode_text(self, value: Json, wire: Json, depth: int) -> Any:
        return self.text(str(value))

    def decode_int(self, value: Json, wire: Json, depth: int) -> Any:
        return int(str(value))

    def decode_float(self, value: Json, wire: Json, depth: int) -> Any:
        return float(str(value))

    def decode_tuple(self, value: Json, wire: Json, depth: int) -> Any:
        return tuple(self.many(value, depth))

    def decode_set(self, value: Json, wire: Json, depth: int) -> Any:
        return set(self.many(value, depth))

    def decode_frozenset(self, value: Json, wire: Json, depth: int) -> Any:
        return frozenset(self.many(value, depth))

    def decode_bytes(self, value: Json, wire: Json, depth: int) -> Any:
        return base64.b64decode(str(value), validate=True)

    def decode_dict(self, value: Json, wire: Json, depth: int) -> Any:
        return {self.decode(key, depth): self.decode(item, depth) for key, item in value}

    def decode_datetime(self, value: Json, wire: Json, depth: int) -> Any:
        import datetime

        return datetime.datetime.fromisoformat(value)

    def decode_date(self, value: Json, wire: Json, depth: int) -> Any:
        import datetime

        return datetime.date.fromisoformat(value)

    def decode_time(self, value: Json, wire: Json, depth: int) -> Any:
        import datetime

        return datetime.time.fromisoformat(value)

    def decode_timedelta(self, value: Json, wire: Json, depth: int) -> Any:
        import datetime

        days, seconds, microseconds = value
        return datetime.timedelta(int(days), int(seconds), int(microseconds))

    def decode_decimal(self, value: Json, wire: Json, depth: int) -> Any:
        import decimal

        return decimal.Decimal(str(value)[:10_000])

    def decode_complex(self, value: Json, wire: Json, depth: int) -> Any:
        real, imaginary = self.many(value, depth)
        return complex(float(real), float(imaginary))

    def decode_path(self, value: Json, wire: Json, depth: int) -> Any:
        import pathlib

        return pathlib.PurePosixPath(self.text(str(value)))

    def decode_na(self, value: Json, wire: Json, depth: int) -> Any:
        import pandas

        return pandas.NaT if value == "NaT" else pandas.NA

    def decode_timestamp(self, value: Json, wire: Json, depth: int) -> Any:
        import pandas

        nanoseconds, zone, unit = value
        return pandas.Timestamp(int(nanoseconds), unit="ns", tz=zone and str(zone)[:60]).as_unit(str(unit))

    def decode_timedelta64(self, value: Json, wire: Json, depth: int) -> Any:
        import pandas

        nanoseconds, unit = value
        return pandas.Timedelta(int(nanoseconds), unit="ns").as_unit(str(unit))

    def decode_array(self, value: Json, wire: Json, depth: int) -> Any:
        import numpy

        shape = [int(size) for size in wire["shape"]]
        if len(shape) > 32 or any(size < 0 for size in shape):
            raise CodecError("bad shape")
        if wire["dtype"] == "O":
            items = self.many(value, depth)
            if math.prod(shape) != len(items):
                raise CodecError("bad shape")
            array = numpy.empty(len(items), dtype=object)
            for position, item in enumerate(items):
                array[position] = item
            if items and all(type(item) is str for item in items):
                return array.astype(str).reshape(shape)
            return array.reshape(shape)
        if not FLAT_DTYPE.fullmatch(wire["dtype"]):
            raise CodecError("bad dtype")
        raw = base64.b64decode(str(value), validate=True)
        return numpy.frombuffer(raw, dtype=numpy.dtype(wire["dtype"])).reshape(shape).copy()

    def column(self, items: list[Any], dtype: Json, index: Any) -> Any:
        import pandas

        if isinstance(dtype, str) and COLUMN_DTYPE.fullmatch(dtype):
            try:
                return pandas.Series(items, index=index, dtype=dtype)
            except (TypeError, ValueError, OverflowError):
                pass
        return pandas.Series(items, index=index, dtype=object if items else None)

    def decode_series(self, value: Json, wire: Json, depth: int) -> Any:
        index = None if wire["index"] is None else self.many(wire["index"], depth)
        series = self.column(self.many(value, depth), wire["dtype"], index)
        series.name = self.decode(wire["name"], depth)
        return series

    def decode_index(self, value: Json, wire: Json, depth: int) -> Any:
        import pandas

        return pandas.Index(self.many(value, depth))

    def decode_frame(self, value: Json, wire: Json, depth: int) -> Any:
        import pandas

        columns = self.many(wire["columns"], depth)
        rows, dtypes = int(wire["rows"]), list(wire["dtypes"])
        if not 0 <= rows <= MAX_NODES or not len(columns) == len(dtypes) == len(value):
            raise CodecError("columns do not match")
        index = range(rows) if wire["index"] is None else self.many(wire["index"], depth)
        series = [
            self.column(self.many(items, depth), dtype, None)
            for items, dtype in zip(value, dtypes, strict=True)
        ]
        if any(len(column) != rows for column in series) or len(index) != rows:
            raise CodecError("rows do not match")
        frame = pandas.DataFrame(dict(enumerate(series)), index=range(rows))
        frame.columns = pandas.Index(columns)
        if wire["index"] is not None:
            frame.index = pandas.Index(index)
        return frame

"""Wire values -> Python values; see codec.py. Believes nothing: it also runs on the host, on what hostile code sent."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable
from typing import Any

from agents_runner.sandboxes.inside.encoder import FLAT_DTYPE, MAX_DEPTH, MAX_NODES, Json

COLUMN_DTYPE = re.compile(
    r"u?int(8|16|32|64)|float(16|32|64)|complex(64|128)|bool|object|str|string|category"
    r"|U?Int(8|16|32|64)|Float(32|64)|boolean"
    r"|timedelta64\[(s|ms|us|ns)\]|datetime64\[(s|ms|us|ns)(, [\w/+:-]{1,40})?\]"
)


class CodecError(ValueError):
    """A wire value that is not well formed."""


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

"""Values as JSON and back ("wire values"), the same code on both sides of the boundary. No pickle.

JSON types stand for themselves; everything else is an object {"$": tag, "v": ...}. Encoding gives up (Unencodable)
or falls back to shortened text when a value is too large, too deep or of a type without a safe form; decoding
believes nothing: unknown tags, wrong shapes and odd dtypes are a CodecError.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from agents_runner.sandboxes.inside.decoder import CodecError, Decoder
from agents_runner.sandboxes.inside.encoder import MAX_NODES, Encoder, Json, Unencodable, describe

__all__ = ["CodecError", "Encoder", "Unencodable", "decode", "dumps", "encode", "loads"]


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

"""Give the local names of a piece of code other names: what the same bug looks like in somebody else's program."""

from __future__ import annotations

import ast
import builtins
import keyword
import random
import re
from collections.abc import Iterator, Mapping

_NEW_NAMES = [
    "item",
    "record",
    "amount",
    "left",
    "right",
    "total",
    "index",
    "first",
    "second",
    "current",
    "result",
    "batch",
    "table",
    "column",
    "row",
    "group",
    "price",
    "node",
    "edge",
    "score",
    "level",
    "width",
    "height",
    "offset",
    "limit",
    "source",
    "target",
    "value",
    "entry",
    "step",
    "state",
    "chunk",
    "piece",
    "block",
    "part",
    "rest",
    "head",
    "tail",
    "line",
    "word",
    "letter",
    "digit",
    "token",
    "field",
    "image",
    "point",
    "weight",
    "cost",
    "rate",
    "speed",
    "depth",
    "factor",
    "bound",
    "buffer",
    "queue",
    "memo",
    "cache",
    "seen",
    "found",
]
# Words of code that does not parse, in places where names are given.
_GIVEN = (
    re.compile(r"\bdef\s+(\w+)\s*\(([^)]*)\)?"),
    re.compile(r"\bfor\s+([\w\s,()]+?)\s+in\b"),
    re.compile(r"^\s*((?:\w+\s*,\s*)*\w+)\s*(?:[-+*/%|&^]|//|\*\*|<<|>>)?=(?!=)", re.MULTILINE),
    re.compile(r"\blambda\s+([\w\s,]+):"),
)
_ANNOTATION = re.compile(r":[^,]*|=[^,]*")
_NAME = re.compile(r"[^\W\d]\w*")
# A text, which stays; or a name. What stands behind a dot is somebody else's, except behind self.
_TEXT_OR_NAME = re.compile(
    r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\bself\.(?P<own>[^\W\d]\w*)|(?<![.\w])(?P<name>[^\W\d]\w*)"""
)
_KEPT = frozenset(dir(builtins)) | frozenset(keyword.kwlist) | {"self", "cls"}
# Where a name stands in a message: in quotes, or as the function that was called.
_NAMED_IN_MESSAGE = re.compile(r"'(\w+)'|\b(\w+)(?=\(\))")


def new_names(code: str, seed: str) -> dict[str, str]:
    """Map each local name of the code (functions, parameters, variables) to a new one, the same for the same seed."""
    old = sorted(set(_local_names(code)) - _KEPT)
    chooser = random.Random(seed)
    spare = [name for name in _NEW_NAMES if not re.search(rf"\b{name}\b", code)]
    chooser.shuffle(spare)
    spare += [f"{one}_{two}" for one in spare for two in spare if one != two]
    return dict(zip(old, spare, strict=False))


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return the code, or a line of it, with its names replaced; not in texts, nor the attributes of others."""

    def replaced(found: re.Match[str]) -> str:
        if own := found["own"]:
            return f"self.{names.get(own, own)}"
        return names.get(found["name"] or "", found.group())

    return _TEXT_OR_NAME.sub(replaced, text)


def renamed_message(message: str, names: Mapping[str, str]) -> str:
    """Return the message with the names replaced that it quotes."""

    def replaced(found: re.Match[str]) -> str:
        old = found[1] or found[2]
        return found.group().replace(old, names.get(old, old))

    return _NAMED_IN_MESSAGE.sub(replaced, message)


def _local_names(code: str) -> Iterator[str]:
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        yield from _given_names(code)
        return
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(attr=name, value=ast.Name(id="self"), ctx=ast.Store()):
                yield name


def _given_names(code: str) -> Iterator[str]:
    for pattern in _GIVEN:
        for found in pattern.finditer(code):
            for part in found.groups():
                yield from _NAME.findall(_ANNOTATION.sub("", part or ""))

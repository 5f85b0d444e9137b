"""Exceptions as plain data: type, message, the agent's own failing line, a traceback without our frames."""

from __future__ import annotations

import builtins
import linecache
import traceback
from types import TracebackType
from typing import Any

MESSAGE_CHARACTERS = 8_000
FRAMES = 30
CHAIN = 4
OWN_FRAMES = "<sandbox "  # bundle.py gives our code such file names
SUBMITTED = ("<step ", "<memory")


def shorten(text: str, length: int = MESSAGE_CHARACTERS) -> str:
    if len(text) <= length:
        return text
    return f"{text[: length * 3 // 4]} ... ({len(text)} characters) ... {text[-length // 8 :]}"


def printable(text: str) -> str:
    """Without lone surrogates, which cannot be stored or sent."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def type_name(error: BaseException) -> str:
    kind = type(error)
    module = str(getattr(kind, "__module__", ""))
    name = str(getattr(kind, "__qualname__", "exception"))
    return name if module in ("builtins", "__main__") else f"{module}.{name}"


def message_of(error: BaseException) -> str:
    try:
        text = str(error)
        notes = getattr(error, "__notes__", None)
        if isinstance(notes, list):
            text = "\n".join([text, *(note for note in notes if isinstance(note, str))])
    except BaseException:
        return "<the exception's text could not be made>"
    return printable(shorten(text))


def frames_of(trace: TracebackType | None) -> list[traceback.FrameSummary]:
    """Frames from outermost to innermost; of a deep recursion the first and last ones."""
    walked = [
        item for item in traceback.walk_tb(trace) if not item[0].f_code.co_filename.startswith(OWN_FRAMES)
    ]
    if len(walked) > FRAMES:
        walked = walked[: FRAMES // 3] + walked[-2 * FRAMES // 3 :]
    found = []
    for frame, line in walked:
        name = frame.f_code.co_filename
        found.append(traceback.FrameSummary(name, line, frame.f_code.co_name, lookup_line=False,
                                            line=linecache.getline(name, line, frame.f_globals).strip()))  # fmt: skip
    return found


def format_one(error: BaseException) -> str:
    frames = frames_of(error.__traceback__)
    lines = ["Traceback (most recent call last):\n", *traceback.format_list(frames)] if frames else []
    if isinstance(error, SyntaxError):
        lines += traceback.format_exception_only(type(error), error)
    else:
        text = message_of(error)
        lines.append(f"{type_name(error)}: {text}" if text else type_name(error))
    return shorten("".join(lines), 16_000)


def format_chain(error: BaseException) -> str:
    parts = [format_one(error)]
    seen = {id(error)}
    current = error
    while len(parts) < 2 * CHAIN:
        cause, context = current.__cause__, current.__context__
        if cause is not None:
            before, joint = cause, "The above exception was the direct cause of the following exception:"
        elif context is not None and not current.__suppress_context__:
            before, joint = context, "During handling of the above exception, another exception occurred:"
        else:
            break
        if id(before) in seen:
            break
        seen.add(id(before))
        parts += [joint, format_one(before)]
        current = before
    return "\n\n".join(part.rstrip("\n") for part in reversed(parts))


def place_of(error: BaseException) -> dict[str, Any]:
    """Where in the submitted code it happened."""
    name: str | None = None
    line: int | None = None
    if isinstance(error, SyntaxError) and str(error.filename).startswith(SUBMITTED):
        name, line = str(error.filename), error.lineno
    else:
        for frame, number in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_filename.startswith(SUBMITTED):
                name, line = frame.f_code.co_filename, number
    if name is None or line is None:
        return {}
    source = linecache.getline(name, line).strip()
    return {"line": line, "source_name": name, "source_line": printable(shorten(source, 400))}


def describe(error: BaseException) -> dict[str, Any]:
    """The record of an exception as JSON data; never raises."""
    try:
        message = message_of(error)
        if isinstance(error, SyntaxError):
            message = printable(shorten(str(error.msg)))
        record = {"type": printable(type_name(error)), "message": message, "traceback": ""}
        record.update(place_of(error))
        record["traceback"] = printable(format_chain(error))
        return record
    except BaseException as failed:
        return {
            "type": "RuntimeError",
            "message": f"the exception could not be described ({type(failed).__name__})",
        }


class ToolError(RuntimeError):
    """A tool failed on the host with an exception that is not one of Python's own."""


ToolError.__module__ = "builtins"


def raise_tool_error(error: dict[str, str]) -> None:
    """Raise inside what a tool raised on the host: the same built-in exception, else ToolError."""
    kind = getattr(builtins, error["type"], None)
    if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, UnicodeError):
        raise kind(error["message"])
    raise ToolError(f"{error['type']}: {error['message']}" if error["type"] else error["message"])

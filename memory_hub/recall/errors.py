"""An error as search needs it, from its parts or from a pasted traceback in any dialect that agents produce."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .values import ErrorDetails

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_LAST_LINE = re.compile(r"^(?P<type>[A-Za-z_][\w.]*)(?::[ \t]*(?P<message>.*))?$", re.DOTALL)
_SMOLAGENTS = re.compile(
    r"Code execution failed at line '(?P<line>.*?)' due to:\s*(?P<type>[A-Za-z_][\w.]*)\s*:\s*(?P<message>.*)",
    re.DOTALL,
)
_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<number>\d+)(?:, in (?P<name>.+))?$')
_JUPYTER_ARROW = re.compile(r"^-+>\s*\d+\s+(?P<line>.*)$")
_HEADER = "Traceback (most recent call last)"
# What a one-line input makes of a pasted traceback: all its lines in one.
_IN_ONE_LINE = re.compile(r"^.*\b(?P<type>[A-Z]\w*(?:Error|Exception)):[ \t]*(?P<message>.*)$")
_SITE = re.compile(r"(?:site-packages|dist-packages|lib/python3\.\d+)/(?P<path>.+)$")
_MAX_CHARACTERS = 100_000


@dataclass(frozen=True, slots=True)
class ParsedError:
    """Class, full message, failing source line, and the frames of libraries as "package/path.py:line in name"."""

    exception_type: str = ""
    message: str = ""
    failing_line: str = ""
    library_frames: Sequence[str] = ()


def parse_error(error: ErrorDetails) -> ParsedError:
    """Return what is known of an error: the given parts first, the rest read from its traceback."""
    text = error.traceback or ("" if error.exception_type else error.message)
    read = parse_traceback(text)
    return ParsedError(
        exception_type=error.exception_type or read.exception_type,
        message=(error.message if error.exception_type else "") or read.message or error.message,
        failing_line=error.failing_line or read.failing_line,
        library_frames=read.library_frames,
    )


def parse_traceback(text: str) -> ParsedError:
    """Read a traceback of CPython, smolagents' local dialect or Jupyter (colours and all). Empty where it is none."""
    text = _ANSI.sub("", text[-_MAX_CHARACTERS:]).strip()
    said = _SMOLAGENTS.search(text)
    if said:
        return ParsedError(said["type"], said["message"].strip(), said["line"].strip())
    lines = text.splitlines()
    if len(lines) == 1 and _HEADER in text:
        folded = _IN_ONE_LINE.match(text)
        return ParsedError(folded["type"], folded["message"].strip()) if folded else ParsedError()
    last = _last_line(lines)
    if last is None:
        return ParsedError()
    match = _LAST_LINE.match("\n".join(lines[last:]).strip())
    if match is None:
        return ParsedError()
    frames, failing = _frames(lines[:last])
    return ParsedError(match["type"], (match["message"] or "").strip(), failing, frames)


def looks_like_error(text: str) -> bool:
    """Say whether a pasted text is an error rather than a question."""
    return (
        _HEADER in text
        or bool(parse_traceback(text).failing_line)
        or bool(re.match(r"^\s*[A-Za-z_][\w.]*(?:Error|Exception)\s*:", text))
    )


def _last_line(lines: Sequence[str]) -> int | None:
    """Return where "Class: message" begins: at the margin below the last traceback's head, whatever the class is
    called; without a head, the last line that names an exception."""
    headers = [index for index, line in enumerate(lines) if line.startswith(_HEADER)]
    if headers:
        below = range(headers[-1] + 1, len(lines))
        at_margin = [index for index in below if lines[index][:1].strip()]
        return next((index for index in at_margin if _LAST_LINE.match(lines[index])), None)
    return next((index for index in range(len(lines) - 1, -1, -1) if _is_last_line(lines, index)), None)


def _is_last_line(lines: Sequence[str], index: int) -> bool:
    line = lines[index]
    match = _LAST_LINE.match(line)
    if match is None or line[:1].isspace():
        return False
    named = re.search(r"(Error|Exception|Warning|Exit|Interrupt|Iteration|Fault)$", match["type"])
    return bool(named) or (match["message"] is not None and "." in match["type"])


def _frames(lines: Sequence[str]) -> tuple[list[str], str]:
    library: list[str] = []
    failing = ""
    for index, line in enumerate(lines):
        arrow = _JUPYTER_ARROW.match(line)
        if arrow:
            failing = arrow["line"].strip()
        frame = _FRAME.match(line)
        if frame is None:
            continue
        site = _SITE.search(frame["file"])
        if site:
            library.append(f"{site['path']}:{frame['number']} in {frame['name'] or '?'}")
        elif index + 1 < len(lines) and not _FRAME.match(lines[index + 1]):
            failing = lines[index + 1].strip()
    return library, failing

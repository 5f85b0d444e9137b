"""An error as search needs it, from its parts or from a pasted traceback in any dialect that agents produce."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .values import ErrorDetails

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
# The end of a traceback: a class, perhaps with its module, and perhaps a message.
_LAST_LINE = re.compile(r"(?P<type>[A-Za-z_][\w.]*)(?::[ \t]*(?P<message>.*))?", re.DOTALL)
_CLASS_NAME = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception|Warning|Exit|Interrupt|Iteration|Fault)")
_SMOLAGENTS = re.compile(
    r"Code execution failed at line '(?P<line>.*?)' due to:\s*(?P<type>[A-Za-z_][\w.]*)\s*:\s*(?P<message>.*)",
    re.DOTALL,
)
_FRAME = re.compile(r'\s*File "(?P<file>[^"]+)", line (?P<number>\d+)(?:, in (?P<name>.+))?')
_JUPYTER_FRAME = re.compile(r"(?:File )?(?P<file>[^\s:]+\.py)(?::(?P<number>\d+),)? in (?P<name>[^(\n]+)")
_JUPYTER_CELL = re.compile(r"(?:Cell In|Input In|<ipython-input)")
_JUPYTER_ARROW = re.compile(r"-+>\s*\d+\s+(?P<line>.*)")
_SITE = re.compile(r".*(?:site-packages|dist-packages|lib/python3\.\d+|python3\d*\.zip)/(?P<path>.+)$")
_HEADER = "Traceback (most recent call last)"
# What a one-line input makes of a pasted traceback: all its lines in one.
_IN_ONE_LINE = re.compile(r".*\b(?P<type>[A-Z]\w*(?:Error|Exception)):[ \t]*(?P<message>.*)")
_MAX_CHARACTERS = 100_000


@dataclass(frozen=True, slots=True)
class ParsedError:
    """Class, full message, failing source line, and the frames of libraries as "package/path.py:line in name"."""

    exception_type: str = ""
    message: str = ""
    failing_line: str = ""
    library_frames: Sequence[str] = ()
    code: str = ""


def parse_error(error: ErrorDetails) -> ParsedError:
    """Return what is known of an error: the given parts first, the rest read from its traceback."""
    text = error.traceback or ("" if error.exception_type else error.message)
    read = parse_traceback(text)
    return ParsedError(
        exception_type=error.exception_type or read.exception_type,
        message=(error.message if error.exception_type else "") or read.message or error.message,
        failing_line=error.failing_line or read.failing_line,
        library_frames=read.library_frames,
        code=error.code,
    )


def parse_traceback(text: str) -> ParsedError:
    """Read a traceback of CPython, smolagents' local dialect or Jupyter (colours and all). Empty where it is none."""
    text = _ANSI.sub("", text[-_MAX_CHARACTERS:]).strip()
    said = _SMOLAGENTS.search(text)
    if said:
        return ParsedError(said["type"], said["message"].strip(), said["line"].strip())
    lines = text.splitlines()
    if len(lines) == 1 and _HEADER in text:
        folded = _IN_ONE_LINE.fullmatch(text)
        return ParsedError(folded["type"], folded["message"].strip()) if folded else ParsedError()
    last = _last_line(lines)
    if last is None:
        return ParsedError()
    match = _LAST_LINE.fullmatch("\n".join(lines[last:]).strip())
    if match is None:
        return ParsedError()
    frames, failing = _frames(lines[:last])
    return ParsedError(match["type"], (match["message"] or "").strip(), failing, frames)


def looks_like_error(text: str) -> bool:
    """Say whether a text that somebody pasted or typed is an error rather than a question."""
    if _HEADER in text:
        return True
    first = text.strip().partition("\n")[0]
    named = _CLASS_NAME.match(first)
    return bool(named and first[named.end() :].lstrip()[:1] in ("", ":")) or bool(
        parse_traceback(text).failing_line
    )


def _last_line(lines: Sequence[str]) -> int | None:
    """Return where "Class: message" begins: at the margin below the last traceback's head, whatever the class is
    called; without a head, the last line that names an exception."""
    headers = [index for index, line in enumerate(lines) if line.startswith(_HEADER)]
    if headers:
        below = range(headers[-1] + 1, len(lines))
        return next((index for index in below if _LAST_LINE.fullmatch(lines[index])), None)
    return next((index for index in range(len(lines) - 1, -1, -1) if _is_last_line(lines[index])), None)


def _is_last_line(line: str) -> bool:
    match = _LAST_LINE.fullmatch(line)
    if match is None:
        return False
    # Libraries name some of their exceptions otherwise ("json.decoder.Oops: …"): then only with their module.
    return bool(_CLASS_NAME.fullmatch(match["type"])) or (
        match["message"] is not None and "." in match["type"]
    )


def _frames(lines: Sequence[str]) -> tuple[list[str], str]:
    library: list[str] = []
    failing = ""
    in_library = False
    for index, line in enumerate(lines):
        if frame := _FRAME.match(line) or _JUPYTER_FRAME.match(line):
            site = _SITE.match(frame["file"])
            in_library = site is not None
            if site:
                number = f":{frame['number']}" if frame["number"] else ""
                library.append(f"{site['path']}{number} in {(frame['name'] or '?').strip()}")
            elif _FRAME.match(line) and index + 1 < len(lines) and not _FRAME.match(lines[index + 1]):
                failing = lines[index + 1].strip()
        elif _JUPYTER_CELL.match(line):
            in_library = False
        elif (arrow := _JUPYTER_ARROW.match(line)) and not in_library:
            failing = arrow["line"].strip()
    return library, failing

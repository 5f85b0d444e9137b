"""An error as search needs it, from its parts or from a pasted traceback in any dialect that agents produce.

Of chained exceptions the last counts, which is the one that ended the program; of an exception group the first that is
in it, since the group itself says nothing of what went wrong.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from textwrap import dedent

from .values import ErrorDetails

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
# The end of a traceback: a class, perhaps with its module, and perhaps a message.
_LAST_LINE = re.compile(r"(?P<type>[A-Za-z_][\w.]*)(?::[ \t]*(?P<message>.*))?", re.DOTALL)
_CLASS_NAME = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception|Warning|Exit|Interrupt|Iteration|Fault)")
_SMOLAGENTS_HEAD = "Code execution failed at line '"
_SMOLAGENTS = re.compile(
    r"Code execution failed at line '(?P<line>.*?)' due to:\s*(?P<type>[A-Za-z_][\w.]*)\s*:\s*(?P<message>.*)",
    re.DOTALL,
)
_REPEATED = re.compile(r"\s*\[Previous line repeated ")
_FRAME = re.compile(r'\s*File "(?P<file>[^"]+)", line (?P<number>\d+)(?:, in (?P<name>.+))?')
_JUPYTER_FRAME = re.compile(r"(?:File )?(?P<file>[^\s:]+\.py)(?::(?P<number>\d+),)? in (?P<name>[^(\n]+)")
_JUPYTER_CELL = re.compile(r"(?:Cell In|Input In|<ipython-input)")
_JUPYTER_ARROW = re.compile(r"-+>\s*\d+\s+(?P<line>.*)")
_SITE = re.compile(r".*(?:site-packages|dist-packages|lib/python3\.\d+|python3\d*\.zip)/(?P<path>.+)$")
_HEADER = "Traceback (most recent call last)"
# What a one-line input makes of a pasted traceback: all its lines in one.
_FRAME_IN_LINE = re.compile(
    r'File "(?P<file>[^"]+)", line (?P<number>\d+)(?:, in (?P<name><\w+>|[\w.<>]+))?[ ]*'
)
_ENDING_IN_LINE = re.compile(
    r"(?P<line>.*?)(?:(?:^| )[~^]+)?(?:^| )"
    r"(?P<type>(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Iteration|Fault|Warning))"
    r"(?::[ \t]*(?P<message>.*))?"
)
# Exception groups stand in a frame of their own, each exception in it below a numbered line.
_GROUP = "Exception Group Traceback (most recent call last)"
_GROUP_PART = re.compile(r"^[ |]*\+[-+]* (?:\d+|\.\.\.) -+[ ]*$", re.MULTILINE)
_GROUP_END = re.compile(r"^[ |]*\+-+[ ]*$", re.MULTILINE)
_GROUP_MARGIN = re.compile(r"^[ ]*[|+][ ]?", re.MULTILINE)
_MAX_CHARACTERS = 100_000


@dataclass(frozen=True, slots=True)
class ParsedError:
    """Class, full message, failing source line, and the frames of libraries as "package/path.py:line in name".

    failing_number is the number of the failing line where its text is not shown; 0 where it is not known either. code
    is the program that failed.
    """

    exception_type: str = ""
    message: str = ""
    failing_line: str = ""
    library_frames: Sequence[str] = ()
    failing_number: int = 0
    code: str = ""


def parse_error(error: ErrorDetails) -> ParsedError:
    """Return what is known of an error: the given parts first, the rest read from its traceback."""
    text = error.traceback or ("" if error.exception_type else error.message)
    read = parse_traceback(text)
    return ParsedError(
        exception_type=error.exception_type or read.exception_type,
        message=(error.message if error.exception_type else "") or read.message or error.message,
        failing_line=error.failing_line or read.failing_line or _line_of(error.code, read.failing_number),
        library_frames=read.library_frames,
        code=error.code,
    )


def parse_traceback(text: str) -> ParsedError:
    """Read a traceback of CPython, smolagents' local dialect or Jupyter (colours and all). Empty where it is none."""
    text = _out_of_group(_plain(text))
    if said := _SMOLAGENTS.match(text, max(0, text.find(_SMOLAGENTS_HEAD))):
        return ParsedError(said["type"], said["message"].strip(), said["line"].strip())
    lines = text.splitlines()
    if len(lines) == 1 and _FRAME_IN_LINE.search(text):
        return _read_in_line(text)
    last = _last_line(lines)
    if last is None:
        return ParsedError()
    match = _LAST_LINE.fullmatch("\n".join(lines[last:]).strip())
    if match is None:
        return ParsedError()
    head = max((index for index, line in enumerate(lines[:last]) if _HEADER in line), default=0)
    frames, failing, number = _frames(lines[head:last])
    return ParsedError(match["type"], (match["message"] or "").strip(), failing, frames, number)


def _plain(text: str) -> str:
    """Return a pasted text without colours, and without what the whole of it is indented by."""
    return dedent(_ANSI.sub("", text[-_MAX_CHARACTERS:]).strip("\r\n")).strip()


def _out_of_group(text: str) -> str:
    """Return the first exception in a group, as if it stood alone; any other text as it is."""
    if _GROUP not in text:
        return text
    marks = list(_GROUP_PART.finditer(text))
    leaf = text
    for mark, following in zip_longest(marks, marks[1:]):
        if following is None or "+-+" not in following.group():  # else a group of its own opens below
            leaf = text[mark.end() : following.start() if following else None]
            break
    return _GROUP_MARGIN.sub("", _GROUP_END.split(leaf)[0]).strip()


def _read_in_line(text: str) -> ParsedError:
    """Read a traceback whose lines became one."""
    found = list(_FRAME_IN_LINE.finditer(text))
    ending = _ENDING_IN_LINE.match(text, found[-1].end())
    if ending is None:
        return ParsedError()
    library: list[str] = []
    failing = ""
    for frame, following in zip_longest(found, found[1:]):
        if site := _SITE.match(frame["file"]):
            library.append(_library_frame(site["path"], frame["number"], frame["name"]))
        else:
            source = text[frame.end() : following.start()] if following else ending["line"]
            failing = source.rstrip(" ~^").strip()
    return ParsedError(ending["type"], (ending["message"] or "").strip(), failing, library)


def _line_of(code: str, number: int) -> str:
    lines = code.splitlines()
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def looks_like_error(text: str) -> bool:
    """Say whether a text that somebody pasted or typed is an error rather than a question."""
    text = _plain(text)
    if _HEADER in text:
        return True
    first = text.partition("\n")[0]
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


def _frames(lines: Sequence[str]) -> tuple[list[str], str, int]:
    """Return the frames of libraries, the last line of one's own, and its number where no frame shows it."""
    library: list[str] = []
    failing, number = "", 0
    in_library = False
    for index, line in enumerate(lines):
        if frame := _FRAME.match(line) or _JUPYTER_FRAME.match(line):
            site = _SITE.match(frame["file"])
            in_library = site is not None
            if site:
                library.append(_library_frame(site["path"], frame["number"], frame["name"]))
            elif _FRAME.match(line) and not _is_frozen(frame["file"]):
                failing = _source_below(lines, index)
                number = 0 if failing else int(frame["number"])
        elif _JUPYTER_CELL.match(line):
            in_library = False
        elif (arrow := _JUPYTER_ARROW.match(line)) and not in_library:
            failing, number = arrow["line"].strip(), 0
    return library, failing, number


def _source_below(lines: Sequence[str], index: int) -> str:
    """Return the source line that a frame shows; many show none, as of code that was never in a file."""
    below = lines[index + 1] if index + 1 < len(lines) else ""
    return "" if _FRAME.match(below) or _REPEATED.match(below) else below.strip()


def _is_frozen(file: str) -> bool:
    """Say whether a frame is of the interpreter's own modules that have no source."""
    return file.startswith("<frozen ")


def _library_frame(path: str, number: str | None, name: str | None) -> str:
    return f"{path}{f':{number}' if number else ''} in {(name or '?').strip()}"

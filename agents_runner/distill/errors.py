"""Makes one StepError out of whatever an executor reports: a structured record, or text in one of four dialects.

Dialects: smolagents' local interpreter, our own sandbox, a plain CPython traceback, a Jupyter traceback with ANSI
colours (Docker, Modal, Blaxel, E2B). Input is untrusted: bounded, and matched line by line.
"""

from __future__ import annotations

import re
from typing import Any

from agents_runner.distill.trajectory import ErrorKind, StepError

TEXT_CHARACTERS = 200_000
MESSAGE_CHARACTERS = 8_000
FRAME_COUNT = 20

_ANSI = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b[@-Z\\-_]")
_EXCEPTION_LINE = re.compile(r"([A-Za-z_][\w.]*)(?::[ \t]?(.*))?")
_NAMED_EXCEPTION = re.compile(
    r"([A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit|Iteration|Group|NotFound)\w*):[ \t]?(.*)"
)
_LOCAL_RUN = re.compile(
    r"Code execution failed at line '(.*?)' due to: ([A-Za-z_][\w.]*):[ ]?(.*)", re.DOTALL
)
_LOCAL_PARSE = re.compile(
    r"Code parsing failed on line (\d+) due to: ([A-Za-z_][\w.]*)(?::[ ]?(.*))?", re.DOTALL
)
_SANDBOX_PLACE = re.compile(r"\n  at line (\d+) of [^\n:]*: ?([^\n]*)")
_FRAME = re.compile(r'^\s*File "([^"\n]+)", line (\d+)(?:, in (.+))?$')
_JUPYTER_HEAD = re.compile(r"^([A-Za-z_][\w.]*)\s+Traceback \(most recent call last\)")
_JUPYTER_CELL = re.compile(r"^(?:Cell |Input )?In ?\[\d*\]|^Cell In|^<ipython-input|^Input In")
_JUPYTER_FILE = re.compile(r"^File (\S+?):(\d+), in (\w+)")
_JUPYTER_ARROW = re.compile(r"^-+> ?(\d+) ?(.*)$")
_LIBRARY_PATH = re.compile(r".*(?:site-packages|dist-packages|lib/python3\.\d+|python3\d*\.zip)/(.+)$")
_TRACEBACK_HEAD = "Traceback (most recent call last):"

_SANDBOX_TYPES = {"timeout": "StepTimedOut", "cpu": "StepTimedOut", "interrupted": "StepInterrupted"}


def parse_error(text: str) -> StepError:
    """The StepError in the text of an agent's error (``str(step.error)``). Never raises; unknown text is kept whole."""
    text = strip_ansi(text[-TEXT_CHARACTERS:]).replace("\r\n", "\n")
    kind = _kind(text)
    if kind != "execution":
        return StepError(type="", message=text.strip()[:MESSAGE_CHARACTERS], kind=kind)
    for parse in (_parse_local, _parse_jupyter, _parse_traceback, _parse_plain):
        error = parse(text)
        if error is not None:
            return error
    return StepError(type="", message=text.strip()[:MESSAGE_CHARACTERS])


def from_sandbox(error: Any) -> StepError:
    """The StepError for a sandbox's structured record (``sandboxes.records.StepError``).

    A step that was stopped rather than raising is typed by what happened to it: StepTimedOut, StepInterrupted or
    StepKilled.
    """
    stopped = error.kind != "exception"
    return StepError(
        type=_SANDBOX_TYPES.get(error.kind, "StepKilled") if stopped else error.exception_type,
        message=error.message,
        line=error.source_line,
        line_number=error.line,
        traceback=error.traceback,
    )


def strip_ansi(text: str) -> str:
    """The text without terminal colours and cursor codes."""
    return _ANSI.sub("", text)


def library_frames(traceback: str) -> list[str]:
    """Frames of installed packages and the standard library, outermost first, as "pandas/core/x.py:12 in f".

    Where they are installed is left out. At most the 20 innermost.
    """
    frames = []
    for line in strip_ansi(traceback[-TEXT_CHARACTERS:]).splitlines():
        match = _FRAME.match(line) or _JUPYTER_FILE.match(line)
        library = _LIBRARY_PATH.search(match[1]) if match else None
        if match and library:
            frames.append(f"{library[1]}:{match[2]} in {match[3] or '<module>'}")
    return frames[-FRAME_COUNT:]


def module_line(error: StepError) -> int | None:
    """The line of the step's code at top level that was running when it failed, if the traceback tells."""
    for line in error.traceback.splitlines():
        match = _FRAME.match(line)
        if match and match[3] == "<module>" and not _LIBRARY_PATH.search(match[1]):
            return int(match[2])
    return None


def _kind(text: str) -> ErrorKind:
    if "the regex pattern" in text and "was not found in it" in text:
        return "parsing"
    if re.match(r"\s*Check \w+ failed with error", text):
        return "check"
    if re.match(r"\s*Reached max steps", text):
        return "limit"
    if re.match(r"\s*Agent interrupted", text):
        return "other"
    return "execution"


def _parse_local(text: str) -> StepError | None:
    match = _LOCAL_RUN.search(text)
    if match:
        return StepError(type=match[2], message=_message(match[3]), line=match[1].strip())
    match = _LOCAL_PARSE.search(text)
    if match:
        return StepError(type=match[2], message=_message(match[3] or ""), line_number=int(match[1]))
    return None


def _parse_jupyter(text: str) -> StepError | None:
    lines = text.split("\n")
    heads = [index for index, line in enumerate(lines) if _JUPYTER_HEAD.match(line)]
    if not heads:
        return None
    name = _JUPYTER_HEAD.match(lines[heads[-1]])[1]  # type: ignore[index]
    body = lines[heads[-1] + 1 :]
    in_cell, line, number = True, "", None
    message = ""
    for index, text_line in enumerate(body):
        arrow = _JUPYTER_ARROW.match(text_line)
        if arrow and in_cell:
            line, number = arrow[2].strip(), int(arrow[1])
        elif _JUPYTER_CELL.match(text_line):
            in_cell = True
        elif _JUPYTER_FILE.match(text_line) or text_line.startswith("File "):
            in_cell = False
        elif text_line == name or text_line.startswith(name + ":"):
            message = "\n".join([text_line[len(name) + 1 :].lstrip(" "), *body[index + 1 :]])
    traceback = "\n".join(lines[heads[0] :])
    return StepError(type=name, message=_message(message), line=line, line_number=number, traceback=traceback)


def _parse_traceback(text: str) -> StepError | None:
    start = text.rfind(_TRACEBACK_HEAD)
    if start < 0:
        return None
    lines = text[start:].split("\n")[1:]
    line, number = "", None
    for index, text_line in enumerate(lines):
        frame = _FRAME.match(text_line)
        if frame:
            if not _LIBRARY_PATH.search(frame[1]):
                source = lines[index + 1] if index + 1 < len(lines) else ""
                line, number = (source.strip() if source.startswith("    ") else ""), int(frame[2])
        elif text_line and not text_line[0].isspace():
            match = _EXCEPTION_LINE.fullmatch(text_line)
            if match is None:
                return None
            message = "\n".join([match[2] or "", *lines[index + 1 :]])
            whole = text[text.find(_TRACEBACK_HEAD) :]
            return StepError(
                type=match[1], message=_message(message), line=line, line_number=number, traceback=whole
            )
    return None


def _parse_plain(text: str) -> StepError | None:
    """ "ValueError: message", with our sandbox's place line if there is one."""
    place = _SANDBOX_PLACE.search(text)
    head = text[: place.start()] if place else text
    match = re.match(r"\s*" + _NAMED_EXCEPTION.pattern, head, re.DOTALL)
    if match is None and place is None:
        match = next((found for line in head.split("\n") if (found := _NAMED_EXCEPTION.match(line))), None)
    if match is None:
        return None
    return StepError(
        type=match[1],
        message=_message(match[2]),
        line=place[2].strip() if place else "",
        line_number=int(place[1]) if place else None,
    )


def _message(text: str) -> str:
    return text.strip()[:MESSAGE_CHARACTERS]

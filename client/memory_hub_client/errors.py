"""Reads the error of a smolagents step: exception class, message, failing line, traceback.

smolagents keeps only text, and each executor writes another one. Where the original exception is still chained
(our sandbox executor's carry a structured record), that is used; else the text is parsed.
"""

from __future__ import annotations

import re
from typing import Any

from .types import ErrorKind, RecordedError

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_LOCAL = re.compile(
    r"\ACode execution failed at line '(?P<line>.*?)' due to: (?P<type>\w+): ?(?P<message>.*)\Z", re.DOTALL
)
_LOCAL_SYNTAX = re.compile(
    r"\ACode parsing failed on line (?P<number>\d+) due to: (?P<type>\w+): (?P<message>.*)\Z", re.DOTALL
)
_E2B = re.compile(
    r"Executing code yielded an error:\n(?P<type>[\w.]+)\n(?P<message>.*?)\n(?P<traceback>(?:-{20,}|Traceback ).*)\Z",
    re.DOTALL,
)
_EXCEPTION_LINE = re.compile(r"^(?P<type>[A-Za-z_][\w.]*)(?:: ?(?P<message>.*))?$")
_FRAME = re.compile(r'^\s*File "(?P<file>[^"]*)", line (?P<number>\d+)')
_NOTEBOOK_ARROW = re.compile(r"^-+> ?(?P<number>\d+) (?P<line>.*)$")

_KINDS: dict[str, ErrorKind] = {
    "AgentExecutionError": "execution",
    "AgentToolExecutionError": "execution",
    "AgentToolCallError": "execution",
    "AgentParsingError": "parsing",
    "AgentMaxStepsError": "limit",
    "AgentError": "check",  # the only plain AgentError left on a step is a refused final answer
}


def read_step_error(error: Any, code: str | None) -> RecordedError:
    """The error object of a step as plain data. `code` is the code of the step. Never raises for odd input."""
    kind = _KINDS.get(type(error).__name__, "other")
    text = _ANSI.sub("", str(getattr(error, "message", "") or error))
    if kind != "execution":
        return RecordedError(type=type(error).__name__, message=text, kind=kind)
    return _from_structured_cause(error) or parse_error_text(text, code or "")


def read_exception(error: BaseException) -> RecordedError:
    """An exception that left the run, without its frames: they show the user's machine, not the solution."""
    return RecordedError(type=type(error).__name__, message=str(error), kind="other")


def _from_structured_cause(error: BaseException) -> RecordedError | None:
    cause = error.__cause__ or error.__context__
    record = getattr(cause, "error", None)
    exception_type = getattr(record, "exception_type", None)
    if not isinstance(exception_type, str):
        return None
    number = getattr(record, "line", None)
    return RecordedError(
        type=exception_type or str(getattr(record, "kind", "") or type(cause).__name__),
        message=str(getattr(record, "message", "")),
        line=str(getattr(record, "source_line", "") or ""),
        traceback=str(getattr(record, "traceback", "") or ""),
        line_number=number if isinstance(number, int) else None,
    )


def parse_error_text(text: str, code: str) -> RecordedError:
    """Parse what an executor said. Falls back to type "AgentExecutionError" with the whole text as message."""
    if match := _LOCAL.match(text):
        line = match["line"]
        return RecordedError(match["type"], match["message"], line, line_number=_line_number_of(line, code))
    if match := _LOCAL_SYNTAX.match(text):
        syntax_line = int(match["number"])
        message = match["message"].splitlines()[0] if match["message"] else ""
        return RecordedError(match["type"], message, _source_line(code, syntax_line), line_number=syntax_line)
    if match := _E2B.search(text):
        number, line = _failing_line(match["traceback"].splitlines(), code)
        return RecordedError(match["type"], match["message"], line, match["traceback"], number)
    return _parse_traceback(text, code) or RecordedError("AgentExecutionError", text)


def _parse_traceback(text: str, code: str) -> RecordedError | None:
    lines = text.rstrip().splitlines()
    last_frame = max(
        (i for i, line in enumerate(lines) if _FRAME.match(line) or _NOTEBOOK_ARROW.match(line)), default=-1
    )
    if last_frame < 0 and len(lines) > 1 and not lines[0].startswith("Traceback"):
        # No frames: a bare "ValueError: ..." may still be first (the rest is explanation) or last (after prints).
        candidates = [0, len(lines) - 1]
    else:
        candidates = list(range(last_frame + 1, len(lines)))
    for index in candidates:
        match = _EXCEPTION_LINE.match(lines[index])
        if match and _looks_like_exception(match["type"]):
            message = "\n".join([match["message"] or "", *lines[index + 1 :]]).strip()
            number, line = _failing_line(lines[:index], code)
            traceback = text if last_frame >= 0 else ""
            return RecordedError(match["type"], message, line, traceback, number)
    return None


def _looks_like_exception(name: str) -> bool:
    last = name.rsplit(".", 1)[-1]
    return last.endswith(("Error", "Exception", "Warning", "Interrupt", "Exit", "Iteration", "Timeout")) or (
        last[:1].isupper() and "." in name
    )


def _failing_line(lines: list[str], code: str) -> tuple[int | None, str]:
    """The innermost frame that is the agent's own code: its number and source text."""
    found: tuple[int | None, str] = (None, "")
    in_library = False
    for line in lines:
        frame = _FRAME.match(line)
        if line.startswith("File ") and not frame:
            in_library = "ipython-input" not in line and "<" not in line
        elif line.startswith(("Cell In", "Input In")):
            in_library = False
        if frame and frame["file"].startswith("<") and not frame["file"].startswith("<frozen"):
            number = int(frame["number"])
            found = (number, _source_line(code, number))
        elif (arrow := _NOTEBOOK_ARROW.match(line)) and not in_library:
            found = (int(arrow["number"]), arrow["line"].strip())
    return found


def _source_line(code: str, number: int) -> str:
    lines = code.splitlines()
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _line_number_of(segment: str, code: str) -> int | None:
    position = code.find(segment) if segment else -1
    return code.count("\n", 0, position) + 1 if position >= 0 else None

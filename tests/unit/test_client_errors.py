"""What is read from the error of a step, per executor."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from memory_hub_client.errors import parse_error_text, read_step_error

CODE = "rows = [1]\nfor row in rows:\n    print(row / 0)\n"


class AgentExecutionError(Exception):
    pass


class AgentParsingError(Exception):
    pass


class AgentMaxStepsError(Exception):
    pass


class AgentError(Exception):
    pass


def test_the_local_executor_names_class_message_and_statement():
    text = "Code execution failed at line 'for row in rows:\n    print(row / 0)' due to: ZeroDivisionError: division by zero"
    error = read_step_error(AgentExecutionError(text), CODE)
    assert (error.type, error.message, error.kind) == ("ZeroDivisionError", "division by zero", "execution")
    assert (error.line, error.line_number) == ("for row in rows:\n    print(row / 0)", 2)


def test_a_syntax_error_of_the_local_executor_points_at_its_line():
    text = "Code parsing failed on line 2 due to: SyntaxError: invalid syntax (<unknown>, line 2)\nx = = 1\n    ^"
    error = parse_error_text(text, "a = 1\nx = = 1")
    assert (error.type, error.line, error.line_number) == ("SyntaxError", "x = = 1", 2)
    assert error.message == "invalid syntax (<unknown>, line 2)"


def test_a_python_traceback_gives_the_innermost_frame_of_the_agents_own_code():
    text = (
        "Traceback (most recent call last):\n"
        '  File "<step 1>", line 3, in <module>\n'
        '  File "/usr/lib/python3.11/json/__init__.py", line 346, in loads\n'
        "    return _default_decoder.decode(s)\n"
        "json.decoder.JSONDecodeError: Expecting value: line 1\nof the text"
    )
    error = parse_error_text(text, CODE)
    assert (error.type, error.message) == (
        "json.decoder.JSONDecodeError",
        "Expecting value: line 1\nof the text",
    )
    assert (error.line, error.line_number, error.traceback) == ("print(row / 0)", 3, text)


def test_a_notebook_traceback_with_colours_is_read():
    text = (
        "\x1b[0;31m---------------------------------------\x1b[0m\n"
        "\x1b[0;31mZeroDivisionError\x1b[0m        Traceback (most recent call last)\n"
        "Cell \x1b[0;32mIn[3], line 2\x1b[0m\n      1\x1b[0m x = 1\n"
        "\x1b[0;32m----> 2\x1b[0m \x1b[38;5;241mx / 0\x1b[39m\n\n"
        "\x1b[0;31mZeroDivisionError\x1b[0m: division by zero"
    )
    error = read_step_error(AgentExecutionError(text), "x = 1\nx / 0")
    assert (error.type, error.message, error.line, error.line_number) == (
        "ZeroDivisionError",
        "division by zero",
        "x / 0",
        2,
    )
    assert "\x1b" not in error.traceback


def test_e2b_is_read():
    text = "logs\nExecuting code yielded an error:\nKeyError\n'a'\n---------------------------\nKeyError Traceback"
    error = parse_error_text(text, "")
    assert (error.type, error.message) == ("KeyError", "'a'")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ValueError: no", ("ValueError", "no")),
        ("ValueError: no\n  at line 1 of <step 1>: f()", ("ValueError", "no\n  at line 1 of <step 1>: f()")),
        ("something odd", ("AgentExecutionError", "something odd")),
        ("", ("AgentExecutionError", "")),
        ("Note: this is no exception", ("AgentExecutionError", "Note: this is no exception")),
    ],
)
def test_short_and_odd_texts(text: str, expected: tuple[str, str]):
    error = parse_error_text(text, "")
    assert (error.type, error.message) == expected


def test_the_structured_record_of_a_sandbox_wins_over_the_text():
    @dataclass
    class Record:
        exception_type: str = "pandas.errors.ParserError"
        message: str = "Expected 3 fields"
        traceback: str = "Traceback ..."
        line: int | None = 4
        source_line: str = "pd.read_csv(path)"
        kind: str = "exception"

    class CodeRaisedError(Exception):
        def __init__(self, record: Record):
            super().__init__("text for the agent")
            self.error = record

    def chained(record: Record) -> AgentExecutionError:
        error = AgentExecutionError("text for the agent")
        error.__context__ = CodeRaisedError(record)
        return error

    error = read_step_error(chained(Record()), "code")
    assert (error.type, error.message) == ("pandas.errors.ParserError", "Expected 3 fields")
    assert (error.line, error.line_number) == ("pd.read_csv(path)", 4)
    assert (
        read_step_error(chained(Record("", "took longer than 5 s", kind="timeout")), "code").type == "timeout"
    )


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (AgentParsingError("no code"), "parsing"),
        (AgentMaxStepsError("Reached max steps."), "limit"),
        (AgentError("Check f failed with error: "), "check"),
        (OSError("disk"), "other"),
    ],
)
def test_errors_that_are_not_of_the_code_keep_apart(error: Exception, kind: str):
    read = read_step_error(error, None)
    assert (read.type, read.kind) == (type(error).__name__, kind)

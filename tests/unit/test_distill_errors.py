"""Errors of every executor become the same structured error."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from smolagents.local_python_executor import LocalPythonExecutor

from agents_runner.distill import StepError, from_sandbox, parse_error
from agents_runner.distill.errors import library_frames, module_line, strip_ansi
from agents_runner.sandboxes.records import StepError as SandboxStepError


def plain_traceback(code):
    """What CPython prints for ``code``, run as a file of its own name."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    return done.stderr


def test_a_cpython_traceback_gives_type_message_and_the_last_own_line():
    error = parse_error(plain_traceback("import json\ndef f(t):\n    return json.loads(t)\nf('{')\n"))
    assert error.type == "json.decoder.JSONDecodeError"
    assert error.message.startswith("Expecting property name")
    assert error.line_number == 3
    assert module_line(error) == 4
    assert library_frames(error.traceback)[-1].startswith("json/decoder.py:")
    assert library_frames(error.traceback)[-1].endswith(" in raw_decode")
    assert not any(frame.startswith("/") for frame in library_frames(error.traceback))


def test_of_chained_exceptions_the_last_one_counts_and_a_message_may_have_several_lines():
    error = parse_error(
        plain_traceback(
            "try:\n    1/0\nexcept ZeroDivisionError:\n    raise ValueError('one\\ntwo: three')\n"
        )
    )
    assert (error.type, error.message) == ("ValueError", "one\ntwo: three")
    assert "ZeroDivisionError" in error.traceback


def test_an_exception_without_a_message_has_an_empty_one():
    error = parse_error(plain_traceback("assert False"))
    assert (error.type, error.message) == ("AssertionError", "")


def test_smolagents_local_interpreter_is_understood():
    executor = LocalPythonExecutor([])
    executor.send_tools({})
    with pytest.raises(Exception) as caught:
        executor("zero = 0\n1 / zero")
    error = parse_error(str(caught.value))
    assert (error.type, error.message) == ("ZeroDivisionError", "division by zero")
    assert error.line == "1 / zero"


def test_a_syntax_error_of_the_local_interpreter_is_understood():
    executor = LocalPythonExecutor([])
    executor.send_tools({})
    with pytest.raises(Exception) as caught:
        executor("x = 1\ny = = 2")
    error = parse_error(str(caught.value))
    assert (error.type, error.line_number) == ("SyntaxError", 2)


def test_the_text_of_our_sandbox_is_understood():
    record = SandboxStepError(
        kind="exception",
        exception_type="pandas.errors.ParserError",
        message="Error tokenizing data.\nExpected 1 fields",
        line=7,
        source_line="table = pd.read_csv(path)",
        source_name="<step 2>",
        state_lost=True,
    )
    error = parse_error(record.text)
    assert error.type == "pandas.errors.ParserError"
    assert error.message == "Error tokenizing data.\nExpected 1 fields"
    assert (error.line, error.line_number) == ("table = pd.read_csv(path)", 7)


@pytest.mark.parametrize(
    ("kind", "name"),
    [("timeout", "StepTimedOut"), ("interrupted", "StepInterrupted"), ("memory", "StepKilled")],
)
def test_a_structured_record_needs_no_parsing_and_a_stopped_step_is_typed_by_what_stopped_it(kind, name):
    raised = from_sandbox(
        SandboxStepError(kind="exception", exception_type="KeyError", message="'a'", line=2)
    )
    assert (raised.type, raised.message, raised.line_number) == ("KeyError", "'a'", 2)
    assert from_sandbox(SandboxStepError(kind=kind, message="stopped")).type == name


JUPYTER = (
    "\x1b[31m---------------------------------------------------------------------------\x1b[39m\n"
    "\x1b[31mValueError\x1b[39m                                Traceback (most recent call last)\n"
    "\x1b[36mCell\x1b[39m\x1b[36m \x1b[39m\x1b[32mIn[4]\x1b[39m\x1b[32m, line 5\x1b[39m\n"
    "\x1b[32m      3\x1b[39m \x1b[38;5;28;01mdef\x1b[39;00m f(path):\n"
    "\x1b[32m----> \x1b[39m\x1b[32m5\x1b[39m table = pd.to_datetime(column)\n"
    "\n"
    "\x1b[36mFile \x1b[39m\x1b[32m/usr/local/lib/python3.12/site-packages/pandas/core/tools/datetimes.py:1072\x1b[39m, "
    "in \x1b[36mto_datetime\x1b[39m\x1b[34m(arg)\x1b[39m\n"
    "\x1b[32m   1070\x1b[39m         x\n"
    "\x1b[32m-> 1072\x1b[39m         result = convert_listlike(arg)\n"
    "\n"
    '\x1b[31mValueError\x1b[39m: time data "24:00" doesn\'t match format\n'
    "second line"
)


def test_a_coloured_jupyter_traceback_is_understood():
    error = parse_error("Execution failed:\n" + JUPYTER)
    assert error.type == "ValueError"
    assert error.message == 'time data "24:00" doesn\'t match format\nsecond line'
    assert (error.line, error.line_number) == ("table = pd.to_datetime(column)", 5)
    assert library_frames(error.traceback) == ["pandas/core/tools/datetimes.py:1072 in to_datetime"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (
            "Your code snippet is invalid, because the regex pattern <code>(.*?)</code> was not found in it.",
            "parsing",
        ),
        ("Check is_positive failed with error: no", "check"),
        ("Reached max steps.", "limit"),
        ("Agent interrupted.", "other"),
        ("ValueError: no", "execution"),
    ],
)
def test_failures_that_are_not_of_the_code_are_told_apart(text, kind):
    assert parse_error(text).kind == kind


def test_text_that_nobody_knows_is_kept_as_the_message():
    assert parse_error("the moon was full") == StepError(type="", message="the moon was full")


@given(st.text())
def test_no_text_whatever_makes_it_fail(text):
    parse_error(text)
    parse_error("Traceback (most recent call last):\n" + text)
    library_frames(text)


@given(st.text(alphabet=st.characters(exclude_characters="\x1b\x9b")))
def test_text_without_escapes_is_left_as_it_is(text):
    assert strip_ansi(text) == text


def test_a_huge_error_is_read_in_bounded_time_and_size():
    error = parse_error("ValueError: " + "x" * 3_000_000)
    assert len(error.message) <= 8_000

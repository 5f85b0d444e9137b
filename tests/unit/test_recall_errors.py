"""Errors in the dialects that agents and people paste: CPython, smolagents' local executor, Jupyter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_hub.recall.errors import ParsedError, looks_like_error, parse_error, parse_traceback
from memory_hub.recall.values import ErrorDetails

CPYTHON = """Traceback (most recent call last):
  File "/work/task.py", line 7, in <module>
    total(rows)
  File "/work/task.py", line 3, in total
    return df["amount"].astype(float)
  File "/usr/lib/python3.11/site-packages/pandas/core/generic.py", line 6643, in astype
    new_data = self._mgr.astype(dtype=dtype)
  File "/usr/lib/python3.11/site-packages/pandas/core/dtypes/astype.py", line 133, in _astype_nansafe
    return arr.astype(dtype, copy=True)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
ValueError: could not convert string to float: '1,5'
"""
SMOLAGENTS = "Code execution failed at line 'return float(row[\"amount\"])' due to: ValueError: could not convert '1,5'"
JUPYTER = """\x1b[0;31m---------------------------------------------------------------------------\x1b[0m
\x1b[0;31mKeyError\x1b[0m                                  Traceback (most recent call last)
File \x1b[0;32m/usr/lib/python3.11/site-packages/pandas/core/indexes/base.py:3812\x1b[0m, in \x1b[0;36mIndex.get_loc\x1b[0;34m(self, key)\x1b[0m
\x1b[1;32m   3811\x1b[0m try:
\x1b[0;32m-> 3812\x1b[0m     return self._engine.get_loc(casted_key)

\x1b[0;31mKeyError\x1b[0m: 'Amount'

The above exception was the direct cause of the following exception:

\x1b[0;31mKeyError\x1b[0m                                  Traceback (most recent call last)
Cell \x1b[0;32mIn[3], line 2\x1b[0m
      1 df = load()
\x1b[0;32m----> 2\x1b[0m df["Amount"].sum()

File \x1b[0;32m/usr/lib/python3.11/site-packages/pandas/core/frame.py:4107\x1b[0m, in \x1b[0;36mDataFrame.__getitem__\x1b[0;34m(self, key)\x1b[0m
\x1b[0;32m-> 4107\x1b[0m indexer = self.columns.get_loc(key)

\x1b[0;31mKeyError\x1b[0m: 'Amount'
"""
SYNTAX = """  File "/work/task.py", line 3
    total = sum(rows
               ^
SyntaxError: '(' was never closed
"""
GROUP = """  + Exception Group Traceback (most recent call last):
  |   File "/work/task.py", line 12, in <module>
  |     raise ExceptionGroup("several rows", errors)
  | ExceptionGroup: several rows (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/work/task.py", line 7, in read
    |     int("x")
    | ValueError: invalid literal for int() with base 10: 'x'
    +---------------- 2 ----------------
    | Traceback (most recent call last):
    |   File "/work/task.py", line 8, in read
    |     row["b"]
    | KeyError: 'b'
    +------------------------------------
"""
NESTED_GROUP = """  + Exception Group Traceback (most recent call last):
  |   File "/work/task.py", line 12, in <module>
  | ExceptionGroup: outer (1 sub-exception)
  +-+---------------- 1 ----------------
    | ExceptionGroup: inner (1 sub-exception)
    +-+---------------- 1 ----------------
      | KeyError: 'a'
      +------------------------------------
"""


def test_a_cpython_traceback_gives_class_message_own_line_and_library_frames() -> None:
    assert parse_traceback(CPYTHON) == ParsedError(
        exception_type="ValueError",
        message="could not convert string to float: '1,5'",
        failing_line='return df["amount"].astype(float)',
        library_frames=[
            "pandas/core/generic.py:6643 in astype",
            "pandas/core/dtypes/astype.py:133 in _astype_nansafe",
        ],
    )


def test_smolagents_dialect_gives_class_message_and_line() -> None:
    assert parse_traceback(SMOLAGENTS) == ParsedError(
        "ValueError", "could not convert '1,5'", 'return float(row["amount"])'
    )


def test_a_jupyter_traceback_gives_the_line_of_the_cell_not_of_the_library() -> None:
    read = parse_traceback(JUPYTER)
    assert (read.exception_type, read.message) == ("KeyError", "'Amount'")
    assert read.failing_line == 'df["Amount"].sum()'
    assert read.library_frames[-1] == "pandas/core/frame.py:4107 in DataFrame.__getitem__"


def test_of_chained_exceptions_the_last_counts() -> None:
    chained = CPYTHON + (
        "\nDuring handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    fix()\n'
        "app.errors.Refused: no such\n  second line\n"
    )
    read = parse_traceback(chained)
    assert (read.exception_type, read.message) == ("app.errors.Refused", "no such\n  second line")


def test_a_class_named_otherwise_is_known_below_a_traceback() -> None:
    read = parse_traceback('Traceback (most recent call last):\n  File "a.py", line 1\n    x\nOops: no\n')
    assert (read.exception_type, read.message, read.failing_line) == ("Oops", "no", "x")


def test_a_traceback_that_an_input_folded_into_one_line_is_still_read() -> None:
    read = parse_traceback(CPYTHON.replace("\n", " ").strip())
    assert (read.exception_type, read.message) == ("ValueError", "could not convert string to float: '1,5'")


@pytest.mark.parametrize("text", [CPYTHON, CPYTHON.replace("^", "").rstrip()])
def test_a_traceback_in_one_line_keeps_its_own_line_and_the_frames_of_libraries(text: str) -> None:
    read = parse_traceback(" ".join(text.split()))
    assert read.failing_line == 'return df["amount"].astype(float)'
    assert read.library_frames[-1] == "pandas/core/dtypes/astype.py:133 in _astype_nansafe"


def test_the_line_of_a_syntax_error_is_the_one_above_the_caret() -> None:
    read = parse_traceback(SYNTAX)
    assert (read.exception_type, read.message) == ("SyntaxError", "'(' was never closed")
    assert read.failing_line == "total = sum(rows"


def test_of_a_group_the_first_exception_in_it_counts() -> None:
    read = parse_traceback(GROUP)
    assert (read.exception_type, read.message) == (
        "ValueError",
        "invalid literal for int() with base 10: 'x'",
    )
    assert read.failing_line == 'int("x")'


def test_a_group_in_a_group_is_opened_too() -> None:
    read = parse_traceback(NESTED_GROUP)
    assert (read.exception_type, read.message) == ("KeyError", "'a'")


def test_the_cause_of_a_chain_leaves_its_frames_out() -> None:
    direct = "\nThe above exception was the direct cause of the following exception:\n\n"
    again = 'Traceback (most recent call last):\n  File "a.py", line 9, in <module>\n    load()\nOSError: no file\n'
    read = parse_traceback(CPYTHON + direct + again)
    assert (read.exception_type, read.failing_line, list(read.library_frames)) == ("OSError", "load()", [])


def test_code_shows_the_line_that_a_traceback_only_numbers() -> None:
    text = 'Traceback (most recent call last):\n  File "<string>", line 2, in <module>\nZeroDivisionError: division by zero'
    assert parse_traceback(text).failing_number == 2
    read = parse_error(ErrorDetails(traceback=text, code="a = 0\nprint(1 / a)\n"))
    assert (read.failing_line, read.exception_type) == ("print(1 / a)", "ZeroDivisionError")
    assert parse_error(ErrorDetails(traceback=text, code="")).failing_line == ""


def test_a_note_on_repeated_frames_is_no_source_line() -> None:
    text = (
        'Traceback (most recent call last):\n  File "<string>", line 2, in f\n  [Previous line repeated 996 more times]\n'
        "RecursionError: maximum recursion depth exceeded"
    )
    assert parse_traceback(text).failing_line == ""


@pytest.mark.parametrize("text", [CPYTHON, SMOLAGENTS, JUPYTER])
def test_what_was_pasted_with_an_indent_is_read_the_same(text: str) -> None:
    indented = "".join(f"    {line}" for line in text.splitlines(keepends=True))
    assert parse_traceback(indented) == parse_traceback(text)


def test_colours_do_not_hide_an_error() -> None:
    coloured = "\x1b[1;35mValueError\x1b[0m: \x1b[35mno such thing\x1b[0m"
    assert looks_like_error(coloured)
    read = parse_traceback(coloured)
    assert (read.exception_type, read.message) == ("ValueError", "no such thing")


@pytest.mark.parametrize(
    "text",
    [
        SYNTAX,
        GROUP,
        " ".join(CPYTHON.split()),
        CPYTHON,
        SMOLAGENTS,
        JUPYTER,
        "KeyError: 'a'",
        "KeyError",
        "pandas.errors.ParserError: bad",
    ],
)
def test_errors_are_told_from_questions(text: str) -> None:
    assert looks_like_error(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "How do I sum a column?",
        "Handle a KeyError: use get",
        "ErrorBars for a plot",
        "Note: sort the rows",
    ],
)
def test_questions_are_told_from_errors(text: str) -> None:
    assert not looks_like_error(text)


def test_given_parts_win_over_what_a_traceback_says() -> None:
    read = parse_error(ErrorDetails(exception_type="KeyError", message="'b'", traceback=CPYTHON))
    assert (read.exception_type, read.message) == ("KeyError", "'b'")
    assert read.failing_line == 'return df["amount"].astype(float)'


def test_a_traceback_in_the_place_of_the_message_is_read() -> None:
    assert parse_error(ErrorDetails(message=CPYTHON)).exception_type == "ValueError"


def test_a_message_that_is_no_error_stays_a_message() -> None:
    assert parse_error(ErrorDetails(message="it broke")) == ParsedError(message="it broke")


@given(st.text())
def test_any_text_is_read_without_a_fault(text: str) -> None:
    parse_traceback(text)
    looks_like_error(text)


def test_a_long_text_is_read_in_no_time() -> None:
    parse_traceback("Code execution failed at line '" * 5_000)
    parse_traceback("a." * 100_000)
    looks_like_error("Traceback (most recent call last) " + "A" * 100_000)
    parse_traceback('Traceback (most recent call last): File "a.py", line 1, in f ' + "Ab " * 30_000)
    parse_traceback('Traceback (most recent call last): File "a.py", line 1, in f x' + " " * 90_000 + "y")
    parse_traceback("  + Exception Group Traceback (most recent call last):\n  +" + "-" * 90_000)

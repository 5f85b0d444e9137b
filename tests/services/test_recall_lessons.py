"""The known fix for an error: for this error, resolved, and noted on the recall of the run that met it."""

from typing import Any

import pytest

from memory_hub.access.actor import Actor, acting_as, as_system
from memory_hub.audit.events import Event
from memory_hub.audit.models import AuditEntry
from memory_hub.library.models import Lesson
from memory_hub.recall.errors import parse_traceback
from memory_hub.recall.models import Recall, RecallItem
from memory_hub.recall.selectors import search_errors
from memory_hub.recall.services import ErrorDetails, lookup_error
from memory_hub.runs.models import Run
from tests.cast import Cast
from tests.services.library_support import run_actor, start_run
from tests.services.recall_support import ask, learn

FLOAT = "could not convert string to float: {!r}"


@pytest.fixture
def bob(cast: Cast) -> Actor:
    return cast.actor(cast.bob)


def look_up(cast: Cast, actor: Actor, *, run: Run | None = None, **parts: Any) -> Lesson | None:
    values = {"exception_type": "ValueError", "message": FLOAT.format("7,25"), **parts}
    with acting_as(actor):
        return lookup_error(actor=actor, project=cast.project, error=ErrorDetails(**values), run=run)


def test_the_same_error_with_other_values_is_known(cast: Cast, bob: Actor) -> None:
    learn(bob, cast.project, message="invalid literal for int() with base 10: 'x'", failing_code="int('x')")
    lesson = learn(bob, cast.project)
    assert look_up(cast, bob) == lesson


@pytest.mark.parametrize(
    "traceback",
    [
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    float("3,5")\n'
        "ValueError: could not convert string to float: '3,5'",
        "Code execution failed at line 'float(\"3,5\")' due to: ValueError: could not convert string to float: '3,5'",
    ],
)
def test_a_traceback_is_enough(cast: Cast, bob: Actor, traceback: str) -> None:
    lesson = learn(bob, cast.project)
    assert look_up(cast, bob, exception_type="", message="", traceback=traceback) == lesson


CELLS = "l[i] = min(l[i], l[i + 1])"
RENAMED = "cells[at] = min(cells[at], cells[at + 1])"
OUT_OF_RANGE = "list index out of range"


def learn_cells(cast: Cast, bob: Actor) -> Lesson:
    """Return a lesson on one of three errors that share their message."""
    for line in ("return parts[2]", "total += rows[index + 1].cost"):
        learn(bob, cast.project, exception_type="IndexError", message=OUT_OF_RANGE, failing_line=line,
              failing_code=line)  # fmt: skip
    return learn(bob, cast.project, exception_type="IndexError", message=OUT_OF_RANGE, failing_line=CELLS,
                 failing_code=f"for i in range(len(l)):\n    {CELLS}\n")  # fmt: skip


def test_the_same_mistake_is_known_under_other_names(cast: Cast, bob: Actor) -> None:
    lesson = learn_cells(cast, bob)
    found = look_up(
        cast, bob, exception_type="IndexError", message=OUT_OF_RANGE, failing_line=RENAMED,
        code=f"for at in range(len(cells)):\n    {RENAMED}\n",
    )  # fmt: skip
    assert found == lesson
    assert (
        look_up(cast, bob, exception_type="IndexError", message=OUT_OF_RANGE, failing_line=RENAMED) == lesson
    )


def test_a_message_that_several_lessons_have_offers_no_fix_for_another_line(cast: Cast, bob: Actor) -> None:
    learn_cells(cast, bob)
    other = "if grid[y - 1][x] == '#' or not grid[y][x]:"
    assert look_up(cast, bob, exception_type="IndexError", message=OUT_OF_RANGE, failing_line=other) is None
    assert look_up(cast, bob, exception_type="IndexError", message=OUT_OF_RANGE) is None


def test_a_person_sees_what_else_is_known_of_a_message(cast: Cast, bob: Actor) -> None:
    learn_cells(cast, bob)
    with acting_as(bob):
        known = search_errors(bob, [cast.project], parse_traceback(f"IndexError: {OUT_OF_RANGE}"))
    assert len(known) == 3


@pytest.mark.parametrize(
    "text",
    [
        f'Traceback (most recent call last):\n  File "a.py", line 2, in f\n    {RENAMED}\nIndexError: {OUT_OF_RANGE}',
        f'Traceback (most recent call last): File "a.py", line 2, in f {RENAMED} IndexError: {OUT_OF_RANGE}',
        f"Code execution failed at line '{RENAMED}' due to: IndexError: {OUT_OF_RANGE}",
        "\x1b[0;31mIndexError\x1b[0m                  Traceback (most recent call last)\nCell \x1b[0;32mIn[3], line 2\x1b[0m\n"
        f"\x1b[0;32m----> 2\x1b[0m {RENAMED}\n\n\x1b[0;31mIndexError\x1b[0m: {OUT_OF_RANGE}",
        "  + Exception Group Traceback (most recent call last):\n  | ExceptionGroup: two (1 sub-exception)\n"
        "  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n"
        f'    |   File "a.py", line 2, in f\n    |     {RENAMED}\n    | IndexError: {OUT_OF_RANGE}\n'
        "    +------------------------------------",
    ],
)
def test_every_dialect_finds_the_lesson_first(cast: Cast, bob: Actor, text: str) -> None:
    lesson = learn_cells(cast, bob)
    with acting_as(bob):
        assert search_errors(bob, [cast.project], parse_traceback(text))[0].lesson == lesson
    assert look_up(cast, bob, exception_type="", message="", traceback=text) == lesson


def test_code_says_which_line_a_traceback_without_source_means(cast: Cast, bob: Actor) -> None:
    lesson = learn_cells(cast, bob)
    bare = f'Traceback (most recent call last):\n  File "<string>", line 2, in <module>\nIndexError: {OUT_OF_RANGE}'
    code = f"for at in range(len(cells)):\n    {RENAMED}\n"
    assert look_up(cast, bob, exception_type="", message="", traceback=bare, code=code) == lesson


def test_an_open_lesson_is_never_offered_as_a_fix(cast: Cast, bob: Actor) -> None:
    lesson = learn(bob, cast.project, fixing_code="", is_open=True)
    assert look_up(cast, bob) is None
    with acting_as(bob):
        known = search_errors(bob, [cast.project], parse_traceback("ValueError: " + FLOAT.format("1")))
    assert [item.lesson for item in known] == [lesson], "people are shown it, with a word that it is open"


def test_another_class_of_error_has_another_fix(cast: Cast, bob: Actor) -> None:
    learn(bob, cast.project)
    assert look_up(cast, bob, exception_type="TypeError") is None


def test_another_error_of_the_same_class_has_another_fix(cast: Cast, bob: Actor) -> None:
    learn(bob, cast.project)
    assert look_up(cast, bob, message="time data '5' does not match format '%Y'") is None


def test_a_message_that_is_only_a_value_does_not_make_two_errors_the_same(cast: Cast, bob: Actor) -> None:
    learn(bob, cast.project, exception_type="KeyError", message="'Amount due'", failing_line="row['Amount due']",
          failing_code="row['Amount due']")  # fmt: skip
    assert (
        look_up(cast, bob, exception_type="KeyError", message="'host'", failing_line="settings['host']")
        is None
    )
    known = look_up(
        cast, bob, exception_type="KeyError", message="'Amount due'", failing_line="item['Amount due']"
    )
    assert known is not None


def test_the_module_of_a_class_may_move(cast: Cast, bob: Actor) -> None:
    lesson = learn(
        bob,
        cast.project,
        exception_type="pandas.errors.ParserError",
        message="Error tokenizing data. C error",
    )
    found = look_up(
        cast, bob, exception_type="pandas._libs.parsers.ParserError", message="Error tokenizing data. C error"
    )
    assert found == lesson


def test_what_is_no_error_finds_nothing(cast: Cast, bob: Actor) -> None:
    learn(bob, cast.project)
    assert look_up(cast, bob, exception_type="", message="it broke") is None


def test_the_hint_is_noted_once_on_the_recall_of_the_run(cast: Cast, bob: Actor) -> None:
    lesson = learn(bob, cast.project)
    run = start_run(cast.project, cast.bob)
    recall = ask(run_actor(run), cast.project, run=run).recall
    for _ in range(2):
        assert look_up(cast, run_actor(run), run=run) == lesson
    with as_system():
        item = RecallItem.objects.get()
        assert (item.recall_id, item.lesson_id, item.rank) == (recall.id, lesson.id, 1)
        assert item.reason == "Has the same message, numbers apart."
        assert 0 < item.score <= 1
        assert Recall.objects.count() == 1
        assert AuditEntry.objects.filter(event=Event.RECALLED, object_id=recall.id).count() == 3


def test_a_question_that_finds_nothing_leaves_no_trace(cast: Cast, bob: Actor) -> None:
    assert look_up(cast, bob) is None
    with as_system():
        assert not AuditEntry.objects.filter(event=Event.RECALLED).exists()

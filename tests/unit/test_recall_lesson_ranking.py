"""Which lesson is on the error that was met, and how sure that is."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_hub.recall.lesson_features import ErrorParts
from memory_hub.recall.lesson_ranking import rank_lessons, reason_of_lesson, score, weights
from memory_hub.recall.selectors import LESSON_THRESHOLD

MET = ErrorParts("IndexError", "list index out of range", "cells[at] = min(cells[at], cells[at + 1])")
SAME = ErrorParts("IndexError", "list index out of range", "l[i] = min(l[i], l[i + 1])")
OTHER = ErrorParts("IndexError", "list index out of range", "return parts[2]")


def test_the_same_line_under_other_names_comes_first_and_is_sure() -> None:
    first, second = rank_lessons(MET, [OTHER, SAME])
    assert (first.place, second.place) == (1, 0)
    assert first.score >= LESSON_THRESHOLD > second.score


def test_a_message_that_many_lessons_have_is_sure_of_none() -> None:
    met = ErrorParts("IndexError", "list index out of range")
    assert all(item.score < LESSON_THRESHOLD for item in rank_lessons(met, [SAME, OTHER]))


def test_a_message_that_one_lesson_has_is_enough() -> None:
    message = "could not convert string to float: '1,5'"
    known = [ErrorParts("ValueError", message, "float(cell)"), SAME]
    best = rank_lessons(ErrorParts("ValueError", message.replace("1,5", "7,25")), known)[0]
    assert (best.place, best.score >= LESSON_THRESHOLD) == (0, True)


def test_the_code_around_tells_equal_lines_apart() -> None:
    line = "return parts[2]"
    known = [
        ErrorParts(
            "IndexError",
            MET.message,
            line,
            "def f(text):\n    parts = text.split(',')\n    return parts[2]\n",
        ),
        ErrorParts("IndexError", MET.message, line, "def f(parts):\n    parts.sort()\n    return parts[2]\n"),
    ]
    code = "def last(words):\n    words.sort()\n    return words[2]\n"
    ranked = rank_lessons(ErrorParts("IndexError", MET.message, "return words[2]", code), known)
    assert [item.place for item in ranked] == [1, 0]


def test_equals_stay_in_their_order() -> None:
    assert [item.place for item in rank_lessons(MET, [SAME, SAME, SAME])] == [0, 1, 2]


def test_nothing_known_is_nothing_found() -> None:
    assert rank_lessons(MET, []) == []


@pytest.mark.parametrize("name", ["message", "line", "code"])
def test_no_weight_is_negative(name: str) -> None:
    assert all(value >= 0 for value in weights(name).values())


def test_other_code_around_makes_no_lesson_less_likely() -> None:
    code = "def paint(cells):\n    for at in range(len(cells)):\n        cells[at] = min(cells[at], cells[at + 1])\n"
    elsewhere = replace(SAME, code="class Tree:\n    depth = 3\n")
    assert rank_lessons(replace(MET, code=code), [elsewhere])[0].score == rank_lessons(MET, [SAME])[0].score


@given(st.sampled_from(["message", "line", "code"]), st.data())
def test_a_score_never_falls_while_something_in_common_grows(name: str, data: st.DataObject) -> None:
    learned = weights(name)
    shares = st.floats(0, 1)
    less = {feature: data.draw(shares) for feature in learned if feature != "offset"}
    more = {feature: data.draw(st.floats(value, 1)) for feature, value in less.items()}
    assert 0.0 <= score(less, learned) <= score(more, learned) <= 1.0


def test_the_reason_says_what_is_alike() -> None:
    best = rank_lessons(MET, [SAME])[0]
    assert (
        reason_of_lesson(best.parts)
        == "Has the same message, numbers apart; failed at the same line but for names."
    )

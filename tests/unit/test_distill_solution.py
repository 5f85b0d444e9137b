"""What a run leaves behind: its solution, its check, and the lessons of its errors."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_runner.distill import (
    FinalCall,
    RecalledFunction,
    StepData,
    StepError,
    Trajectory,
    distill,
)
from agents_runner.distill.wording import diff, quote, title_of

TASK = "Clean the order dates in /inputs/orders.csv. They are mixed; return ISO dates."
BAD = 'import pandas as pd\ntable = pd.read_csv("/inputs/orders.csv")\ntable["d"] = pd.to_datetime(table["d"])\n'
GOOD = (
    "import pandas as pd\n\n\ndef clean_dates(path: str, *, dayfirst=True) -> list:\n"
    '    """ISO dates of the column d."""\n'
    '    return list(pd.to_datetime(pd.read_csv(path)["d"], format="mixed", dayfirst=dayfirst).astype(str))\n\n\n'
    'final_answer(clean_dates("/inputs/orders.csv"))\n'
)
ERROR = StepError(
    "ValueError",
    'time data "1.2.24" doesn\'t match format',
    line='table["d"] = pd.to_datetime(table["d"])',
    line_number=3,
    traceback=(
        "Traceback (most recent call last):\n"
        '  File "<step 1>", line 3, in <module>\n'
        '  File "/opt/x/lib/python3.11/site-packages/pandas/core/tools/datetimes.py", line 1072, in to_datetime\n'
        'ValueError: time data "1.2.24" doesn\'t match format\n'
    ),
)
CALL = FinalCall("clean_dates", ["/inputs/orders.csv"], {}, ["2024-02-01"], replayable=True)


def trajectory(**changes):
    standard = Trajectory(
        task=TASK,
        steps=[
            StepData(1, BAD, "I read the dates.", error=ERROR),
            StepData(2, GOOD, "Thought: The formats are mixed, so I say so.", is_final=True),
        ],
        answer=["2024-02-01"],
        final_call=CALL,
        environment={"python": "3.11.7", "sandbox": "landlock", "pandas": "3.1.1"},
        input_profile=[{"name": "orders.csv", "kind": "csv"}],
    )
    return dataclasses.replace(standard, **changes)


def solution(**changes):
    return distill(trajectory(**changes)).solution


def test_the_function_whose_call_gave_the_answer_is_the_entry_point():
    draft = solution()
    assert (draft.kind, draft.entry_point) == ("function", "clean_dates")
    assert draft.code == GOOD[: GOOD.index("\n\n\nfinal_answer")] + "\n"
    assert draft.signature == "clean_dates(path: str, *, dayfirst=True) -> list"
    assert draft.usage_example == 'clean_dates("/inputs/orders.csv")'
    assert draft.title == "Clean the order dates in /inputs/orders.csv"
    assert draft.problem == TASK
    assert draft.explanation == "The formats are mixed, so I say so."
    assert draft.complete
    assert not draft.reused_only


def test_the_recorded_call_becomes_the_check():
    assert solution().check == {"args": ["/inputs/orders.csv"], "kwargs": {}, "result": ["2024-02-01"]}
    assert solution().check_reason == ""


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (
            FinalCall("clean_dates", None, None, reason="An argument is a DataFrame."),
            "An argument is a DataFrame.",
        ),
        (FinalCall("clean_dates", [], {}, "x" * 70_000, replayable=True), "at most 65,536"),
        (FinalCall("clean_dates", [float("nan")], {}, 1, replayable=True), "no plain JSON"),
        (FinalCall("clean_dates", [{1: 2}], {}, 1, replayable=True), "no plain JSON"),
        (FinalCall("clean_dates", [{1, 2}], {}, 1, replayable=True), "no plain JSON"),
    ],
)
def test_a_call_that_cannot_be_replayed_gives_no_check_and_says_why(call, reason):
    draft = solution(final_call=call)
    assert draft.check is None
    assert reason in draft.check_reason


def test_without_a_recorded_call_a_plain_final_answer_call_is_read_from_the_code():
    draft = solution(final_call=None)
    assert draft.entry_point == "clean_dates"
    assert draft.check == {"args": ["/inputs/orders.csv"], "kwargs": {}, "result": ["2024-02-01"]}


def test_without_a_recorded_call_unknown_arguments_are_said_to_be_unknown():
    step = StepData(1, "def f(x):\n    return x\n\ny = 3\nfinal_answer(f(y))", is_final=True)
    draft = solution(steps=[step], final_call=None)
    assert draft.entry_point == "f"
    assert draft.check is None
    assert "not known" in draft.check_reason


def test_an_answer_that_no_function_gave_makes_a_script():
    steps = [
        StepData(1, "x = 1\n"),
        StepData(2, "y = x / 0", error=ERROR),
        StepData(3, "final_answer(x)", is_final=True),
    ]
    draft = solution(steps=steps, final_call=None)
    assert (draft.kind, draft.entry_point, draft.signature, draft.usage_example) == ("script", None, "", "")
    assert draft.code == "x = 1\n\nfinal_answer(x)\n"
    assert draft.check is None
    assert "no call to replay" in draft.check_reason


def test_what_failed_before_is_kept_with_its_exception_and_the_way_to_what_worked():
    [failed] = solution().failed_alternatives
    assert (failed.code, failed.exception_type, failed.step) == (BAD, "ValueError", 1)
    assert '-table["d"] = pd.to_datetime(table["d"])\n' in failed.diff
    assert "+def clean_dates(path: str, *, dayfirst=True) -> list:\n" in failed.diff


def test_an_error_and_the_next_step_that_worked_make_a_lesson():
    [lesson] = distill(trajectory()).lessons
    assert (lesson.exception_type, lesson.open, lesson.step) == ("ValueError", False, 1)
    assert lesson.failing_source_line == 'table["d"] = pd.to_datetime(table["d"])'
    assert lesson.library_frames == ["pandas/core/tools/datetimes.py:1072 in to_datetime"]
    assert (lesson.failing_code, lesson.fixing_code) == (BAD, GOOD)
    assert lesson.cause == "The formats are mixed, so I say so."
    assert lesson.where_it_applies == "pandas 3.1.1, Python 3.11.7, sandbox landlock"


def test_every_different_error_of_a_run_of_failures_is_a_lesson_and_a_repeated_one_is_not_told_twice():
    key_error = StepError("KeyError", "'a'")
    steps = [
        StepData(1, "a", error=key_error),
        StepData(2, "b", error=ERROR),
        StepData(3, "c", error=key_error),
        StepData(4, "ok = 1"),
        StepData(5, "d", error=key_error),
    ]
    lessons = distill(trajectory(steps=steps, final_call=None)).lessons
    assert [(x.exception_type, x.failing_code, x.fixing_code, x.open) for x in lessons] == [
        ("KeyError", "c", "ok = 1", False),
        ("ValueError", "b", "ok = 1", False),
        ("KeyError", "d", "", True),
    ]


def test_replies_without_code_and_refused_answers_teach_nothing_about_code():
    steps = [
        StepData(1, "", error=StepError("", "no code", kind="parsing")),
        StepData(2, "final_answer(1)", error=StepError("", "refused", kind="check")),
        StepData(3, GOOD, is_final=True),
    ]
    result = distill(trajectory(steps=steps))
    assert result.lessons == []
    assert result.solution.failed_alternatives == []


@pytest.mark.parametrize("outcome", ["failed", "cancelled", "lost"])
def test_a_run_that_did_not_end_well_still_leaves_what_worked_and_its_open_lessons(outcome):
    steps = [StepData(1, "import csv\nrows = []\n"), StepData(2, BAD, error=ERROR)]
    result = distill(trajectory(steps=steps, outcome=outcome, final_call=None, answer=None))
    assert result.solution.code == "import csv\nrows = []\n"
    assert not result.solution.complete
    assert [lesson.open for lesson in result.lessons] == [True]


def test_a_run_without_any_working_step_leaves_only_lessons():
    result = distill(trajectory(steps=[StepData(1, BAD, error=ERROR)], outcome="failed", final_call=None))
    assert result.solution is None
    assert len(result.lessons) == 1


def test_a_run_that_only_called_a_recalled_function_leaves_evidence_not_a_copy():
    step = StepData(1, 'final_answer(clean_dates("/inputs/new.csv"))', is_final=True)
    draft = solution(steps=[step], recalled=[RecalledFunction("clean_dates", GOOD)])
    assert draft.reused_only
    assert (draft.entry_point, draft.code, list(draft.depends_on)) == ("clean_dates", "", ["clean_dates"])
    assert draft.usage_example == 'clean_dates("/inputs/new.csv")'
    assert draft.check is not None


def test_new_code_around_a_recalled_function_names_it_and_does_not_copy_it():
    code = "def count(path):\n    return len(clean_dates(path))\n\nfinal_answer(count('/inputs/a.csv'))"
    draft = solution(
        steps=[StepData(1, code, is_final=True)],
        recalled=[RecalledFunction("clean_dates", GOOD), RecalledFunction("unused")],
        final_call=FinalCall("count", ["/inputs/a.csv"], {}, 1, replayable=True),
    )
    assert not draft.reused_only
    assert list(draft.depends_on) == ["clean_dates"]
    assert "def clean_dates" not in draft.code


def test_a_recalled_function_that_the_run_rewrote_is_new_code():
    draft = solution(recalled=[RecalledFunction("clean_dates", "def clean_dates(p): ...")])
    assert not draft.reused_only
    assert list(draft.depends_on) == []


def test_imports_and_tags_tell_what_the_solution_is_made_of():
    assert solution().imports == ["pandas"]
    assert solution().tags == ["pandas", "csv"]


def test_a_usage_with_variables_is_told_with_the_recorded_arguments():
    code = "def f(x, k=1):\n    return x\n\ny = 3\nfinal_answer(f(y, k=2))"
    draft = solution(
        steps=[StepData(1, code, is_final=True)], final_call=FinalCall("f", [3], {"k": 2}, 3, replayable=True)
    )
    assert draft.usage_example == "f(3, k=2)"


def test_drafts_are_plain_data_that_json_can_hold():
    json.dumps(dataclasses.asdict(distill(trajectory())))


@pytest.mark.parametrize(
    ("task", "title"),
    [
        ("Clean a.csv. Then stop.", "Clean a.csv"),
        ("Use e.g. pandas 3.1 here. Then stop.", "Use e.g. pandas 3.1 here"),
        ("Which is best? Say why.", "Which is best?"),
        ("# Heading\n\nBody.", "Heading"),
        ("A sentence over\ntwo lines. Next.", "A sentence over two lines"),
        ("整理日期。然后停止。", "整理日期"),
        ("   \n", "Untitled task"),
        ("word " * 60, ("word " * 23).strip() + "…"),
        ("x" * 500, "x" * 119 + "…"),
        ("Tab\there\x00 and\u2028there.", "Tab here and there"),
    ],
)
def test_the_title_is_the_first_sentence(task, title):
    assert title_of(task) == title


@given(st.text())
def test_a_title_is_one_line_of_bounded_length(task):
    title = title_of(task)
    assert 0 < len(title) <= 120
    assert len(title.splitlines()) == 1


def test_a_quote_is_bounded_and_loses_only_the_leading_word_thought():
    assert quote("Thought: Thought: x") == "Thought: x"
    assert len(quote("y" * 5000)) == 2000


@given(st.text(alphabet="ab\n\r\t"), st.text(alphabet="ab\n\r\t"))
def test_a_diff_holds_every_byte_of_both_sides(old, new):
    text = diff(old, new)
    if old == new:
        assert text == ""
        return
    body = text.split("@@\n", 1)[1].replace("\n\\ No newline at end of file\n", "")
    assert body.count("a") >= max(old.count("a"), new.count("a"))
    assert "\n\\ No newline" in text or ((old.endswith("\n") or not old) and (new.endswith("\n") or not new))


def test_a_huge_diff_is_made_in_bounded_time():
    old = "".join(f"a{i % 7}\n" for i in range(20_000))
    new = "".join(f"a{i % 5}\n" for i in range(20_000))
    assert diff(old, new).count("\n") == 40_003

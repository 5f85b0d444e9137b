"""A question without the words around the task."""

import pytest

from memory_hub.recall.questions import bare


@pytest.mark.parametrize(
    ("asked", "task"),
    [
        ("How do I reverse a list in Python?", "reverse a list"),
        ("python: how to read a file line by line", "read a file line by line"),
        ("What is the best way to merge two dicts using Python 3.11?", "merge two dicts"),
        ("Write a python function to find the last digit.", "find the last digit"),
        ("Sort by date", "Sort by date"),
        ("How to", "How to"),
        ("  ", ""),
    ],
)
def test_only_the_task_is_left(asked: str, task: str) -> None:
    assert bare(asked) == task


def test_a_long_task_stays_whole() -> None:
    task = "How do I " + "add up the amounts of the file and " * 20 + "in Python?"
    assert bare(task) == task

"""Which offered functions a run really used."""

from __future__ import annotations

import pytest

from memory_hub_client.types import OfferedCallable
from memory_hub_client.usage import used_callables

CLEAN = OfferedCallable(
    "clean", "clean(x)", "import re\n\ndef clean(x):\n    return re.sub('a', '', x)\n", "rev-clean"
)
PARSE = OfferedCallable("parse", "parse(x)", "def parse(x):\n    return int(x)\n", "rev-parse")


def used(*steps: str, defined: tuple[str, ...] = ("clean", "parse")) -> list[str]:
    return [item.name for item in used_callables(steps, (CLEAN, PARSE), defined)]


@pytest.mark.parametrize(
    "code",
    [
        "clean('x')",
        "final_answer([clean(x) for x in rows])",
        "list(map(clean, rows))",
        "frame.apply(func=clean)",
        "def main():\n    return clean('x')\nmain()",
        "if True:\n    y = clean('x')",
        "clean = clean('x')",
    ],
)
def test_a_call_is_use(code: str):
    assert used(code) == ["clean"]


@pytest.mark.parametrize(
    "code",
    [
        "print('clean(x)')  # clean(x)",
        "other.clean('x')",
        "clean2('x')",
        "def clean(x):\n    return clean(x[1:]) if x else x\nclean('x')",
        "clean = str.strip\nclean('x')",
        "from tools import clean\nclean('x')",
        "for clean in rows:\n    pass\nclean('x')",
        "try:\n    pass\nexcept ValueError as clean:\n    pass\nclean('x')",
        "clean('x'",
    ],
)
def test_text_other_names_and_replaced_definitions_are_not(code: str):
    assert used(code) == []


def test_what_was_replaced_in_one_step_stays_replaced_in_the_next():
    assert used("def clean(x):\n    return x", "clean('x')") == []


def test_use_before_the_replacement_counts():
    assert used("clean('x')", "def clean(x):\n    return x") == ["clean"]


def test_a_faithful_copy_of_the_offered_source_is_the_offered_function():
    assert used("def parse(x):\n    '''Copied.'''\n    return int(x)  # same\nparse('1')", defined=()) == [
        "parse"
    ]


def test_a_changed_copy_is_not():
    assert used("def parse(x):\n    return float(x)\nparse('1')", defined=()) == []


def test_a_function_that_was_only_shown_cannot_be_used_by_name():
    assert used("parse('1')", defined=()) == []

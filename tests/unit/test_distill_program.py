"""The minimal program: the function and all it needs, nothing else, and not a byte changed."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_runner.distill import StepData, StepError
from agents_runner.distill.program import function_program, script_program


def steps_of(*codes):
    """Steps from code, or from (code, error) for a step that failed."""
    return [
        StepData(number, *((code,) if isinstance(code, str) else (code[0], "", "", code[1])))
        for number, code in enumerate(codes, 1)
    ]


def program_of(name, *codes):
    return function_program(steps_of(*codes), name)


def failed(line=None, traceback=""):
    return StepError("ValueError", "no", line_number=line, traceback=traceback)


def run(code):
    space = {"__name__": "test"}
    exec(compile(code, "<program>", "exec"), space)
    return space


def test_what_the_function_does_not_need_is_left_out():
    program = program_of(
        "total",
        "import csv\nimport json\n\nRATE = 2\nUNUSED = 3\nprint('looking')\n\ndef double(x):\n    return x * RATE\n\n"
        "def total(xs):\n    return sum(double(x) for x in xs)\n\nfinal_answer(total([1]))\n",
    )
    assert program.code == (
        "RATE = 2\n\n\ndef double(x):\n    return x * RATE\n\ndef total(xs):\n    return sum(double(x) for x in xs)\n"
    )
    assert program.undefined == frozenset()
    assert run(program.code)["total"]([1, 2]) == 6


def test_what_it_needs_comes_from_all_steps_in_order():
    program = program_of(
        "area",
        "import math",
        "def circle(r):\n    return math.pi * r ** 2",
        "x = 1",
        "def area(rs):\n    return [circle(r) for r in rs]",
    )
    assert (
        program.code.index("import math") < program.code.index("def circle") < program.code.index("def area")
    )
    assert "x = 1" not in program.code


def test_a_later_definition_overrides_an_earlier_one():
    program = program_of("f", "def g():\n    return 1\n\ndef f():\n    return g()", "def g():\n    return 2")
    assert "return 1" not in program.code
    assert run(program.code)["f"]() == 2


def test_a_value_computed_before_the_override_keeps_the_helper_it_was_computed_with():
    program = program_of(
        "f",
        "def g():\n    return 1",
        "CONST = g()",
        "def g():\n    return 2",
        "def f():\n    return CONST, g()",
    )
    assert run(program.code)["f"]() == (1, 2)


def test_what_fills_a_table_belongs_to_it():
    program = program_of(
        "f",
        "NAMES = {}\nfor n in 'ab':\n    NAMES[n] = n.upper()\nNAMES.update(c='C')\nNAMES['d'] = 'D'\nprint(NAMES)",
        "def f(x):\n    return NAMES[x]",
    )
    assert "print" not in program.code
    assert [run(program.code)["f"](x) for x in "abcd"] == list("ABCD")


@pytest.mark.parametrize(
    ("setup", "body", "expected"),
    [
        (
            "try:\n    import orjson as j\nexcept ImportError:\n    import json as j",
            "j.dumps([1]) in ('[1]', b'[1]')",
            True,
        ),
        ("x = 1\nif x > 5:\n    x = 7", "x", 1),
        ("x = 1\nx += 2", "x", 3),
        ("import os\nimport os.path", "os.path.join('a', 'b')", "a/b"),
        ("from math import *", "floor(1.5)", 1),
        ("import decimal\ndecimal.getcontext().prec = 3", "str(decimal.Decimal(1) / 3)", "0.333"),
        ("import sys\nsys.setrecursionlimit(12345)", "sys.getrecursionlimit()", 12345),
        ("class A:\n    y = 2\n    def m(self):\n        return z\nz = 3", "A().y + A().m()", 5),
        ("def counter():\n    global n\n    n = n + 1\nn = 0", "(counter(), n)[1]", 1),
        ("import functools\n@functools.lru_cache\ndef g(x):\n    return x", "g(4)", 4),
        (
            "import functools\n@functools.singledispatch\ndef g(x):\n    return 'any'\n@g.register\ndef _(x: int):\n    return 'int'",
            "g(4)",
            "int",
        ),
        ("a = b = 2; c = a + b", "c", 4),
        ("(p, q), *r = (1, 2), 3, 4", "[p, q, r]", [1, 2, [3, 4]]),
        ("squares = [i * k for i in range(3)]", "squares", [0, 5, 10]),
        ("if (w := 3) > 2:\n    v = w", "v", 3),
        ("with open('/dev/null') as f0:\n    lines = list(f0)", "lines", []),
        ("match 3:\n    case 3:\n        m = 'three'", "m", "three"),
        ("key = lambda t: t * k", "key(2)", 10),
    ],
)
def test_every_way_to_define_something_is_followed(setup, body, expected):
    limit = __import__("sys").getrecursionlimit()
    program = program_of(
        "f", f"unrelated = 1\nk = 5\n{setup}\nalso_unrelated = 2\ndef f():\n    return {body}\n"
    )
    try:
        assert run(program.code)["f"]() == expected
    finally:
        __import__("sys").setrecursionlimit(limit)
        __import__("decimal").getcontext().prec = 28
    assert "unrelated" not in program.code


def test_a_function_decorated_by_a_module_is_not_dragged_in_by_another_user_of_that_module():
    program = program_of(
        "f",
        "import functools\n@functools.lru_cache\ndef other():\n    return 1\n\ndef f():\n    return functools.reduce(max, [1])",
    )
    assert "other" not in program.code


def test_future_imports_stay_first():
    program = program_of(
        "f", "import os\n", "from __future__ import annotations\nimport re\ndef f(x: Y):\n    return re"
    )
    assert program.code.startswith("from __future__ import annotations\n")
    assert "import os" not in program.code


def test_recursion_and_mutual_recursion_end():
    program = program_of("f", "def g(n):\n    return f(n - 1)\ndef f(n):\n    return g(n) if n else 0")
    assert run(program.code)["f"](3) == 0


def test_names_that_nothing_binds_are_reported():
    program = program_of("f", "def f(x):\n    return recalled_helper(web_search(x), len(x))")
    assert program.undefined == {"recalled_helper", "web_search"}


def test_bytes_are_kept_comments_tabs_crlf_and_unicode():
    code = (
        "# head\r\nimport re  # why re\r\n\r\n# the tölt rate 🐎\r\nRATE\t=\t2 # trailing\r\n\r\n"
        "# what f does\r\n@staticmethod\r\ndef f(x):\r\n\t# inside\r\n\treturn re, x*RATE   # odd  spacing\r\n\r\nf(1)\r\n"
    )
    program = program_of("f", code)
    assert program.code == code[: code.index("\r\n\r\nf(1)")] + "\r\n"


def test_statements_that_share_a_line_are_cut_apart():
    program = program_of("f", "a = 1; b = 2; c = 3\ndef f(): return a, c\n")
    assert program.code == "a = 1\n\nc = 3\ndef f(): return a, c\n"


def test_a_definition_in_a_step_that_failed_later_is_still_there():
    traceback = 'Traceback (most recent call last):\n  File "<step 1>", line 3, in <module>\nValueError: no\n'
    program = program_of(
        "f",
        (
            "def helper():\n    return 1\nraise ValueError('no')\ndef helper():\n    return 2",
            failed(3, traceback),
        ),
        "def f():\n    return helper()",
    )
    assert run(program.code)["f"]() == 1
    assert "raise" not in program.code


def test_where_the_place_of_the_failure_is_unknown_a_definition_that_surely_ran_wins():
    program = program_of(
        "f",
        "def helper():\n    return 1",
        ("def helper():\n    return 2\nhelper(1)", failed()),
        "def f():\n    return helper()",
    )
    assert run(program.code)["f"]() == 1


def test_a_failure_inside_a_function_tells_that_the_function_was_defined():
    program = program_of(
        "f",
        ("import re\ndef helper(x):\n    return 1 / x\nhelper(0)", failed(3)),
        "def f():\n    return helper(2)",
    )
    assert run(program.code)["f"]() == 0.5


def test_a_name_that_is_no_top_level_function_has_no_program():
    assert program_of("f", "class A:\n    def f(self): pass\nf = 3") is None
    assert program_of("f", "def f(): pass\nf = 3") is None
    assert program_of("f", "def (") is None


def test_a_script_is_the_successful_steps_in_order():
    program = script_program(steps_of("x = 1\n", ("y = x / 0", failed(1)), "z = x\r\n\r\n", "print(z)"))
    assert program.code == "x = 1\n\nz = x\r\n\r\n\nprint(z)\n"


def test_a_script_borrows_what_it_needs_from_a_step_that_failed_later():
    program = script_program(steps_of(("def g():\n    return 4\nboom()", failed(3)), "answer = g()"))
    assert run(program.code)["answer"] == 4
    assert "boom" not in program.code


def test_no_successful_step_no_script():
    assert script_program(steps_of(("1/0", failed(1)), "")) is None


NAMES = st.sampled_from(["a", "b", "c", "d"])
EXPRESSIONS = st.one_of(
    st.integers(0, 9).map(str), NAMES, st.tuples(NAMES, NAMES).map(lambda p: f"({p[0]}, {p[1]})")
)
STATEMENTS = st.one_of(
    st.tuples(NAMES, EXPRESSIONS).map(lambda p: f"{p[0]} = {p[1]}"),
    st.tuples(NAMES, EXPRESSIONS).map(lambda p: f"def {p[0]}_f():\n    return {p[1]}"),
    st.tuples(NAMES, NAMES).map(lambda p: f"{p[0]} = {p[1]}_f()"),
    st.tuples(NAMES, NAMES).map(lambda p: f"if {p[0]}:\n    {p[1]} = 1"),
    st.tuples(NAMES).map(lambda p: f"{p[0]} = ({p[0]},)"),
)


@given(st.lists(st.lists(STATEMENTS, min_size=1, max_size=6), min_size=1, max_size=4))
def test_the_minimal_program_computes_what_the_whole_run_computed(blocks):
    """Whatever is assigned, redefined and branched over the steps, the cut-down program gives the same answer."""
    start = "\n".join(f"{n} = 0\ndef {n}_f():\n    return 0" for n in "abcd")
    codes = [start, *("\n".join(block) for block in blocks), "def entry():\n    return (a, b_f(), c)"]
    whole = {}
    for code in codes:
        exec(compile(code, "<step>", "exec"), whole)
    program = program_of("entry", *codes)
    ast.parse(program.code)
    assert run(program.code)["entry"]() == whole["entry"]()
    assert program.undefined == frozenset()


@given(st.text(alphabet="abdef():=\n\r\t #'\"\\;é@[]1 "))
def test_any_text_is_read_without_failing_and_never_changed(text):
    step = f"{text}\ndef f():\n    return 1\n"
    program = program_of("f", step)
    assert program is None or all(line in step for line in program.code.splitlines())

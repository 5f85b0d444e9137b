"""Which functions may be defined in smolagents' LocalPythonExecutor. The executor itself is the judge."""

from __future__ import annotations

from typing import Any

import pytest
from smolagents.local_python_executor import LocalPythonExecutor

from memory_hub_client.local_dialect import dialect_problems

# (source of f, call). In real Python each call works; the executor refuses it or answers something else.
BENT = {
    "return in try": (
        "def f(x):\n    try:\n        return int(x)\n    except Exception:\n        return 0",
        "f('3')",
    ),
    "return in bare try": (
        "def f(x):\n    try:\n        return int(x)\n    except:\n        return 0",
        "f('3')",
    ),
    "continue in try": (
        "def f(xs):\n    n = 0\n    for x in xs:\n        try:\n            if x > 1: continue\n"
        "            n += 1\n        except (ValueError, Exception):\n            n = 100\n    return n",
        "f([1, 2])",
    ),
    "decorator": ("def twice(g):\n    return lambda x: g(g(x))\n@twice\ndef f(x):\n    return x + 1", "f(0)"),
    "keyword-only": ("def f(a, *, b=2):\n    return a + b", "f(1)"),
    "positional-only": ("def f(a, /):\n    return a", "f(1)"),
    "*args after others": ("def f(a, *rest):\n    return rest", "f(1, 2)"),
    "**kwargs after others": ("def f(a, **more):\n    return more", "f(a=1, b=2)"),
    "lambda default": ("def f(x):\n    g = lambda a, b=2: a + b\n    return g(x)", "f(1)"),
    "for else": (
        "def f(xs):\n    for x in xs:\n        pass\n    else:\n        return 1\n    return 2",
        "f([1])",
    ),
    "two loops in a generator": ("def f(xs):\n    return sum(a * b for a in xs for b in xs)", "f([1, 2])"),
    "star in a list": ("def f(xs):\n    return [0, *xs]", "f([1])"),
    "star target": ("def f(xs):\n    a, *b = xs\n    return b", "f([1, 2, 3])"),
    "list target": ("def f(xs):\n    [a, b] = xs\n    return a", "f([1, 2])"),
    "double star in a dict": ("def f(d):\n    return {**d, 'a': 1}", "f({})"),
    "conversion in an f-string": ("def f(x):\n    return f'{x!r}'", "f('a')"),
    "yield": ("def g(xs):\n    for x in xs:\n        yield x\ndef f(xs):\n    return list(g(xs))", "f([1])"),
    "walrus": ("def f(x):\n    return (y := x) + y", "f(1)"),
    "global": ("N = 1\ndef f():\n    global N\n    N = 2\n    return N", "f()"),
    "match": ("def f(x):\n    match x:\n        case 1:\n            return 'one'", "f(1)"),
    "missing builtin": ("def f(x):\n    return frozenset(x)", "len(f([1]))"),
    "matrix product": (
        "class M:\n    def __matmul__(self, other):\n        return 1\ndef f():\n    return M() @ M()",
        "f()",
    ),
    "import not authorised": ("import json\ndef f(x):\n    return json.loads(x)", "f('1')"),
    "dotted import": (
        "import collections.abc\ndef f(x):\n    return isinstance(x, collections.abc.Sized)",
        "f([])",
    ),
    "dunder": ("def f(x):\n    return x.__class__.__name__", "f(1)"),
}

# Each is defined and gives what Python gives.
FAITHFUL = {
    "plain": ("def f(x):\n    return x + 1", "f(1)"),
    "defaults and annotations": (
        "import re\nRX: 're.Pattern' = re.compile(r'\\d+')\n"
        "def f(text: str, limit: Unknown = 2) -> list[Unknown]:\n    found: list[int] = RX.findall(text)\n"
        "    return found[:limit]",
        "f('1 2 3')",
    ),
    "try with a narrow except": (
        "def f(x):\n    try:\n        return int(x)\n    except (ValueError, TypeError) as error:\n"
        "        return str(error)[:7]",
        "[f('3'), f('a')]",
    ),
    "helpers and recursion": (
        "def g(n):\n    return n * f(n - 1)\ndef f(n):\n    return 1 if n < 2 else g(n)",
        "f(5)",
    ),
    "comprehensions": ("def f(xs):\n    return {a: [b for b in xs if b > a] for a in xs}", "f([1, 2, 3])"),
    "class": (
        "class Box:\n    size = 2\n    def __init__(self, value=1):\n        self.value = value\n"
        "    def area(self):\n        return self.value * self.size\ndef f(x):\n    return Box(x).area()",
        "f(3)",
    ),
    "only *args": ("def f(*xs):\n    return sum(xs)", "f(1, 2)"),
    "docstring": ('"""Module."""\ndef f(x):\n    """Say it."""\n    return f"{x:>4}"', "f(1)"),
}


def executor() -> LocalPythonExecutor:
    made = LocalPythonExecutor([])
    made.send_tools({})
    return made


def problems(source: str) -> list[str]:
    made = executor()
    return dialect_problems(source, made.static_tools, made.authorized_imports)


def in_python(source: str, call: str) -> Any:
    scope: dict[str, Any] = {}
    exec(compile("from __future__ import annotations\n" + source, "source", "exec"), scope)
    return eval(call, scope)


def in_the_executor(source: str, call: str) -> Any:
    made = executor()
    made(source)
    return made(call).output


@pytest.mark.parametrize(("source", "call"), BENT.values(), ids=BENT.keys())
def test_what_the_executor_bends_is_found(source: str, call: str):
    expected = in_python(source, call)
    try:
        got = in_the_executor(source, call)
    except Exception as error:
        got = error
    assert got != expected, "the executor has learnt this: drop the rule"
    assert problems(source)


@pytest.mark.parametrize(("source", "call"), FAITHFUL.values(), ids=FAITHFUL.keys())
def test_what_means_the_same_is_let_through(source: str, call: str):
    assert problems(source) == []
    assert in_the_executor(source, call) == in_python(source, call)


def test_a_name_that_nothing_defines_is_found_since_a_similar_variable_would_be_taken_for_it():
    assert problems("def f(rows):\n    return len(row)") == ["row is not available"]


def test_source_that_is_not_python_is_a_problem_not_an_exception():
    assert problems("def f(:\n")
    assert problems("\x00")


def test_authorised_packages_cover_their_submodules_only_with_a_star():
    source = "from numpy.linalg import norm\ndef f(x):\n    return norm(x)"
    assert dialect_problems(source, {}, ["numpy"]) == ["import of numpy.linalg is not authorised"]
    assert dialect_problems(source, {}, ["numpy.*"]) == []
    assert dialect_problems(source, {}, ["*"]) == []

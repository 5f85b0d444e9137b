"""Recalled functions (define), replayed calls (call), and the recorded call that produced the final answer."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from agents_runner.sandboxes.errors import CannotCross, CodeRaised
from agents_runner.sandboxes.executor import SandboxExecutor
from agents_runner.sandboxes.limits import SandboxLimits
from agents_runner.sandboxes.records import RecordedCall

SUM = "def total(rows, key='a', *, scale=1):\n    return sum(row[key] for row in rows) * scale\n"


@pytest.fixture(params=["bubblewrap", "landlock"])
def executor(request: pytest.FixtureRequest, tmp_path: object) -> Iterator[SandboxExecutor]:
    file = tmp_path / "in.csv"  # type: ignore[operator]
    file.write_text("a\n1\n2\n")
    with SandboxExecutor(
        request.param, limits=SandboxLimits(step_seconds=10), inputs={"in.csv": file}
    ) as executor:
        yield executor


def answer(executor: SandboxExecutor, *steps: str) -> RecordedCall | None:
    """Run the steps; the last must give the final answer. Whatever was recorded must replay to the same result."""
    for step in steps[:-1]:
        assert not executor(step).is_final_answer
    assert executor(steps[-1]).is_final_answer
    assert executor.last_step is not None
    call = executor.last_step.final_call
    if call is not None and call.replayable:
        assert call.args is not None
        assert call.kwargs is not None
        json.dumps([call.args, call.kwargs, call.result])
        assert executor.call(call.entry_point, call.args, call.kwargs) == call.result
    return call


# -- which call is the answer


def test_a_call_inside_final_answer(executor: SandboxExecutor) -> None:
    call = answer(executor, SUM + "final_answer(total([{'a': 1}, {'a': 2}], scale=10))")
    assert call == RecordedCall("total", True, [[{"a": 1}, {"a": 2}]], {"scale": 10}, 30, "", "step")


def test_a_result_in_a_variable_also_of_an_earlier_step(executor: SandboxExecutor) -> None:
    call = answer(
        executor, SUM, "result = total([{'b': 2}], key='b')", "print(result)", "final_answer(result)"
    )
    assert call == RecordedCall("total", True, [[{"b": 2}]], {"key": "b"}, 2, "", "step")


def test_the_answer_as_a_keyword_and_over_several_lines(executor: SandboxExecutor) -> None:
    call = answer(executor, SUM + "final_answer(\n    answer=total(\n        [{'a': 4}],\n    )\n)")
    assert call is not None
    assert (call.entry_point, call.result) == ("total", 4)


def test_the_outermost_of_nested_helpers(executor: SandboxExecutor) -> None:
    code = """
def parse(text): return [int(part) for part in text.split()]
def clean(text): return sorted(parse(text))
def report(numbers): return {"n": len(numbers), "numbers": numbers}
final_answer(report(clean("3 1 2")))
"""
    call = answer(executor, code)
    assert call is not None
    assert (call.entry_point, call.args) == ("report", [[1, 2, 3]])


def test_a_function_that_gives_the_answer_itself(executor: SandboxExecutor) -> None:
    code = "def main():\n    found = total([{'a': 7}])\n    final_answer(found)\nif __name__ == '__main__':\n    main()"
    call = answer(executor, SUM + code)
    assert call is not None
    assert (call.entry_point, call.args) == ("total", [[{"a": 7}]])


def test_recursion_is_one_call(executor: SandboxExecutor) -> None:
    code = "def depth(n):\n    return 0 if n == 0 else 1 + depth(n - 1)\nfinal_answer(depth(900))"
    call = answer(executor, code)
    assert call is not None
    assert (call.args, call.result) == ([900], 900)


def test_an_alias_of_the_result(executor: SandboxExecutor) -> None:
    call = answer(
        executor,
        SUM + "def table(): return {'x': [1]}\nfirst = table()\nsecond = first\nfinal_answer(second)",
    )
    assert call is not None
    assert call.entry_point == "table"


def test_a_path_as_argument_stays_portable(executor: SandboxExecutor) -> None:
    call = answer(
        executor,
        "def lines(path):\n    return len(open(path).readlines())\nfinal_answer(lines('/inputs/in.csv'))",
    )
    assert call is not None
    assert (call.args, call.result) == (["/inputs/in.csv"], 3)


def test_tuples_sets_and_tables_are_recorded_as_tagged_json(executor: SandboxExecutor) -> None:
    code = """
import pandas as pd
def pairs(frame, wanted): return tuple((name, int(frame[name].sum())) for name in frame if name in wanted)
final_answer(pairs(pd.DataFrame({"a": [1, 2], "b": [3, 4]}), {"a"}))
"""
    call = answer(executor, code)
    assert call is not None
    assert call.replayable
    assert call.args is not None
    assert [value["$"] for value in call.args] == ["frame", "set"]
    assert executor.last_step is not None
    assert executor.last_step.value == call.result


# -- when no function is the answer


@pytest.mark.parametrize(
    "code",
    [
        "final_answer(1 + 1)",
        "x = [1, 2]\nfinal_answer(x)",
        SUM + "x = total([{'a': 1}])\nfinal_answer(1)",  # equal, but not what the function returned
        SUM + "x = total([{'a': 1}])\ny = 1\nfinal_answer(y)",
        SUM + "final_answer(total([{'a': 1}]) + 1)",
        SUM + "final_answer(f'total: {total([{\"a\": 1}])}')",
        "import math\nfinal_answer(math.sqrt(4))",
        "class Box:\n    def get(self): return {}\nfinal_answer(Box().get())",
        "def solve():\n    final_answer({'x': 1})\nsolve()",
        SUM + "final_answer([total([{'a': n}]) for n in range(300)])",
    ],
)
def test_a_script_has_no_entry_point(executor: SandboxExecutor, code: str) -> None:
    assert answer(executor, code) is None


def test_a_step_without_final_answer_records_no_call(executor: SandboxExecutor) -> None:
    executor(SUM + "total([{'a': 1}])")
    assert executor.last_step is not None
    assert executor.last_step.final_call is None


# -- when it cannot be replayed


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("def f(g): return [g(1)]\nfinal_answer(f(lambda x: x))", "an argument cannot be recorded"),
        ("def f(s): return len(s)\nx = f('y' * 70000)\nfinal_answer(x)", "too large"),
        ("def f(): return list(range(40000))\nfinal_answer(f())", "the result cannot be recorded"),
        ("def f(): return object()\nfinal_answer(f())", "no exact JSON form"),
        ("def f(): return [1]\nr = f()\nr.append(2)\nfinal_answer(r)", "changed after the call"),
    ],
)
def test_why_a_call_cannot_be_replayed(executor: SandboxExecutor, code: str, reason: str) -> None:
    call = answer(executor, code)
    assert call is not None
    assert not call.replayable
    assert reason in call.reason
    assert (call.args, call.kwargs, call.result) == (None, None, None)


def test_arguments_are_recorded_as_they_were_before_the_call(executor: SandboxExecutor) -> None:
    call = answer(
        executor,
        "def drain(items):\n    taken = items[:]\n    items.clear()\n    return taken\nfinal_answer(drain([1, 2]))",
    )
    assert call is not None
    assert (call.args, call.result) == ([[1, 2]], [1, 2])


# -- recording changes nothing


def test_functions_remain_what_they_were(executor: SandboxExecutor) -> None:
    code = """
import functools, inspect, pickle, threading
@functools.lru_cache
def cached(n): return [n]
def steps(n):
    "counts"
    for i in range(n):
        got = yield i
def keyword(a, /, b, *rest, c=3, **more): return (a, b, rest, c, more)
def outer():
    frame = inspect.currentframe()
    return frame.f_back.f_code.co_name
a, b = cached(1), cached(1)
g = steps(3)
thread = threading.Thread(target=lambda: keyword(1, 2))
thread.start(); thread.join()
[a is b, cached.cache_info().hits, list(g), str(inspect.signature(keyword)), keyword(1, 2, 4, c=5, d=6),
 pickle.loads(pickle.dumps(keyword)) is keyword, steps.__doc__, inspect.isgeneratorfunction(steps), type(steps).__name__,
 inspect.getsource(keyword).strip()]
"""
    found = executor(code).output
    assert found[:3] == [True, 1, [0, 1, 2]]
    assert found[3] == "(a, /, b, *rest, c=3, **more)"
    assert found[4] == (1, 2, (4,), 5, {"d": 6})
    assert found[5:9] == [True, "counts", True, "function"]
    assert found[9].startswith("def keyword(a, /, b")


def test_recursion_is_as_deep_as_in_plain_python(executor: SandboxExecutor) -> None:
    assert executor("def deep(n):\n    return n if n == 0 else deep(n - 1)\ndeep(960)").output == 0


def test_the_traceback_of_a_recorded_call_shows_no_frame_of_ours(executor: SandboxExecutor) -> None:
    with pytest.raises(CodeRaised) as caught:
        executor("def bad():\n    return 1 / 0\nfinal_answer(bad())")
    assert caught.value.error.traceback.count("File ") == 2
    assert caught.value.error.line == 2


def test_calls_in_a_hot_loop_stay_cheap(executor: SandboxExecutor) -> None:
    executor("def inc(n): return n + 1\nn = 0\nfor _ in range(200_000): n = inc(n)")
    assert executor.last_step is not None
    assert executor.last_step.seconds < 2


def test_final_answer_cannot_be_swallowed(executor: SandboxExecutor) -> None:
    output = executor("try:\n    final_answer({'a': (1, 2)})\nexcept BaseException:\n    pass\n'not final'")
    assert (output.output, output.is_final_answer) == ({"a": (1, 2)}, True)


def test_final_answer_wants_one_argument(executor: SandboxExecutor) -> None:
    with pytest.raises(CodeRaised, match="exactly 1 argument"):
        executor("final_answer()")
    assert not executor("1").is_final_answer


# -- functions from memory


def test_a_recalled_function_is_there_before_the_first_step(executor: SandboxExecutor) -> None:
    assert executor.define("import re\n" + SUM, name="sums") == ["total"]
    call = answer(executor, "final_answer(total([{'a': 5}]))")
    assert call is not None
    assert (call.entry_point, call.defined_in) == ("total", "memory")
    assert executor.last_step is not None
    assert executor.last_step.number == 1
    assert executor.last_step.memory_functions == ("total",)


def test_a_step_that_writes_its_own_function_does_not_use_memory(executor: SandboxExecutor) -> None:
    executor.define(SUM)
    executor("1 + 1")
    assert executor.last_step is not None
    assert executor.last_step.memory_functions == ()
    call = answer(executor, "def total(rows): return len(rows)\nfinal_answer(total([1]))")
    assert call is not None
    assert call.defined_in == "step"


def test_an_error_in_a_recalled_function_names_it(executor: SandboxExecutor) -> None:
    executor.define(SUM, name="sums")
    with pytest.raises(CodeRaised) as caught:
        executor("total([{}])")
    assert (caught.value.error.source_name, caught.value.error.line) == ("<memory: sums>", 2)


def test_recalled_code_that_fails_is_an_error_and_is_not_kept(executor: SandboxExecutor) -> None:
    with pytest.raises(CodeRaised):
        executor.define("raise ValueError('broken')")
    executor.cleanup()
    assert executor("1 + 1").output == 2


def test_a_recorded_call_can_be_replayed_in_a_fresh_sandbox(executor: SandboxExecutor) -> None:
    call = answer(executor, SUM + "final_answer(total([{'a': 1}, {'a': 2}], scale=3))")
    assert call is not None
    assert call.args is not None
    executor.cleanup()
    executor.define(SUM)
    assert executor.call(call.entry_point, call.args, call.kwargs) == call.result == 9
    with pytest.raises(CodeRaised, match="NameError"):
        executor.call("nobody")
    with pytest.raises(CodeRaised, match="TypeError"):
        executor.call("total", [1, 2, 3, 4])


def test_a_result_without_an_exact_form_cannot_be_compared(executor: SandboxExecutor) -> None:
    executor.define("def f(): return object()")
    with pytest.raises(CannotCross, match="no exact JSON form"):
        executor.call("f")

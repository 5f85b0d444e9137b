"""How recalled functions get into the session of each kind of executor."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from smolagents.local_python_executor import CodeOutput, LocalPythonExecutor, PythonExecutor
from smolagents.remote_executors import RemotePythonExecutor

from memory_hub_client.define import define_callables
from memory_hub_client.types import OfferedCallable


def offer(
    name: str = "f", source: str = "def f(x):\n    return x\n", revision: str = "rev-1"
) -> OfferedCallable:
    return OfferedCallable(name, f"{name}(x)", source, revision)


def agent_with(executor: Any, **more: Any) -> Any:
    return SimpleNamespace(
        python_executor=executor, **({"tools": {}, "managed_agents": {}, "state": {}} | more)
    )


class Remote(RemotePythonExecutor):
    """The stock remote executors without a machine behind them."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails
        self.ran: list[str] = []
        self.tools_sent = 0

    def run_code_raise_errors(self, code: str) -> CodeOutput:
        if self.fails:
            raise RuntimeError("kernel gone")
        self.ran.append(code)
        return CodeOutput(None, "", False)

    def send_tools(self, tools: Any) -> None:
        self.tools_sent += 1


def test_a_remote_executor_gets_the_source_and_no_tools_since_sending_them_twice_breaks_final_answer():
    executor = Remote()
    assert define_callables(agent_with(executor), [offer()]) == (offer(),)
    assert (executor.ran, executor.tools_sent) == ([offer().source], 0)


def test_an_executor_that_fails_defines_nothing():
    assert define_callables(agent_with(Remote(fails=True)), [offer()]) == ()


def test_an_executor_of_an_unknown_kind_is_left_alone():
    class Own(PythonExecutor):
        def send_tools(self, tools: Any) -> None:
            raise AssertionError

        send_variables = __call__ = send_tools  # type: ignore[assignment]

    assert define_callables(agent_with(Own()), [offer()]) == ()


def test_an_agent_without_code_defines_nothing():
    assert define_callables(SimpleNamespace(tools={}), [offer()]) == ()


def test_an_executor_that_says_it_did_not_define_the_function_is_believed():
    assert define_callables(agent_with(SimpleNamespace(define=lambda source: ["g"])), [offer()]) == ()


def test_a_function_called_like_a_builtin_of_the_local_executor_is_not_defined_since_the_builtin_would_win():
    executor = LocalPythonExecutor([])
    assert define_callables(agent_with(executor), [offer("round", "def round(x):\n    return 1\n")]) == ()


@pytest.mark.parametrize(
    "item",
    [
        offer("g"),
        offer("not a name"),
        offer("class"),
        offer(source="def f(x)\n"),
        offer(source="f = 1; print(f)\n"),
        offer(source="for f in [1]:\n    pass\n"),
        offer(source=""),
    ],
    ids=["another name", "no name", "keyword", "no Python", "a loose call", "a loop", "nothing"],
)
def test_what_does_not_plainly_define_the_function_is_not_run(item: OfferedCallable):
    executor = Remote()
    assert define_callables(agent_with(executor), [item]) == ()
    assert executor.ran == []


@pytest.mark.parametrize("where", ["tools", "managed_agents", "state"])
def test_names_of_the_agent_are_never_replaced_not_even_by_a_helper(where: str):
    helper = offer(source="LIMIT = 3\ndef f(x):\n    return x\n")
    assert define_callables(agent_with(Remote(), **{where: {"LIMIT": 9}}), [helper]) == ()


def test_two_functions_share_equal_helpers_but_never_replace_each_others():
    first = offer("f", "import re\ndef h(x):\n    return 1\ndef f(x):\n    return h(x)\n")
    same = offer("g", "import re\ndef h(x):\n    return 1\ndef g(x):\n    return h(x)\n", "rev-2")
    other = offer("k", "def h(x):\n    return 2\ndef k(x):\n    return h(x)\n", "rev-3")
    assert define_callables(agent_with(Remote()), [first, same, other]) == (first, same)

"""smolagents' own CodeAgent on our executor, with a model whose replies are scripted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from smolagents import ActionStep, CodeAgent, FinalAnswerTool, Tool
from smolagents.models import ChatMessage, MessageRole, Model
from smolagents.monitoring import LogLevel

from agents_runner.sandboxes.executor import SandboxExecutor
from agents_runner.sandboxes.limits import SandboxLimits

SANDBOXES = ["bubblewrap", "landlock"]


class Scripted(Model):
    """Says the given code blobs in turn and remembers what it was asked."""

    def __init__(self, replies: Sequence[str]) -> None:
        super().__init__(model_id="scripted")
        self.replies = list(replies)
        self.asked: list[str] = []

    def generate(self, messages: list[Any], **_: Any) -> ChatMessage:
        self.asked.append(str([getattr(message, "content", message) for message in messages]))
        text = f"Thought: next.\n<code>\n{self.replies.pop(0)}\n</code>"
        return ChatMessage(role=MessageRole.ASSISTANT, content=text)


class Rates(Tool):
    """A tool with state that must stay on the host."""

    name = "rate"
    description = "The exchange rate of a currency."
    inputs = {"currency": {"type": "string", "description": "a code"}}
    output_type = "number"

    def __init__(self, secret: str) -> None:
        super().__init__()
        self.secret = secret

    def forward(self, currency: str) -> float:
        assert self.secret == "key"
        return {"EUR": 1.5}[currency]


def agent_on(executor: SandboxExecutor, replies: Sequence[str], **options: Any) -> CodeAgent:
    return CodeAgent(
        tools=[Rates("key")], model=Scripted(replies), executor=executor, verbosity_level=LogLevel.OFF,
        additional_authorized_imports=executor.authorized_imports, **options,
    )  # fmt: skip


@pytest.fixture(params=SANDBOXES)
def executor(request: pytest.FixtureRequest) -> Any:
    with SandboxExecutor(request.param, limits=SandboxLimits(step_seconds=20)) as executor:
        yield executor


def test_an_agent_works_calls_tools_recovers_from_an_error_and_answers(executor: SandboxExecutor) -> None:
    agent = agent_on(
        executor,
        [
            "import pandas as pd\ntable = pd.DataFrame(rows)\nprint(table['amount'].sum())",
            "print('about to fail')\nfloat('1,5')",
            "def convert(amount, rate): return {'total': amount * rate}\n"
            "final_answer(convert(int(table['amount'].sum()), rate(currency='EUR')))",
        ],
    )
    result = agent.run("Convert.", additional_args={"rows": [{"amount": 2}, {"amount": 4}]})
    assert result == {"total": 9.0}
    steps = [step for step in agent.memory.steps if isinstance(step, ActionStep)]
    assert "6" in str(steps[0].observations)
    assert "could not convert string to float: '1,5'" in str(steps[1].error)
    assert "at line 2 of <step 2>: float('1,5')" in str(steps[1].error)
    assert "about to fail" in str(steps[1].observations)
    assert executor.last_step is not None
    assert executor.last_step.final_call is not None
    assert executor.last_step.final_call.entry_point == "convert"
    assert executor.last_step.final_call.args == [6, 1.5]


def test_two_runs_of_one_agent(executor: SandboxExecutor) -> None:
    agent = agent_on(executor, ["x = 1\nfinal_answer(x)", "final_answer(x + rate('EUR'))"])
    assert agent.run("One.") == 1
    assert agent.run("Two.", reset=False) == 2.5


def test_a_managed_agent_can_be_called_from_inside(executor: SandboxExecutor) -> None:
    with SandboxExecutor(executor.sandbox_name) as other:
        helper = agent_on(other, ["final_answer('from the helper')"], name="helper", description="helps")
        agent = CodeAgent(
            tools=[], model=Scripted(["final_answer(helper(task='help'))"]), executor=executor,
            managed_agents=[helper], verbosity_level=LogLevel.OFF,
        )  # fmt: skip
        assert "from the helper" in str(agent.run("Delegate."))


def test_a_final_answer_tool_of_ones_own_runs_on_the_host(executor: SandboxExecutor) -> None:
    class Checked(FinalAnswerTool):
        def forward(self, answer: Any) -> Any:
            return {"checked": answer}

    agent = agent_on(executor, ["final_answer(5)"])
    agent.tools["final_answer"] = Checked()
    assert agent.run("Answer.") == {"checked": 5}


def test_a_killed_step_is_told_to_the_model_and_the_run_goes_on(executor: SandboxExecutor) -> None:
    agent = agent_on(executor, ["import os\nx = 1\nos._exit(1)", "final_answer('x' in globals())"])
    assert agent.run("Crash.") is False
    assert "variables, imports and files of earlier steps are gone" in agent.model.asked[1]


def test_the_agent_is_told_what_it_can_import(executor: SandboxExecutor) -> None:
    agent = agent_on(executor, ["final_answer(1)"])
    agent.run("Answer.")
    assert "pandas" in agent.model.asked[0]

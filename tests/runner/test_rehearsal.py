"""The rehearsal inside a real CodeAgent: it fails first, learns from the error in its prompt, and reuses what is offered.

The executor here runs each step in this process with plain Python: the code is the rehearsal's own.
"""

from __future__ import annotations

import contextlib
import io

import pytest
from smolagents import CodeAgent
from smolagents.local_python_executor import CodeOutput, PythonExecutor
from smolagents.memory import ActionStep
from smolagents.models import ChatMessage, MessageRole
from smolagents.monitoring import LogLevel
from smolagents.utils import AgentGenerationError

from agents_runner.rehearsal import REHEARSAL_MODEL_ID, RehearsalModel, RehearsalRefusedError
from agents_runner.rehearsal.attempts import SOLUTIONS, attempts_for
from agents_runner.rehearsal.offered import offered_functions
from agents_runner.samples import SAMPLES
from memory_hub_client.prompt import task_with_memory
from memory_hub_client.types import OfferedCallable
from tests.runner.sample_support import run_code

BY_KEY = {sample.key: sample for sample in SAMPLES}
# the three pairs that need no pandas, so that these tests stay quick
QUICK = [BY_KEY[key] for key in ("va-education-2010", "va-education-2009", "german-area", "federal-tables")]


class _FinalAnswer(BaseException):
    def __init__(self, value):
        self.value = value


class InProcessExecutor(PythonExecutor):
    """A PythonExecutor for trusted code: keeps its variables, reports errors with their type."""

    def __init__(self, inputs):
        self.inputs = inputs
        self.state = {"_print_outputs": ""}
        self.variables = {"__name__": "__main__", "final_answer": self._final_answer}

    def _final_answer(self, value):
        raise _FinalAnswer(value)

    def send_tools(self, tools):
        pass

    def send_variables(self, variables):
        self.variables.update(variables)

    def __call__(self, code_action):
        for path in self.inputs:
            code_action = code_action.replace(f"/inputs/{path.name}", str(path))
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(code_action, "<step>", "exec"), self.variables)
        except _FinalAnswer as answer:
            return CodeOutput(output=answer.value, logs=printed.getvalue(), is_final_answer=True)
        except Exception as error:
            raise RuntimeError(f"{type(error).__name__}: {error}") from error
        finally:
            self.state["_print_outputs"] = printed.getvalue()
        return CodeOutput(output=None, logs=printed.getvalue(), is_final_answer=False)


def rehearse(sample, *, task=None, before="", **options):
    """(answer, ActionSteps) of a run; ``before`` is code defined in the session before it, as memory does."""
    executor = InProcessExecutor(sample.inputs)
    if before:
        executor(before)
    agent = CodeAgent([], RehearsalModel(), executor=executor, verbosity_level=LogLevel.OFF, **options)
    answer = agent.run(task or sample.task, max_steps=6)
    return answer, [step for step in agent.memory.steps if isinstance(step, ActionStep)]


def memory_block(*items):
    """The block as the client writes it around the hub's cards."""
    cards = "\n\n".join(
        f"### {number}. `{signature}`\n{about}" for number, (signature, about) in enumerate(items, start=1)
    )
    callables = [
        OfferedCallable(
            name=signature.partition("(")[0], signature=signature, source="", revision_id=str(number)
        )
        for number, (signature, _) in enumerate(items)
    ]
    return task_with_memory("", cards, callables, [], 2000)


@pytest.mark.parametrize("sample", QUICK, ids=lambda sample: sample.key)
@pytest.mark.parametrize("options", [{}, {"code_block_tags": "markdown"}, {"stream_outputs": True}], ids=str)
def test_without_memory_each_scripted_attempt_fails_and_the_last_answers(sample, options, capsys):
    answer, steps = rehearse(sample, **options)
    attempts = attempts_for(sample)
    assert [bool(step.error) for step in steps] == [True] * (len(attempts) - 1) + [False]
    for attempt, step in zip(attempts, steps, strict=True):
        assert attempt.fails_with in str(step.error or "")
    assert answer == run_code(attempts[-1].code, sample.inputs)[0]


def test_an_offered_function_about_the_task_is_called_by_the_name_found_in_the_prompt():
    sample = BY_KEY["va-education-2009"]
    source = (SOLUTIONS / "state_totals.py").read_text(encoding="utf-8")
    renamed = source.replace("summarise_state_totals", "totals_by_state_v2")
    block = memory_block(
        ("unrelated(path)", "Roman numerals to integers"),
        ("totals_by_state_v2(path: str) -> dict", "Add up the TOTAL column of the VA education benefits."),
    )
    answer, steps = rehearse(sample, task=sample.task + block, before=renamed)
    assert len(steps) == 1
    assert 'final_answer(totals_by_state_v2("/inputs/va-education-2009.csv"))' in steps[0].code_action
    assert answer == rehearse(sample)[0]


def test_a_function_about_something_else_is_not_called():
    sample = BY_KEY["german-area"]
    block = memory_block(("find_sunniest_day(path)", "Find the sunniest day in an hourly TMY3 weather file."))
    _, steps = rehearse(sample, task=sample.task + block)
    assert not any("find_sunniest_day" in step.code_action for step in steps)
    assert len(steps) == len(attempts_for(sample))


def test_when_the_offered_function_fails_the_long_way_follows():
    sample = BY_KEY["va-education-2010"]
    block = memory_block(("broken(path)", "Add up the TOTAL column."))
    answer, steps = rehearse(
        sample, task=sample.task + block, before='def broken(path):\n    raise OSError("moved")\n'
    )
    assert "moved" in str(steps[0].error)
    assert len(steps) == 1 + len(attempts_for(sample))
    assert answer == rehearse(sample)[0]


def test_a_task_that_is_no_sample_is_refused_with_what_to_do_about_it():
    with pytest.raises(AgentGenerationError, match="add a model connection"):
        rehearse(SAMPLES[0], task="Sort my photographs by colour.")


def prompt(task, *errors):
    messages = [ChatMessage(role=MessageRole.SYSTEM, content="You write code.")]
    messages.append(
        ChatMessage(role=MessageRole.USER, content=[{"type": "text", "text": f"New task:\n{task}"}])
    )
    for error in errors:
        messages.append(ChatMessage(role=MessageRole.ASSISTANT, content="..."))
        messages.append(
            ChatMessage(role=MessageRole.TOOL_RESPONSE, content=f"Call id: 1\nError:\n{error}\nNow retry")
        )
    return messages


STOP = ["Observation:", "Calling tools:", "</code>"]


def test_an_error_the_script_does_not_expect_ends_the_rehearsal():
    with pytest.raises(RehearsalRefusedError, match="another error"):
        RehearsalModel().generate(prompt(SAMPLES[0].task, "MemoryError: no more"), STOP)


def test_the_same_prompt_gets_the_same_reply_from_a_model_that_has_seen_nothing_before():
    messages = prompt(SAMPLES[0].task, "KeyError: 'TOTAL'")
    used = RehearsalModel()
    used.generate(prompt(SAMPLES[0].task), STOP)
    assert used.generate(messages, STOP).content == RehearsalModel().generate(messages, STOP).content
    assert attempts_for(SAMPLES[0])[1].code in RehearsalModel().generate(messages, STOP).content


def test_a_hint_that_quotes_another_error_is_not_taken_for_one():
    hint = ChatMessage(
        role=MessageRole.TOOL_RESPONSE,
        content="Observation:\nA lesson from memory:\nError: ValueError: invalid literal for int()",
    )
    first = RehearsalModel().generate([*prompt(SAMPLES[0].task), hint], STOP)
    assert attempts_for(SAMPLES[0])[0].code in first.content


def test_it_says_that_it_is_no_model_and_claims_no_tokens():
    model = RehearsalModel()
    reply = model.generate(prompt(SAMPLES[0].task), STOP)
    assert model.model_id == REHEARSAL_MODEL_ID == "rehearsal (scripted replies, no model)"
    assert (reply.token_usage.input_tokens, reply.token_usage.output_tokens) == (0, 0)


def test_it_waits_before_each_reply_as_long_as_the_connection_says(monkeypatch):
    waits = []
    monkeypatch.setattr("agents_runner.rehearsal.model.time.sleep", waits.append)
    RehearsalModel(pause_seconds=1.5).generate(prompt(SAMPLES[0].task), STOP)
    RehearsalModel().generate(prompt(SAMPLES[0].task), STOP)
    assert waits == [1.5]


@pytest.mark.parametrize(
    ("block", "names"),
    [
        (memory_block(("clean_dates(path)", "Usage: `other('x')`"), ("b(c)", "")), ["clean_dates", "b"]),
        (memory_block(), []),
        ("\n### 1. `clean_dates(path)` without a list of what is defined", []),
        ("\nFunctions from memory, already defined in your Python session:\nnone today", []),
    ],
)
def test_only_functions_listed_as_defined_count_as_offered(block, names):
    assert [function.name for function in offered_functions("New task:\nx" + block)] == names


def test_the_task_of_another_run_quoted_in_memory_is_not_taken_for_this_one():
    twin = BY_KEY["va-education-2009"]
    block = memory_block(("clean_dates(path)", f"> {BY_KEY['va-education-2010'].task}"))
    reply = RehearsalModel().generate(prompt(twin.task + block), STOP).content
    assert "va-education-2009.csv" in reply

"""An attached agent whose code runs in our own sandbox: real Python, structured errors, the recorded final call."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents_runner.rehearsal.offered import offered_functions
from agents_runner.sandboxes.executor import SandboxExecutor
from memory_hub_client import LessonHint, attach
from tests.runner.attach_cast import SLUG, MemoryHub, code_agent, offered, recalled, step


@pytest.fixture
def executor() -> Iterator[SandboxExecutor]:
    with SandboxExecutor() as executor:
        executor.start()
        yield executor


def test_a_recalled_function_is_called_and_the_final_call_is_recorded(executor: SandboxExecutor):
    hub = MemoryHub(recalled(offered()))
    agent = attach(code_agent(step("final_answer(slug('Big News'))"), executor=executor), hub)
    assert agent.run("Make a slug") == "big-news"
    [record] = hub.records
    assert record.used_revision_ids == record.defined_revision_ids == ("rev-1",)
    assert record.final_call is not None
    assert (record.final_call["entry_point"], record.final_call["args"]) == ("slug", ["Big News"])
    assert (record.final_call["defined_in"], record.final_call["result"]) == ("memory", "big-news")
    assert record.environment["sandbox"] == executor.sandbox_name == hub.queries[0].sandbox
    assert record.environment["executor"] == "SandboxExecutor"


def test_a_function_the_local_executor_would_bend_is_defined_in_real_python(executor: SandboxExecutor):
    source = (
        "def first(rows):\n    try:\n        return rows[0]\n    except Exception:\n        return None\n"
    )
    hub = MemoryHub(recalled(offered("first", source)))
    agent = attach(code_agent(step("final_answer(first([5]))"), executor=executor), hub)
    assert agent.run("x") == 5
    assert hub.records[0].used_revision_ids == ("rev-1",)


def test_the_offer_is_read_by_the_rehearsal_as_it_stands_in_the_prompt(executor: SandboxExecutor):
    agent = attach(code_agent(step("final_answer(1)"), executor=executor), MemoryHub(recalled(offered())))
    agent.run("x")
    assert [function.name for function in offered_functions(agent.model.prompts[0])] == ["slug"]


def test_the_error_comes_from_the_sandboxs_own_record(executor: SandboxExecutor):
    hub = MemoryHub(lesson=LessonHint("lesson-1", "Check the column first.", ""))
    code = "rows = {'a': 1}\n\ndef get(name):\n    return rows[name]\n\nget('b')"
    agent = attach(code_agent(step(code), step("final_answer(1)"), executor=executor), hub)
    agent.run("x")
    [query] = hub.errors
    assert (query.exception_type, query.failing_line) == ("KeyError", "return rows[name]")
    assert "Traceback" in query.traceback
    error = hub.records[0].steps[0].error
    assert error is not None
    assert error.line_number == 4
    assert "Check the column first." in agent.model.prompts[1]


def test_source_that_fails_when_defined_is_offered_as_text(executor: SandboxExecutor):
    source = "import no_such_package\n\ndef slug(text):\n    return no_such_package.slug(text)\n"
    hub = MemoryHub(recalled(offered("slug", source)))
    agent = attach(code_agent(step("final_answer(1)"), executor=executor), hub)
    assert agent.run("x") == 1
    assert source in agent.memory.steps[0].task
    assert hub.records[0].defined_revision_ids == ()


def test_two_runs_of_one_agent_share_the_sandbox(executor: SandboxExecutor):
    hub = MemoryHub(recalled(offered()))
    agent = attach(
        code_agent(step("final_answer(slug('A B'))"), step("final_answer(slug('C D'))"), executor=executor),
        hub,
    )
    assert (agent.run("one"), agent.run("two")) == ("a-b", "c-d")
    assert [record.final_call["args"] for record in hub.records if record.final_call] == [["A B"], ["C D"]]


def test_source_arrives_byte_for_byte(executor: SandboxExecutor):
    hub = MemoryHub(recalled(offered()))
    look = step("import inspect\nfinal_answer(inspect.getsource(slug))")
    assert attach(code_agent(look, executor=executor), hub).run("x") == SLUG

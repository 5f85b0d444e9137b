"""However a run ends, and whatever the hub does meanwhile: the caller sees what it would see without a hub."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from smolagents.utils import AgentError, AgentGenerationError

from memory_hub_client import RecallResult, attach
from tests.runner.attach_cast import MemoryHub, code_agent, offered, recalled, step

CALL = step("final_answer(slug('Big News'))")


class Broken:
    """A hub in which everything is wrong."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no such luck")


@pytest.mark.parametrize(
    "hub",
    [
        Broken(),
        MemoryHub(RuntimeError("down"), RuntimeError("down"), RuntimeError("down")),
        MemoryHub({"not": "a result"}),
        MemoryHub(RecallResult("r", (), None, None, False)),  # type: ignore[arg-type]
        MemoryHub(lesson="not a hint"),
    ],
    ids=["broken", "raising", "wrong type", "wrong fields", "wrong hint"],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_hub_that_is_wrong_changes_nothing(hub: Any, stream: bool, caplog: pytest.LogCaptureFixture):
    agent = attach(code_agent(step("import json"), step("final_answer(41 + 1)")), hub)
    answer = list(agent.run("x", stream=True))[-1].output if stream else agent.run("x")
    assert answer == 42
    assert "Memory hub: could not" in caplog.text


def test_a_recall_that_failed_still_leaves_a_record():
    hub = MemoryHub(RuntimeError("down"))
    attach(code_agent(step("final_answer(1)")), hub).run("x")
    assert (hub.records[0].recall_id, hub.records[0].outcome) == (None, "succeeded")


def test_a_stream_yields_the_same_events_and_is_recorded():
    def kinds(agent: Any) -> list[str]:
        return [type(event).__name__ for event in agent.run("x", stream=True)]

    replies = (step("a = 1"), step("import json"), step("final_answer(a)"))
    hub = MemoryHub()
    assert kinds(attach(code_agent(*replies), hub)) == kinds(code_agent(*replies))
    [record] = hub.records
    assert (record.outcome, record.answer, len(record.steps)) == ("succeeded", 1, 3)


def test_a_stream_sees_memory_and_hints():
    hub = MemoryHub(recalled(offered()))
    agent = attach(code_agent("plan", CALL, planning_interval=3), hub)
    events = list(agent.run("x", stream=True))
    assert events[-1].output == "big-news"
    assert "A proven way" in agent.model.prompts[0]
    assert hub.records[0].used_revision_ids == ("rev-1",)
    assert hub.records[0].tokens == 220  # planning costs too


def test_a_stream_closed_between_steps_is_recorded_as_cancelled():
    hub = MemoryHub()
    agent = attach(code_agent(step("a = 1"), step("final_answer(a)")), hub)
    events = agent.run("x", stream=True)
    for event in events:
        if type(event).__name__ == "ActionStep":
            break
    events.close()
    [record] = hub.records
    assert (record.outcome, [s.code for s in record.steps]) == ("cancelled", ["a = 1"])


def test_a_stream_closed_within_a_step_ends_as_without_a_hub_and_is_recorded():
    def close_early(agent: Any) -> str:
        events = agent.run("x", stream=True)
        next(events)
        try:
            events.close()
        except RuntimeError as error:
            return str(error)
        return ""

    hub = MemoryHub()
    replies = (step("a = 1"), step("final_answer(a)"))
    assert close_early(attach(code_agent(*replies), hub)) == close_early(code_agent(*replies))
    assert [record.outcome for record in hub.records] == ["cancelled"]


def test_an_abandoned_stream_records_its_own_steps_even_after_another_run():
    hub = MemoryHub()
    agent = attach(code_agent(step("a = 1"), step("final_answer(2)")), hub)
    events = agent.run("first", stream=True)
    for event in events:
        if type(event).__name__ == "ActionStep":
            break
    assert agent.run("second") == 2
    del events
    gc.collect()
    assert [(r.task, r.outcome, [s.code for s in r.steps]) for r in hub.records] == [
        ("second", "succeeded", ["final_answer(2)"]),
        ("first", "cancelled", ["a = 1"]),
    ]


def test_a_failing_model_raises_as_before_and_is_recorded():
    hub = MemoryHub()
    agent = attach(code_agent(step("a = 1"), ConnectionError("model down")), hub)
    with pytest.raises(AgentGenerationError, match="model down"):
        agent.run("x")
    [record] = hub.records
    assert (record.outcome, [s.code for s in record.steps]) == ("exception", ["a = 1"])
    assert record.error is not None
    assert record.error.type == "AgentGenerationError"


def test_a_keyboard_interrupt_passes_and_is_recorded_as_cancelled():
    hub = MemoryHub()
    with pytest.raises(KeyboardInterrupt):
        attach(code_agent(step("a = 1"), KeyboardInterrupt()), hub).run("x")
    assert [(record.outcome, len(record.steps)) for record in hub.records] == [("cancelled", 1)]


def test_an_interrupted_run_is_recorded_as_cancelled():
    hub = MemoryHub()
    agent = code_agent(step("a = 1"), step("b = 2"), step_callbacks=[lambda step, agent: agent.interrupt()])
    with pytest.raises(AgentError, match="interrupted"):
        attach(agent, hub).run("x")
    assert [(record.outcome, len(record.steps)) for record in hub.records] == [("cancelled", 1)]


def test_running_out_of_steps_is_recorded_with_what_was_tried():
    hub = MemoryHub()
    agent = attach(code_agent(step("import json"), step("b = 2"), "I give up", max_steps=2), hub)
    assert agent.run("x") == "I give up"
    [record] = hub.records
    assert (record.outcome, record.answer, len(record.steps)) == ("max_steps", "I give up", 2)
    assert record.final_call is None


def test_a_refused_final_answer_is_recorded_as_a_check_that_failed():
    hub = MemoryHub()
    agent = code_agent(
        step("final_answer(1)"),
        step("final_answer(2)"),
        final_answer_checks=[lambda answer, memory, agent: answer == 2],
    )
    assert attach(agent, hub).run("x") == 2
    first, second = hub.records[0].steps
    assert first.error is not None
    assert first.error.kind == "check"
    assert (first.is_final, second.is_final, hub.records[0].outcome) == (False, True, "succeeded")


def test_an_answer_that_json_cannot_hold_is_recorded_as_its_repr():
    hub = MemoryHub()
    agent = attach(
        code_agent(step("a = []\na.append(a)\nfinal_answer(a)"), step("final_answer((1, 2))")), hub
    )
    agent.run("cyclic")
    assert agent.run("tuple") == (1, 2)
    assert [(r.answer, r.answer_is_repr) for r in hub.records] == [("[[...]]", True), ("(1, 2)", True)]


def test_a_full_result_comes_back_whole_and_its_answer_is_recorded():
    hub = MemoryHub()
    result = attach(code_agent(step("final_answer({'a': 1})")), hub).run("x", return_full_result=True)
    assert (result.state, result.output) == ("success", {"a": 1})
    assert (hub.records[0].answer, hub.records[0].answer_is_repr) == ({"a": 1}, False)


def test_wrong_arguments_raise_what_the_agent_would_raise_and_leave_nothing():
    hub = MemoryHub()
    agent = attach(code_agent(), hub)
    with pytest.raises(TypeError, match="unexpected keyword"):
        agent.run("x", colour="red")
    with pytest.raises(TypeError, match="task"):
        agent.run()
    assert hub.queries == hub.records == []


def test_a_set_up_that_fails_leaves_no_record_of_an_earlier_run():
    hub = MemoryHub()
    agent = attach(code_agent(step("final_answer(1)")), hub)
    agent.run("first")
    with pytest.raises((TypeError, ValueError)):
        agent.run("second", reset=False, additional_args=7)  # type: ignore[arg-type]
    assert [record.task for record in hub.records] == ["first"]

"""The whole loop without a hub: rehearse a sample in the real sandbox, distil it, and reuse that on the twin."""

from __future__ import annotations

import pytest
from smolagents import CodeAgent
from smolagents.memory import ActionStep
from smolagents.monitoring import LogLevel

from agents_runner.distill import (
    FinalCall,
    RecalledFunction,
    StepData,
    Trajectory,
    distill,
    from_sandbox,
)
from agents_runner.rehearsal import RehearsalModel
from agents_runner.rehearsal.attempts import attempts_for
from agents_runner.samples import SAMPLES
from agents_runner.sandboxes.executor import SandboxExecutor
from memory_hub_client.prompt import task_with_memory
from memory_hub_client.types import OfferedCallable
from tests.runner.sample_support import run_code

BY_KEY = {sample.key: sample for sample in SAMPLES}
FIRSTS = [sample for index, sample in enumerate(SAMPLES) if index % 2 == 0]


def rehearse(sample, recalled=()):
    """The Trajectory of a run in a sandbox, with the functions of ``recalled`` drafts defined and offered."""
    task = sample.task
    if recalled:
        cards = "\n\n".join(
            f"### {n}. `{draft.signature}`\n{draft.title}" for n, draft in enumerate(recalled, 1)
        )
        offered = [
            OfferedCallable(draft.entry_point, draft.signature, draft.code, str(n))
            for n, draft in enumerate(recalled)
        ]
        task = task_with_memory(task, cards, offered, [], 2000)
    records = []
    with SandboxExecutor(inputs={path.name: path for path in sample.inputs}) as executor:
        for draft in recalled:
            executor.define(draft.code)
        agent = CodeAgent(
            [],
            RehearsalModel(),
            executor=executor,
            verbosity_level=LogLevel.OFF,
            step_callbacks=[lambda step, agent: records.append(executor.last_step)],
        )
        answer = agent.run(task, max_steps=6)
    actions = [step for step in agent.memory.steps if isinstance(step, ActionStep)]
    steps = [
        StepData(
            number=step.step_number,
            code=step.code_action,
            thought=step.model_output.partition("<code>")[0],
            error=from_sandbox(record.error) if record.error else None,
            is_final=step.is_final_answer,
        )
        for step, record in zip(actions, records, strict=True)
    ]
    call = records[-1].final_call
    return Trajectory(
        task=sample.task,
        steps=steps,
        answer=answer,
        final_call=call
        and FinalCall(call.entry_point, call.args, call.kwargs, call.result, call.replayable, call.reason),
        recalled=[RecalledFunction(draft.entry_point, draft.code) for draft in recalled],
    )


@pytest.mark.parametrize("sample", FIRSTS, ids=lambda sample: sample.key)
def test_what_is_distilled_from_a_sample_solves_its_twin_in_one_step(sample):
    first = rehearse(sample)
    assert len(first.steps) == len(attempts_for(sample))
    learnt = distill(first)
    draft = learnt.solution
    assert draft.kind == "function"
    assert draft.check["result"] == first.answer
    assert len(draft.failed_alternatives) == len(first.steps) - 1
    assert [lesson.open for lesson in learnt.lessons] == [False] * (len(first.steps) - 1)
    assert all(lesson.exception_type and lesson.failing_source_line for lesson in learnt.lessons)

    twin = BY_KEY[sample.twin_key]
    second = rehearse(twin, [draft])
    assert len(second.steps) == 1
    assert second.answer == run_code(attempts_for(twin)[-1].code, twin.inputs)[0]
    reused = distill(second).solution
    assert (reused.reused_only, reused.entry_point) == (True, draft.entry_point)

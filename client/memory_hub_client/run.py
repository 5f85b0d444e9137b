"""What is known of the run that is going on, and the record made of it when it ends."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from .errors import read_exception
from .harvest import environment_of, final_call, has_content, is_kind, plain_answer, record_step, sum_tokens
from .types import Metric, OfferedCallable, Outcome, RecallResult, RunRecord
from .usage import used_callables


@dataclass
class CurrentRun:
    """One run between its start and its end."""

    agent: Any
    task: str  # the user's own words
    prompt: str = ""  # what the agent is given: the task and what was recalled
    sandbox: str | None = None
    recall: RecallResult = field(default_factory=RecallResult)
    defined: tuple[OfferedCallable, ...] = ()
    used_revision_ids: tuple[str, ...] = ()
    errors_seen: set[tuple[str, str, str]] = field(default_factory=set)
    lesson_ids: list[str] = field(default_factory=list)
    metrics: list[Metric] = field(default_factory=list)
    reported_success: bool | None = None
    finished: bool = False
    started_at: datetime = field(default_factory=lambda: datetime.now(timezone.utc))  # noqa: UP017 - Python 3.10
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._task_before = _last_task(self.agent.memory.steps)
        self._task_step: Any = None
        self._steps: list[Any] = []
        # By identity: steps compare by value. The step is kept so that its id is not used again.
        self._observations: dict[int, tuple[Any, str | None]] = {}

    def remember_observations(self, step: Any) -> None:
        """Keep what the step itself observed, before a hint is added."""
        self._observations[id(step)] = (step, step.observations)

    def observations_of(self, step: Any) -> str | None:
        """What the step itself observed, without our hint."""
        known = self._observations.get(id(step))
        observations: str | None = known[1] if known else step.observations
        return observations

    def locate_steps(self, agent: Any) -> None:
        """Find this run's own TaskStep, once smolagents has appended it."""
        if self._task_step is None:
            steps = agent.memory.steps
            task = _last_task(steps)
            if task is not None and task is not self._task_before:
                self._task_step, self._steps = task, steps

    def own_steps(self) -> list[Any] | None:
        """The steps after this run's TaskStep up to the next one; None when the run did not get that far.

        Step numbers are no help: with reset=False they start at 1 again.
        """
        self.locate_steps(self.agent)
        if self._task_step is None:
            return None
        start = next(i for i, step in enumerate(self._steps) if step is self._task_step) + 1
        own = self._steps[start:]
        end = next((i for i, step in enumerate(own) if is_kind(step, "TaskStep")), len(own))
        return own[:end]


def _last_task(steps: list[Any]) -> Any:
    return next((step for step in reversed(steps) if is_kind(step, "TaskStep")), None)


def build_record(run: CurrentRun, answer: Any, error: BaseException | None) -> RunRecord | None:
    """The record of a run that has ended; None when it never began (bad arguments, a failing set-up)."""
    seconds = time.monotonic() - run.started
    own = run.own_steps()
    if own is None:
        return None
    agent = run.agent
    actions = [step for step in own if is_kind(step, "ActionStep")]
    outcome = _outcome(run, actions, error)
    last = actions[-1] if actions else None
    if error is not None and last is not None and last.is_final_answer:
        answer = last.action_output  # the answer was there; something after it failed
    tags = getattr(agent, "code_block_tags", None)
    opening_tag = tags[0] if isinstance(tags, (tuple, list)) and tags else ""
    steps = [
        record_step(step, run.observations_of(step), opening_tag)
        for step in actions
        if has_content(step) and not is_kind(step.error, "AgentMaxStepsError")
    ]
    value, is_repr = plain_answer(answer)
    used = used_callables(
        [step.code for step in steps if step.code], run.recall.callables, [item.name for item in run.defined]
    )
    input_tokens, output_tokens = sum_tokens(own)
    return RunRecord(
        task=run.task,
        steps=tuple(steps),
        outcome=outcome,
        answer=value,
        answer_is_repr=is_repr,
        error=read_exception(error) if error is not None and outcome == "exception" else None,
        final_call=final_call(getattr(agent, "python_executor", None))
        if steps and steps[-1].is_final
        else None,
        environment=environment_of(agent),
        recall_id=run.recall.recall_id,
        offered_revision_ids=_offered(run.recall),
        defined_revision_ids=tuple(item.revision_id for item in run.defined),
        used_revision_ids=tuple(dict.fromkeys(item.revision_id for item in used)),
        lesson_ids=tuple(run.lesson_ids),
        metrics=tuple(run.metrics),
        reported_success=run.reported_success,
        seconds=seconds,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        started_at=run.started_at,
        agent_name=getattr(agent, "name", None),
    )


def _offered(recall: RecallResult) -> tuple[str, ...]:
    items = [item.revision_id for item in recall.items]
    return tuple(dict.fromkeys([*items, *(item.revision_id for item in recall.callables)]))


def _outcome(run: CurrentRun, actions: list[Any], error: BaseException | None) -> Outcome:
    if isinstance(error, (KeyboardInterrupt, GeneratorExit)) or (
        error and getattr(run.agent, "interrupt_switch", False)
    ):
        return "cancelled"
    if error is not None:
        return "exception"
    if actions and is_kind(actions[-1].error, "AgentMaxStepsError"):
        return "max_steps"
    if run.reported_success is False or not actions or not actions[-1].is_final_answer:
        return "failed"
    return "succeeded"

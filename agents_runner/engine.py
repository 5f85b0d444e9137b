"""Drives one CodeAgent through one run: claim, prepare, step by step, end. The rows always say how far it is."""

from __future__ import annotations

import io
import logging
import platform
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import UUID

from rich.console import Console
from smolagents import ActionStep, AgentLogger, CodeAgent, LogLevel
from smolagents.utils import AgentError

from agents_runner.chat import StoppableModel
from agents_runner.distill.input_profile import profile_file
from agents_runner.llms import explain_failure, model_for, secrets_of
from agents_runner.patience import patiently
from agents_runner.sandboxes.errors import SandboxError
from agents_runner.sandboxes.executor import SandboxExecutor
from agents_runner.service_hub import ServiceHub
from agents_runner.steps import as_text, final_call_of, hidden, step_data, without
from agents_runner.watch import Stop, Watch
from memory_hub.common.errors import HubError
from memory_hub.runs.masking import mask_json
from memory_hub.runs.models import Run, RunInput
from memory_hub.runs.services import (
    RunEnd,
    input_path,
    input_profile_set,
    run_claim,
    run_end,
    run_prepared,
    step_append,
)
from memory_hub_client import attach
from memory_hub_client.harvest import has_content

logger = logging.getLogger(__name__)


def drive(run_id: UUID, holder: str) -> bool:
    """Run it, unless somebody else does or it has ended. Returns whether this call ran it.

    Whatever happens in between, the run has an end state when this returns; where the database stays away for more
    than a minute it raises, and the sweep ends the run as lost.
    """
    run = run_claim(run_id=run_id, holder=holder)
    if run is None:
        return False
    try:
        end = _Driver(run, holder).run_to_end()
    except HubError as error:
        end = RunEnd(state=Run.State.FAILED, reason=error.message)
    except SandboxError as error:
        end = RunEnd(state=Run.State.FAILED, reason=f"The sandbox does not work: {error}")
    except Exception:
        logger.exception("Run %s failed in the engine", run_id)
        end = RunEnd(
            state=Run.State.FAILED, reason="The hub failed while it ran this. The worker's log says why."
        )
    patiently(lambda: run_end(run_id=run_id, holder=holder, end=end))
    return True


class _Driver:
    """One run's agent with everything around it."""

    def __init__(self, run: Run, holder: str) -> None:
        self.run, self.holder = run, holder
        self.hub = ServiceHub(run) if run.memory_on else None
        self.executor = SandboxExecutor(run.sandbox, inputs=_input_files(run))
        self.secrets = secrets_of(run.connection)
        self.model: StoppableModel | None = None
        self.agent: CodeAgent | None = None
        self.shown = 0
        self.is_out_of_steps = False

    def run_to_end(self) -> RunEnd:
        """Return how the run ended. Raises HubError, SandboxError: then it did not get to its first step, or lost it."""
        run = self.run
        watch = Watch(
            run_id=run.id, holder=self.holder, limit_seconds=run.time_limit_seconds, on_stop=self._stop
        )
        with watch, self.executor:
            outcome = self._prepare_and_ask(watch)
        state, reason = self._state(outcome, watch.stopped_by)
        return self._end(state, reason, outcome.answer)

    def _prepare_and_ask(self, watch: Watch) -> _Outcome:
        run = self.run
        with ThreadPoolExecutor(1, "beside") as beside:  # while the sandbox starts
            model = beside.submit(model_for, run.connection)
            profiles = [(item, beside.submit(_profile, item, watch)) for item in run.inputs.all()]
            self.executor.start()
        self.model = model.result()
        environment = _environment(self.executor, run.model_label)
        patiently(lambda: run_prepared(run=run, sandbox=self.executor.sandbox_name, environment=environment))
        for item, profile in profiles:
            _keep_profile(item, profile.result())
        if watch.stopped_by is not None:
            return _Outcome(answered=False)
        agent = self.agent = self._agent_with(self.model)
        try:
            result = agent.run(_task_text(run))
        except AgentError as error:
            return _Outcome(answered=False, error=error)
        return _Outcome(answered=True, answer=result.output)

    def _agent_with(self, model: StoppableModel) -> CodeAgent:
        agent = CodeAgent(
            tools=[],
            model=model,
            executor=self.executor,
            additional_authorized_imports=self.executor.authorized_imports,
            # One more than there are: `_show` ends it after the last one. Else smolagents would ask the model for an
            # answer without code, which costs the longest prompt of the run and is a guess.
            max_steps=self.run.max_steps + 1,
            return_full_result=True,
            logger=AgentLogger(LogLevel.OFF, console=Console(file=io.StringIO())),
        )
        if self.hub is not None:
            attach(agent, self.hub)
        # After attach(), so that a step is shown with the hint that memory gave on it.
        agent.step_callbacks.register(ActionStep, self._show)
        return agent

    def _stop(self) -> None:
        """Called by the watch, from its thread, until the run has ended."""
        if self.agent is not None:
            self.agent.interrupt()
        if self.model is not None:
            self.model.stop()
        self.executor.interrupt()

    def _show(self, step: ActionStep) -> None:
        """Write a step the moment it ends; from here on it is never lost."""
        assert self.agent is not None
        if not has_content(step):  # the model failed: smolagents leaves half a step behind
            return
        self.shown += 1
        data = step_data(
            step,
            self.executor.last_step if step.code_action else None,
            number=self.shown,
            hint=self.hub.take_hint() if self.hub else "",
            opening_tag=self.agent.code_block_tags[0],
        )
        data = without(self.secrets, data)
        patiently(lambda: step_append(run=self.run, holder=self.holder, step=data))
        if self.shown >= self.run.max_steps and not step.is_final_answer:
            self.is_out_of_steps = True
            self.agent.interrupt()

    def _state(self, outcome: _Outcome, stopped_by: Stop | None) -> tuple[Run.State, str]:
        """Return the end state and the reason in words. A stop counts only where the run had not answered."""
        run = self.run
        if outcome.answered:
            return Run.State.SUCCEEDED, ""
        match stopped_by:
            case Stop.CANCELLED:
                return Run.State.CANCELLED, "Cancelled while it ran."
            case Stop.TIME_LIMIT:
                return Run.State.FAILED, f"Stopped at its time limit of {run.time_limit_seconds} seconds."
            case Stop.RIGHT_LOST:
                return Run.State.FAILED, "Stopped: who started it may no longer start runs here."
            case Stop.LEASE_LOST:
                return Run.State.LOST, "The hub had ended it, since its worker did not answer for too long."
        if self.is_out_of_steps:
            return (
                Run.State.FAILED,
                f"No answer within {_steps(run.max_steps)}. Allow more, or split the task.",
            )
        assert outcome.error is not None
        return Run.State.FAILED, explain_failure(outcome.error, run.connection)

    def _end(self, state: Run.State, reason: str, answer: Any) -> RunEnd:
        record = self.hub.recorded if self.hub else None
        last = self.executor.last_step
        final = last if last is not None and last.is_final_answer else None
        if state == Run.State.SUCCEEDED:
            answer = hidden(as_text(final.value if final else answer), self.secrets)
        else:
            answer = ""
        final_call = final_call_of(final) if final else None
        return RunEnd(
            state=state,
            reason=hidden(reason, self.secrets),
            answer=answer,
            final_call=mask_json(final_call, self.secrets) if final_call else None,
            recall_id=record.recall_id if record else None,
            offered_revision_ids=record.offered_revision_ids if record else (),
            defined_revision_ids=record.defined_revision_ids if record else (),
            used_revision_ids=record.used_revision_ids if record else (),
            lesson_ids=record.lesson_ids if record else (),
        )


@dataclass(frozen=True)
class _Outcome:
    """How smolagents left the run."""

    answered: bool
    answer: Any = None
    error: AgentError | None = None


def _task_text(run: Run) -> str:
    """The task as the agent gets it: the person's words, then the files that are there."""
    files = [f"- /inputs/{item.name} ({item.size:,} bytes)" for item in run.inputs.all()]
    return run.task + ("\n\nInput files (read-only):\n" + "\n".join(files) if files else "")


def _input_files(run: Run) -> dict[str, Path]:
    return {item.name: input_path(item) for item in run.inputs.all()}


def _profile(item: RunInput, watch: Watch) -> dict[str, Any]:
    """What kind of file it is; empty where it is too odd for that: it only helps memory, and costs no run.

    Not begun for a run that shall end; a large file takes its time.
    """
    try:
        if watch.stopped_by is None:
            return profile_file(input_path(item), name=item.name).as_dict()
    except Exception:
        logger.exception("The input file %s could not be profiled", item.id)
    return {}


def _keep_profile(item: RunInput, profile: dict[str, Any]) -> None:
    if profile:
        patiently(lambda: input_profile_set(run_input=item, profile=profile))


def _environment(executor: SandboxExecutor, model_label: str) -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "sandbox": executor.sandbox_name,
        "model": model_label,
        "smolagents": version("smolagents"),
        "packages": executor.package_versions,
    }


def _steps(number: int) -> str:
    return "one step" if number == 1 else f"{number} steps"

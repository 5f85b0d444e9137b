"""Drives one CodeAgent through one run: claim, prepare, step by step, end. The rows always say how far it is."""

from __future__ import annotations

import io
import json
import logging
import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import UUID

from memory_hub.recall.services import recall_outcome
from rich.console import Console
from smolagents import ActionStep, AgentLogger, CodeAgent, LogLevel, Model
from smolagents.utils import AgentError

from agents_runner.distill import from_sandbox
from agents_runner.distill.input_profile import profile_file
from agents_runner.llms import close, explain_failure, model_for
from agents_runner.sandboxes.errors import SandboxBroken, SandboxUnavailable
from agents_runner.sandboxes.executor import SandboxExecutor
from agents_runner.sandboxes.records import StepRecord
from agents_runner.service_hub import ServiceHub
from agents_runner.watch import Stop, Watch
from memory_hub.access.actor import acting_as
from memory_hub.common.errors import HubError
from memory_hub.runs.models import Run
from memory_hub.runs.services import (
    RunEnd,
    StepData,
    actor_of_run,
    input_path,
    input_profile_set,
    run_claim,
    run_end,
    run_prepared,
    step_append,
)
from memory_hub_client import attach
from memory_hub_client.harvest import record_step
from memory_hub_client.types import RecordedError, RunRecord

logger = logging.getLogger(__name__)

PACKAGES = ("numpy", "pandas")


def drive(run_id: UUID, holder: str) -> bool:
    """Run it, unless somebody else does or it has ended. Returns whether this call ran it.

    Whatever happens in between, the run has an end state when this returns, as long as the database answers.
    """
    run = run_claim(run_id=run_id, holder=holder)
    if run is None:
        return False
    try:
        end = _Driver(run, holder).run_to_end()
    except HubError as error:
        end = RunEnd(state=Run.State.FAILED, reason=error.message)
    except (SandboxUnavailable, SandboxBroken) as error:
        end = RunEnd(state=Run.State.FAILED, reason=f"The sandbox does not work: {error}")
    except Exception:
        logger.exception("Run %s failed in the engine", run_id)
        end = RunEnd(
            state=Run.State.FAILED, reason="The hub failed while it ran this. The worker's log says why."
        )
    run_end(run_id=run_id, holder=holder, end=end)
    return True


class _Driver:
    """One run's agent with everything around it."""

    def __init__(self, run: Run, holder: str) -> None:
        self.run, self.holder = run, holder
        self.hub = ServiceHub(run) if run.memory_on else None
        self.executor = SandboxExecutor(run.sandbox, inputs=_input_files(run))
        self.model: Model = model_for(run.connection)
        self.shown = 0

    def run_to_end(self) -> RunEnd:
        """Return how the run ended."""
        run = self.run
        with self.executor:
            self.executor.start()
            environment = _environment(self.executor.sandbox_name, run.model_label)
            run_prepared(run=run, sandbox=self.executor.sandbox_name, environment=environment)
            _profile_inputs(run)
            agent = self._agent()
            with Watch(
                run_id=run.id, holder=self.holder, limit_seconds=run.time_limit_seconds, on_stop=self._stop
            ) as watch:
                self.agent = agent
                outcome = self._ask(agent)
            return self._end(outcome, watch.stopped_by)

    def _agent(self) -> CodeAgent:
        agent = CodeAgent(
            tools=[],
            model=self.model,
            executor=self.executor,
            additional_authorized_imports=self.executor.authorized_imports,
            max_steps=self.run.max_steps,
            return_full_result=True,
            logger=AgentLogger(LogLevel.OFF, console=Console(file=io.StringIO())),
        )
        if self.hub is not None:
            attach(agent, self.hub)
        # After attach(), so that a step is shown with the hint that memory gave on it.
        agent.step_callbacks.register(ActionStep, self._show)
        return agent

    def _ask(self, agent: CodeAgent) -> _Outcome:
        try:
            result = agent.run(_task_text(self.run))
        except AgentError as error:
            return _Outcome(error=error)
        return _Outcome(reached_limit=result.state == "max_steps_error", answer=result.output)

    def _stop(self) -> None:
        self.agent.interrupt()
        self.executor.interrupt()
        close(self.model)

    def _show(self, step: ActionStep) -> None:
        """Write a step the moment it ends; from here on it is never lost."""
        self.shown += 1
        ran = self.executor.last_step if step.code_action else None
        taken = record_step(step, None, self.agent.code_block_tags[0])
        shows_value = ran is not None and ran.value is not None and not ran.is_final_answer
        step_append(
            run=self.run,
            holder=self.holder,
            step=StepData(
                number=self.shown,
                thought=taken.thought,
                code=taken.code or "",
                observations=ran.logs if ran else "",
                value=_as_text(ran.value) if ran and shows_value else "",
                **_error_fields(ran, taken.error),
                hint=self.hub.take_hint() if self.hub else "",
                is_final=taken.is_final,
                seconds=taken.seconds or 0.0,
                input_tokens=taken.input_tokens or 0,
                output_tokens=taken.output_tokens or 0,
            ),
        )

    def _end(self, outcome: _Outcome, stopped_by: Stop | None) -> RunEnd:
        record = self.hub.recorded if self.hub else None
        last = self.executor.last_step
        final_call = _final_call(last) if last and last.is_final_answer else None
        state, reason = _state(self.run, outcome, stopped_by)
        answer = ""
        if state == Run.State.SUCCEEDED:
            answer = _as_text(last.value if last and last.is_final_answer else outcome.answer)
        if record is not None and record.recall_id and record.used_revision_ids:
            self._report_outcome(record, worked=state == Run.State.SUCCEEDED)
        return RunEnd(
            state=state,
            reason=reason,
            answer=answer,
            final_call=final_call,
            recall_id=record.recall_id if record else None,
            offered_revision_ids=record.offered_revision_ids if record else (),
            defined_revision_ids=record.defined_revision_ids if record else (),
            used_revision_ids=record.used_revision_ids if record else (),
            lesson_ids=record.lesson_ids if record else (),
            input_tokens=record.input_tokens if record else None,
            output_tokens=record.output_tokens if record else None,
        )

    def _report_outcome(self, record: RunRecord, *, worked: bool) -> None:
        """What became of the recall becomes evidence; a fault here must not cost the run its end."""
        actor = actor_of_run(self.run)
        try:
            with acting_as(actor):
                recall_outcome(
                    actor=actor,
                    recall_id=UUID(record.recall_id),
                    used=[UUID(item) for item in record.used_revision_ids],
                    outcome="success" if worked else "failure",
                    sandbox=self.run.sandbox_used,
                )
        except HubError as error:
            logger.warning("The outcome of recall %s is not recorded: %s", record.recall_id, error.message)


@dataclass(frozen=True)
class _Outcome:
    """How smolagents left the run."""

    answer: Any = None
    error: AgentError | None = None
    reached_limit: bool = False


def _state(run: Run, outcome: _Outcome, stopped_by: Stop | None) -> tuple[Run.State, str]:
    """Return the end state and the reason in words. A stop counts only where the run had not ended by itself."""
    if outcome.error is None and not outcome.reached_limit:
        return Run.State.SUCCEEDED, ""
    match stopped_by:
        case Stop.CANCELLED:
            return Run.State.CANCELLED, "Cancelled while it ran."
        case Stop.TIME_LIMIT:
            return Run.State.FAILED, f"Stopped at its time limit of {run.time_limit_seconds} seconds."
        case Stop.LEASE_LOST:
            return Run.State.LOST, "The worker lost touch with the database for too long."
    if outcome.reached_limit:
        return Run.State.FAILED, f"No answer within {run.max_steps} steps. Allow more, or split the task."
    assert outcome.error is not None
    return Run.State.FAILED, explain_failure(outcome.error, run.connection)


def _task_text(run: Run) -> str:
    """The task as the agent gets it: the person's words, then the files that are there."""
    files = [f"- /inputs/{item.name} ({item.size:,} bytes)" for item in run.inputs.all()]
    return run.task + ("\n\nInput files (read-only):\n" + "\n".join(files) if files else "")


def _input_files(run: Run) -> dict[str, Path]:
    return {item.name: input_path(item) for item in run.inputs.all()}


def _profile_inputs(run: Run) -> None:
    for item in run.inputs.all():
        input_profile_set(run_input=item, profile=profile_file(input_path(item), name=item.name).as_dict())


def _environment(sandbox: str, model_label: str) -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "sandbox": sandbox,
        "model": model_label,
        "smolagents": version("smolagents"),
        "packages": {name: version(name) for name in PACKAGES},
    }


def _error_fields(ran: StepRecord | None, error: RecordedError | None) -> dict[str, Any]:
    """The error of a step, from the sandbox where code ran, else as smolagents tells it (no code block, say)."""
    if ran is not None and ran.error is not None:
        told = from_sandbox(ran.error)
        return {
            "error_kind": told.kind,
            "error_type": told.type,
            "error_message": told.message,
            "error_line": told.line,
            "error_line_number": told.line_number,
            "traceback": told.traceback,
        }
    if error is not None:
        return {
            "error_kind": error.kind,
            "error_type": error.type,
            "error_message": error.message,
            "error_line": error.line,
        }
    return {}


def _final_call(last: StepRecord) -> dict[str, Any] | None:
    call = last.final_call
    if call is None:
        return None
    return {
        "entry_point": call.entry_point,
        "args": call.args,
        "kwargs": call.kwargs,
        "result": call.result,
        "replayable": call.replayable,
        "reason": call.reason,
        "defined_in": call.defined_in,
    }


def _as_text(value: Any) -> str:
    """A string as it is; anything else as JSON where it is JSON, else as Python shows it."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return repr(value)[:100_000]

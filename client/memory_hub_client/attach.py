"""`attach(agent, hub)`: gives one smolagents agent a memory, and never costs it its run.

The agent keeps its class: only `run` is replaced on the instance and one step callback is added. Before the first
step the task is looked up once; after each new error a known fix is looked up; at the end, however it comes, the
run is handed to the hub. Whatever goes wrong on our side is logged and the run goes on as if there were no hub.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import logging
import re
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any, TypeVar

from .define import define_callables
from .errors import read_step_error
from .harvest import is_kind, sandbox_of
from .hub import Hub
from .prompt import RULES, hint_for_observations, task_with_memory
from .run import CurrentRun, build_record
from .types import ErrorQuery, LessonHint, Metric, OutcomeReport, RecallQuery, RecallResult

logger = logging.getLogger("memory_hub_client")

AgentT = TypeVar("AgentT")
Result = TypeVar("Result")

_ATTRIBUTE = "_memory_hub_attachment"
_MAX_HINTS = 5  # each is sent again with every later step
_MAX_LOOKUPS = 10


def attach(
    agent: AgentT,
    hub: Hub,
    *,
    on_error_hint: bool = True,
    top_k: int = 3,
    max_tokens: int = 2000,
    define_callables: bool = True,
) -> AgentT:
    """Attach `agent` (a smolagents CodeAgent or ToolCallingAgent) and its managed agents to `hub`; returns it.

    on_error_hint: look up a known fix after each new error of a run.
    top_k, max_tokens: how many solutions to offer, and the budget of their text in the prompt.
    define_callables: define recalled functions in the agent's Python session where that is safe.

    Adds `agent.report(success=..., metric=...)`. Attaching again replaces the hub and the settings.
    Raises TypeError for something that is not an agent; never raises later.
    """
    for name in ("run", "memory", "step_callbacks", "tools"):
        if not hasattr(agent, name):
            raise TypeError(f"attach() needs a smolagents agent, not {type(agent).__name__}")
    _attach(agent, hub, set(), (on_error_hint, top_k, max_tokens, define_callables))
    return agent


def _attach(agent: Any, hub: Hub, seen: set[int], settings: tuple[bool, int, int, bool]) -> None:
    if id(agent) in seen:
        return
    seen.add(id(agent))
    attachment = agent.__dict__.get(_ATTRIBUTE)
    if attachment is None:
        attachment = Attachment(agent)
        attachment.install()
    attachment.hub = hub
    attachment.on_error_hint, attachment.top_k, attachment.max_tokens, attachment.define = settings
    for managed in (getattr(agent, "managed_agents", None) or {}).values():
        if hasattr(managed, "step_callbacks"):
            _attach(managed, hub, seen, settings)


class Attachment:
    """The link between one agent and its hub. Like the agent itself it serves one run at a time."""

    hub: Hub
    on_error_hint: bool
    top_k: int
    max_tokens: int
    define: bool

    def __init__(self, agent: Any) -> None:
        self.agent = agent
        self.current: CurrentRun | None = None
        self.last: CurrentRun | None = None

    def install(self) -> None:
        """Wrap `run`, add the callback, the rules and `report`."""
        agent = self.agent
        # An instance attribute of somebody else's is kept; otherwise the class is asked at each call, so that
        # instrumentation that is installed later still sees the run.
        wrapped = agent.__dict__.get("run")
        original: Callable[..., Any] = wrapped or functools.partial(
            lambda *a, **k: type(agent).run(agent, *a, **k)
        )

        @functools.wraps(agent.run)
        def run(*args: Any, **kwargs: Any) -> Any:
            return self.run(original, *args, **kwargs)

        signature = inspect.signature(agent.run)
        self.signature = signature
        agent.run = run
        agent.report = self.report
        setattr(agent, _ATTRIBUTE, self)
        action_step = importlib.import_module("smolagents.memory").ActionStep
        agent.step_callbacks.register(action_step, self.on_step)
        if isinstance(getattr(agent, "instructions", None), str) and agent.instructions.strip():
            agent.instructions = f"{agent.instructions}\n\n{RULES}"
        else:
            agent.instructions = RULES

    # ------------------------------------------------------------------ a run

    def run(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The agent's `run` with memory around it; same arguments, same result, same exceptions."""
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError:
            return original(*args, **kwargs)  # raises with the agent's own words
        task = bound.arguments.get("task")
        if not isinstance(task, str):
            return original(*args, **kwargs)
        run = self._start(task, bound.arguments.get("additional_args"))
        bound.arguments["task"] = run.prompt
        if bound.arguments.get("stream"):
            events = original(*bound.args, **bound.kwargs)
            run.locate_steps(
                self.agent
            )  # the set-up is done; another run may replace the memory before the end
            return self._stream(run, events)
        try:
            result = original(*bound.args, **bound.kwargs)
        except BaseException as error:
            self._finish(run, error=error)
            raise
        self._finish(run, answer=result.output if is_kind(result, "RunResult") else result)
        return result

    def _stream(self, run: CurrentRun, events: Generator[Any, None, None]) -> Generator[Any, None, None]:
        answer: Any = None
        try:
            self.current = run
            for event in events:
                if is_kind(event, "FinalAnswerStep"):
                    answer = event.output
                yield event
        except GeneratorExit:
            try:
                events.close()  # smolagents finishes its half step here, and may complain
            finally:
                self._finish(run, error=GeneratorExit())
            raise
        except BaseException as error:
            self._finish(run, error=error)
            raise
        self._finish(run, answer=answer)

    def _start(self, full_task: str, additional_args: Any) -> CurrentRun:
        run = CurrentRun(
            agent=self.agent, task=self._guard("read the task", full_task, self._users_task, full_task)
        )
        run.prompt = full_task
        self.current = run
        run.sandbox = self._guard("name the sandbox", None, sandbox_of, self.agent)
        query = RecallQuery(task=run.task, sandbox=run.sandbox, top_k=self.top_k, max_tokens=self.max_tokens)
        recall = self._guard("recall", RecallResult(), lambda: self.hub.recall(query))
        self._guard("offer what was recalled", None, self._offer, run, full_task, recall, additional_args)
        return run

    def _offer(self, run: CurrentRun, full_task: str, recall: RecallResult, additional_args: Any) -> None:
        run.recall = recall
        if recall.no_match:
            return
        variables = set(additional_args) if isinstance(additional_args, Mapping) else set()
        candidates = [item for item in recall.callables if item.name not in variables]
        defined = define_callables(self.agent, candidates) if self.define else ()
        run.defined = defined
        text_only = (
            [item for item in recall.callables if item not in defined] if _runs_code(self.agent) else []
        )
        run.prompt = task_with_memory(full_task, recall.block, defined, text_only, self.max_tokens)

    def _users_task(self, full_task: str) -> str:
        """A managed agent gets its task wrapped in a template ("You're a helpful agent named ..."); take it off."""
        agent = self.agent
        template = getattr(agent, "prompt_templates", {}).get("managed_agent", {}).get("task")
        if not getattr(agent, "name", None) or not template:
            return full_task
        populate = importlib.import_module("smolagents.agents").populate_template
        mark = "\x00task\x00"
        before, found, after = populate(template, variables={"name": agent.name, "task": mark}).partition(
            mark
        )
        if not found or not full_task.startswith(before) or not full_task.endswith(after):
            return full_task
        return full_task[len(before) : len(full_task) - len(after)]

    def _finish(self, run: CurrentRun, answer: Any = None, error: BaseException | None = None) -> None:
        if run.finished:
            return
        run.finished = True
        if self.current is run:
            self.current = None
        self.last = run
        record = self._guard("read the run", None, build_record, run, answer, error)
        if record is not None:
            run.used_revision_ids = record.used_revision_ids
            self._guard("record the run", None, lambda: self.hub.record(record))

    # ------------------------------------------------------------------ errors

    def on_step(self, step: Any) -> None:
        """Step callback: after a new error, add the known fix to what the agent sees next."""
        run = self.current
        if run is not None and step.error is not None and self.on_error_hint:
            self._guard("look up an error", None, self._hint, run, step)

    def _hint(self, run: CurrentRun, step: Any) -> None:
        if len(run.lesson_ids) >= _MAX_HINTS or len(run.errors_seen) >= _MAX_LOOKUPS:
            return
        error = read_step_error(step.error, step.code_action)
        if error.kind != "execution" or not isinstance(step.code_action, str):
            return  # "no code block" is about the model's format, not about the solution
        signature = (error.type, re.sub(r"\d+", "0", error.message), re.sub(r"\s+", " ", error.line))
        if signature in run.errors_seen:
            return
        run.errors_seen.add(signature)
        hint: LessonHint | None = self.hub.lookup_error(
            ErrorQuery(
                exception_type=error.type,
                message=error.message,
                failing_line=error.line,
                traceback=error.traceback,
                code=step.code_action,
                recall_id=run.recall.recall_id,
                sandbox=run.sandbox,
            )
        )
        if hint is None or not hint.text.strip() or hint.lesson_id in run.lesson_ids:
            return
        text = hint_for_observations(hint.text)
        run.remember_observations(step)
        step.observations = f"{step.observations}\n{text}" if step.observations else text
        run.lesson_ids.append(hint.lesson_id)

    # ------------------------------------------------------------------ outcome

    def report(
        self,
        *,
        success: bool,
        metric: Metric | Mapping[str, float] | Iterable[Metric] | None = None,
    ) -> None:
        """Say whether the run really did its job, with numbers if there are any. Never raises for the hub's sake.

        During a run (from a tool or a callback) it goes into the record; afterwards it becomes the outcome of the
        last run's recall. metric: a Metric, several, or a plain `{"name": value}`.
        """
        metrics = _as_metrics(metric)
        run = self.current
        if run is not None:
            run.reported_success = success
            run.metrics.extend(metrics)
            return
        send = self._guard("find report()", None, getattr, self.hub, "report", None)
        if self.last is None or self.last.recall.recall_id is None or send is None:
            logger.warning(
                "Nothing to report on: no run of this agent has recalled anything from a hub that listens"
            )
            return
        report = OutcomeReport(self.last.recall.recall_id, success, self.last.used_revision_ids, metrics)
        self._guard("report the outcome", None, send, report)

    def _guard(self, what: str, default: Result, function: Callable[..., Any], *args: Any) -> Result:
        """Call, and on any Exception log and give the default: memory must never cost the user's run."""
        try:
            result: Result = function(*args)
            return result
        except Exception as error:
            level = logging.DEBUG if getattr(error, "already_logged", False) else logging.WARNING
            logger.log(level, "Memory hub: could not %s (%s: %s)", what, type(error).__name__, error)
            logger.debug("Details", exc_info=True)
            return default


def _runs_code(agent: Any) -> bool:
    return getattr(agent, "python_executor", None) is not None


def _as_metrics(metric: Metric | Mapping[str, float] | Iterable[Metric] | None) -> tuple[Metric, ...]:
    if metric is None:
        return ()
    if isinstance(metric, Metric):
        return (metric,)
    if isinstance(metric, Mapping):
        return tuple(Metric(str(name), float(value)) for name, value in metric.items())
    return tuple(metric)

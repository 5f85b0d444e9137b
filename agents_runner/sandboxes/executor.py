"""`SandboxExecutor`: smolagents' PythonExecutor whose code runs inside a sandbox.

    with SandboxExecutor(inputs={"sales.csv": path}) as executor:
        agent = CodeAgent(tools, model, executor=executor,
                          additional_authorized_imports=executor.authorized_imports)
        agent.run("...")            # code reads /inputs/sales.csv
        executor.last_step          # StepRecord: error, logs, seconds, final_call

The sandbox starts on first use, keeps its variables between steps and is gone after `cleanup()`.
One executor serves one run in one thread; only `interrupt()` may be called from another thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from smolagents.default_tools import FinalAnswerTool
from smolagents.local_python_executor import CodeOutput, PythonExecutor

from agents_runner.sandboxes import results
from agents_runner.sandboxes.errors import CannotCross
from agents_runner.sandboxes.inside import codec
from agents_runner.sandboxes.limits import SandboxLimits
from agents_runner.sandboxes.profiles import DEFAULT_PROFILE, PackageProfile, importable_names, resolve
from agents_runner.sandboxes.records import JsonValue, StepRecord
from agents_runner.sandboxes.select import AUTO, NAMES, choose
from agents_runner.sandboxes.session import Outcome, Session


class SandboxExecutor(PythonExecutor):  # type: ignore[misc,unused-ignore]
    """Runs agent code in bubblewrap or Landlock.

    sandbox: "auto", "bubblewrap" or "landlock". Raises ValueError for another name.
    inputs:  file name inside -> path on the host; a copy of each is readable as /inputs/<name> on every sandbox
             (also as f"{INPUTS}/<name>", `INPUTS` being a variable that is always defined).
    profile: which packages can be imported.

    Raises SandboxUnavailable (on first use, or by `start`) when the sandbox does not work on this machine.
    """

    inputs_path = "/inputs"

    def __init__(
        self,
        sandbox: str = AUTO,
        *,
        limits: SandboxLimits | None = None,
        inputs: Mapping[str, str | PathLike[str]] | None = None,
        profile: PackageProfile = DEFAULT_PROFILE,
    ) -> None:
        if sandbox not in NAMES:
            raise ValueError(f"there is no sandbox {sandbox!r}; choose one of {', '.join(NAMES)}")
        self.state: dict[str, Any] = {"_print_outputs": ""}
        self.last_step: StepRecord | None = None
        self.limits = limits or SandboxLimits()
        self._asked_for = sandbox
        self._inputs = dict(inputs or {})
        self._profile = profile
        self._session: Session | None = None
        self._tools: dict[str, Any] = {}
        self._variables: dict[str, JsonValue] = {}
        self._definitions: list[tuple[str, str]] = []
        self._told = False  # whether the worker that runs now knows tools, variables and definitions
        self._steps = 0

    # -- about it ---------------------------------------------------------------------------------------------------

    @property
    def sandbox_name(self) -> str:
        """ "bubblewrap" or "landlock": what "auto" turned into. Raises SandboxUnavailable."""
        return choose(self._asked_for)

    @property
    def authorized_imports(self) -> list[str]:
        """What to name in the prompt as importable: the profile's packages, then the standard library."""
        return importable_names(resolve(self._profile))

    @property
    def package_versions(self) -> dict[str, str]:
        """Distribution -> version of what the profile holds."""
        return dict(resolve(self._profile).versions)

    # -- smolagents' interface ----------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the sandbox now (about 100 ms) instead of at the first step; harmless when it runs already.

        Raises SandboxUnavailable, SandboxError (an input file that does not exist).
        """
        self._running()

    def send_tools(self, tools: dict[str, Any]) -> None:
        """Make `tools` callable by name inside; they run on the host, in the thread that runs the step."""
        self._tools = dict(tools)
        self._told = False

    def send_variables(self, variables: dict[str, Any]) -> None:
        """Define variables inside. Raises CannotCross for a value that has no safe form (a function, an object)."""
        for name, value in variables.items():
            try:
                self._variables[name] = codec.encode(value, max_bytes=self.limits.value_bytes, lossy=False)
            except codec.Unencodable as error:
                raise CannotCross(f"the variable {name} cannot enter the sandbox: {error}") from None
        self._told = False

    def __call__(self, code_action: str) -> CodeOutput:
        """Run one step. Returns CodeOutput(output, logs, is_final_answer); `last_step` has the full record.

        Raises CodeRaised, StepTimedOut, StepInterrupted, StepKilled (all StepFailed, text meant for the agent)
        or SandboxBroken, SandboxUnavailable. The prints of a failed step are in `state["_print_outputs"]` and
        `last_step.logs`.
        """
        self._steps += 1
        self.last_step = None
        self.state["_print_outputs"] = ""
        outcome = self._perform({"kind": "step", "code": code_action, "name": f"<step {self._steps}>"})
        record = results.step_record(self._steps, outcome)
        self.last_step = record
        self.state["_print_outputs"] = record.logs
        if record.error is not None:
            raise results.failure(record.error)
        output = results.decoded(record.value)
        final_answer = self._tools.get("final_answer")
        if record.is_final_answer and final_answer is not None and type(final_answer) is not FinalAnswerTool:
            output = final_answer(output)
        return CodeOutput(output=output, logs=record.logs, is_final_answer=record.is_final_answer)

    # -- recalled and recorded functions ----------------------------------------------------------------------------

    def define(self, source: str, *, name: str = "memory") -> list[str]:
        """Run `source` (functions recalled from memory) before or between steps; not counted as a step.

        name: how tracebacks call it: "<memory: name>". Returns the names of the top-level functions it defines.
        Survives a killed worker: it is defined again. Raises as `__call__` does; then nothing is remembered.
        """
        title = f"<memory: {name}>"
        outcome = self._perform({"kind": "define", "code": source, "name": title})
        error = results.step_error(outcome)
        if error is not None:
            raise results.failure(error)
        self._definitions.append((source, title))
        return results.names(outcome.data.get("functions"))

    def call(
        self,
        function_name: str,
        args: Sequence[JsonValue] = (),
        kwargs: Mapping[str, JsonValue] | None = None,
    ) -> JsonValue:
        """Call a function that exists inside and return its result as a wire value, for comparison with a record.

        args and kwargs are wire values as in RecordedCall (plain JSON is its own wire form).
        Raises StepFailed when it raises or exceeds the limits, CannotCross when its result has no exact wire form.
        """
        outcome = self._perform(
            {"kind": "call", "function": function_name, "args": list(args), "kwargs": dict(kwargs or {})}
        )
        error = results.step_error(outcome)
        if error is not None:
            raise results.failure(error)
        if "unencodable" in outcome.data:
            raise CannotCross(f"the result of {function_name}: {str(outcome.data['unencodable'])[:500]}")
        return outcome.data.get("value")

    # -- the end ------------------------------------------------------------------------------------------------------

    def interrupt(self) -> bool:
        """End the running step from another thread, within about a second, as StepInterrupted.

        Returns whether a step was running; without one it does nothing. A tool that is running on the host is not
        stopped; the step ends as soon as it returns.
        """
        session = self._session
        return session is not None and session.interrupt()

    def cleanup(self) -> None:
        """Kill everything inside and remove the sandbox's folder. May be called twice; a later step starts anew."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def __enter__(self) -> SandboxExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.cleanup()

    # -- how --------------------------------------------------------------------------------------------------------

    def _running(self) -> Session:
        """The session, started when there is none or the last one was killed."""
        if self._session is not None and not self._session.alive:
            self.cleanup()
        if self._session is None:
            self._session = Session(
                choose(self._asked_for), limits=self.limits, inputs=self._inputs, profile=self._profile
            )
            self._told = False
        return self._session

    def _perform(self, body: dict[str, Any]) -> Outcome:
        """Run `body` in a sandbox that knows everything sent so far; the outcome of whichever request failed."""
        session = self._running()
        if not self._told:
            failed = self._tell(session)
            if failed is not None:
                return failed
        outcome = session.run(body, call_tool=self._call_tool)
        if outcome.state_lost:
            self._told = False
        return outcome

    def _tell(self, session: Session) -> Outcome | None:
        """Give a new worker (or the old one, after a change) everything that was sent so far.

        Returns the outcome that was not good, if any.
        """
        requests: list[dict[str, Any]] = [
            {"kind": "define", "code": source, "name": title} for source, title in self._definitions
        ]
        tools = {
            name: str(getattr(tool, "description", "") or "")[:2000] for name, tool in self._tools.items()
        }
        tools.pop("final_answer", None)
        requests.append({"kind": "tools", "tools": tools})
        requests.append({"kind": "variables", "variables": self._variables})
        for request in requests:
            outcome = session.run(request, call_tool=self._call_tool)
            if results.step_error(outcome) is not None:
                return outcome
        self._told = True
        return None

    def _call_tool(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        tool = self._tools.get(name)
        if tool is None or name == "final_answer":
            raise NameError(f"there is no tool {name!r}")
        return tool(*args, **kwargs)

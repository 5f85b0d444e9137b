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

from smolagents.local_python_executor import CodeOutput, PythonExecutor

from agents_runner.sandboxes.limits import SandboxLimits
from agents_runner.sandboxes.records import JsonValue, StepRecord


class SandboxExecutor(PythonExecutor):
    """Runs agent code in bubblewrap or Landlock.

    sandbox: "auto", "bubblewrap" or "landlock".
    inputs:  file name inside -> path on the host; each is readable as /inputs/<name> on every sandbox
             (also as f"{INPUTS}/<name>", `INPUTS` being a variable that is always defined).

    Raises SandboxUnavailable (on first use, or by `start`) when the sandbox does not work on this machine.
    """

    inputs_path = "/inputs"

    def __init__(
        self,
        sandbox: str = "auto",
        *,
        limits: SandboxLimits | None = None,
        inputs: Mapping[str, str | PathLike[str]] | None = None,
    ) -> None:
        self.state: dict[str, Any] = {"_print_outputs": ""}
        self.last_step: StepRecord | None = None

    @property
    def sandbox_name(self) -> str:
        """"bubblewrap" or "landlock": what "auto" turned into. Raises SandboxUnavailable."""
        raise NotImplementedError

    @property
    def authorized_imports(self) -> list[str]:
        """Names of the importable third-party packages (and of the standard library) to name in the prompt."""
        raise NotImplementedError

    def start(self) -> None:
        """Start the sandbox now (about 100 ms) instead of at the first step; harmless when it runs already."""
        raise NotImplementedError

    def send_tools(self, tools: dict[str, Any]) -> None:
        """Make `tools` callable by name inside; they run on the host, in the thread that runs the step."""
        raise NotImplementedError

    def send_variables(self, variables: dict[str, Any]) -> None:
        """Define variables inside. Raises CannotCross for a value that has no safe form (a function, an object)."""
        raise NotImplementedError

    def __call__(self, code_action: str) -> CodeOutput:
        """Run one step. Returns CodeOutput(output, logs, is_final_answer); `last_step` has the full record.

        Raises CodeRaised, StepTimedOut, StepInterrupted, StepKilled (all StepFailed, text meant for the agent)
        or SandboxBroken. The prints of a failed step are in `state["_print_outputs"]` and `last_step.logs`.
        """
        raise NotImplementedError

    def define(self, source: str, *, name: str = "memory") -> list[str]:
        """Run `source` (functions recalled from memory) before or between steps; not counted as a step.

        Returns the names of the top-level functions it defines. Survives a killed worker: it is defined again.
        Raises StepFailed as `__call__` does.
        """
        raise NotImplementedError

    def call(
        self, function_name: str, args: Sequence[JsonValue] = (), kwargs: Mapping[str, JsonValue] | None = None
    ) -> JsonValue:
        """Call a function that exists inside and return its result as a wire value, for comparison with a record.

        args and kwargs are wire values as in RecordedCall (plain JSON is its own wire form).
        Raises StepFailed when it raises or exceeds the limits, CannotCross when its result has no wire form.
        """
        raise NotImplementedError

    def interrupt(self) -> bool:
        """End the running step from another thread, within about a second, as StepInterrupted.

        Returns whether a step was running; without one it does nothing. A tool that is running on the host is not
        stopped; the step ends as soon as it returns.
        """
        raise NotImplementedError

    def cleanup(self) -> None:
        """Kill everything inside and remove the sandbox's folder. May be called twice; a later step starts anew."""
        raise NotImplementedError

    def __enter__(self) -> SandboxExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.cleanup()

"""What can go wrong in a sandbox. The text of each error is written for the agent (or person) who reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agents_runner.sandboxes.records import StepError


class SandboxError(Exception):
    """Base of every error of this package."""


class SandboxUnavailable(SandboxError):
    """No sandbox works on this machine (or not the one asked for), so code is refused. `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class SandboxBroken(SandboxError):
    """The sandbox itself failed (did not start, died from outside, broke the protocol). Not the code's fault."""


class CannotCross(SandboxError):
    """A value (variable, tool result, argument) has no safe form that can enter or leave the sandbox."""


class StepFailed(SandboxError):
    """A step did not end well. `error` is the structured record; the text is what the agent is shown."""

    def __init__(self, error: StepError) -> None:
        super().__init__(error.text)
        self.error = error


class CodeRaised(StepFailed):
    """The code raised an exception; its variables are kept."""


class StepTimedOut(StepFailed):
    """The step used up its wall or processor time and was stopped."""


class StepInterrupted(StepFailed):
    """`SandboxExecutor.interrupt()` stopped the step."""


class StepKilled(StepFailed):
    """Everything inside was killed (memory, disk or process limit, crash, broken protocol); variables are lost."""

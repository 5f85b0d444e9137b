"""What travels between an agent and a hub: plain frozen values, no behaviour beyond JSON.

Nothing here imports smolagents or a web library, so the same values serve the HTTP client, the hub's own
workers and any test double.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal

Outcome = Literal["succeeded", "failed", "cancelled", "max_steps", "exception"]

# execution: the code raised. parsing: the reply held no code block (says something of the model, not of Python).
# check: a final-answer check refused. limit: out of steps. other: anything else.
ErrorKind = Literal["execution", "parsing", "check", "limit", "other"]


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """A question to the memory, asked once per run before the first step."""

    task: str  # the user's own words, without anything an agent framework or this package added
    error: str | None = None
    sandbox: str | None = None  # where the code will run: "local", "docker", "bubblewrap", ...
    top_k: int = 3
    max_tokens: int = 2000  # budget of `RecallResult.block`


@dataclass(frozen=True, slots=True)
class RecalledItem:
    """One solution the hub offers, and why."""

    revision_id: str
    solution_id: str
    title: str
    score: float
    rank: int  # 1 is best
    reason: str
    status: str
    verification: str
    entry_point: str | None
    signature: str | None
    code: str  # exactly the stored bytes
    kind: str


@dataclass(frozen=True, slots=True)
class OfferedCallable:
    """A function that can be defined in the agent's Python session before its first step."""

    name: str
    signature: str
    source: str  # whole module source: imports, helpers and the function itself
    revision_id: str


@dataclass(frozen=True, slots=True)
class RecallResult:
    """The hub's answer.

    `block` is text ready for the prompt: packed to the budget and neutralised by the hub. It must not claim
    that a function is already defined: only `attach()` knows, and it adds one line per function that is.
    """

    recall_id: str | None = None
    items: tuple[RecalledItem, ...] = ()
    block: str = ""
    callables: tuple[OfferedCallable, ...] = ()
    no_match: bool = True


@dataclass(frozen=True, slots=True)
class ErrorQuery:
    """An error that a step has just ended with."""

    exception_type: str  # "ValueError", or "InterpreterError" for refusals of smolagents' local executor
    message: str
    failing_line: str  # the source of the line, "" when it is not known
    traceback: str  # "" when the executor gives none
    code: str  # the whole code of the step
    recall_id: str | None = None  # the recall of this run
    sandbox: str | None = None


@dataclass(frozen=True, slots=True)
class LessonHint:
    """A known fix; `text` is packed and neutralised by the hub."""

    lesson_id: str
    text: str
    title: str


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that says how well a run did."""

    name: str
    value: float
    unit: str = ""
    higher_is_better: bool | None = None  # None: the hub should only show it, not compare it


@dataclass(frozen=True, slots=True)
class RecordedError:
    """What went wrong in a step (or in the run, for an exception that left it)."""

    type: str  # the Python class as far as the executor tells, else smolagents' own ("AgentParsingError")
    message: str
    line: str = (
        ""  # source of the failing line (of the failing statement, where the executor gives only that)
    )
    traceback: str = ""
    line_number: int | None = None  # 1-based, in the code of the step
    kind: ErrorKind = "execution"


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """One step as the agent took it; hints that `attach()` added to observations are taken out again."""

    number: int
    thought: str
    code: str | None  # exactly what ran; None: the reply held no code (or the agent calls tools by JSON)
    observations: str
    error: RecordedError | None
    seconds: float | None
    input_tokens: int | None
    output_tokens: int | None
    is_final: bool


@dataclass(frozen=True, slots=True)
class RunRecord:
    """Everything a run leaves behind."""

    task: str  # the user's own words
    steps: tuple[RecordedStep, ...]
    outcome: Outcome  # "succeeded" means only: an answer was given
    answer: Any = None  # a JSON value, or the repr when `answer_is_repr`
    answer_is_repr: bool = False
    error: RecordedError | None = None  # of the run, for the outcome "exception"
    final_call: dict[str, Any] | None = None  # the call that made the answer, where the executor knows it
    environment: dict[str, Any] = field(default_factory=dict)
    recall_id: str | None = None
    offered_revision_ids: tuple[str, ...] = ()
    defined_revision_ids: tuple[str, ...] = ()  # offered functions that really were defined in the session
    used_revision_ids: tuple[str, ...] = ()  # offered functions that the code called, and did not replace
    lesson_ids: tuple[str, ...] = ()  # hints that were shown
    metrics: tuple[Metric, ...] = ()
    reported_success: bool | None = None  # agent.report(success=...) during the run
    seconds: float = 0.0
    input_tokens: int | None = None
    output_tokens: int | None = None
    started_at: datetime | None = None  # aware, UTC
    agent_name: str | None = None  # of a managed agent

    @property
    def tokens(self) -> int | None:
        """Input and output tokens together; None when the model did not say."""
        if self.input_tokens is None and self.output_tokens is None:
            return None
        return (self.input_tokens or 0) + (self.output_tokens or 0)

    def as_json(self) -> dict[str, Any]:
        """The record as JSON values; `started_at` becomes ISO 8601."""
        values = asdict(self)
        values["started_at"] = self.started_at.isoformat() if self.started_at else None
        values["tokens"] = self.tokens
        return values


@dataclass(frozen=True, slots=True)
class OutcomeReport:
    """What became of a recall, said after the run by `agent.report()`."""

    recall_id: str
    success: bool
    used_revision_ids: tuple[str, ...] = ()
    metrics: tuple[Metric, ...] = ()

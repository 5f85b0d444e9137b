"""What this room takes in and gives back: plain values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory_hub.library.models import Lesson

from .models import Recall
from .snippets import Piece


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorDetails:
    """An error that somebody met. A pasted traceback may stand whole in `traceback` or `message`."""

    exception_type: str = ""
    message: str = ""
    failing_line: str = ""
    traceback: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """A question to the memory.

    filters: what offered items must be, by "kind", "status" or "verification"; a value or several.
    max_tokens: budget of the packed block, at four characters a token.
    inputs: {name: profile} of the data at hand; those of the asking run where none are given.
    threshold: score from 0 to 1 below which nothing is offered, where the measured one shall not count.
    """

    task: str = ""
    error: ErrorDetails | None = None
    sandbox: str = ""
    filters: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    top_k: int = 3
    max_tokens: int = 2000
    threshold: float | None = None
    explain: bool = False
    inputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedItem:
    """One offered revision: what it is, how well it fits and why, and the two signals on it.

    score_parts and worth_parts: each from 0 to 1; rank_without_worth: where relevance alone would have put it; None for what came by a link.
    matched_on: the part of the problem that the question's words stand in.
    statement is what it says in words: the problem, led by the title where that says something else.
    """

    rank: int
    rank_without_worth: int | None
    score: float
    score_parts: Mapping[str, float]
    worth_parts: Mapping[str, float]
    matched_on: Sequence[Piece]
    reason: str
    solution_id: str
    revision_id: str
    title: str
    problem: str
    statement: str
    kind: str
    status: str
    verification: str
    entry_point: str
    signature: str
    depends_on: Sequence[str]
    code: str
    usage_example: str
    applies_when: str
    edge_cases: Sequence[str]
    failed: Sequence[str]
    run_id: str | None


@dataclass(frozen=True, slots=True)
class CallableItem:
    """A function to define in the agent's session: whole source, with the helpers it calls before it."""

    name: str
    signature: str
    source: str
    revision_id: str


@dataclass(frozen=True, slots=True)
class FoundLesson:
    """A lesson that fits an error or a question, how well and why."""

    lesson: Lesson
    score: float
    score_parts: Mapping[str, float]
    reason: str


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """What was recalled. `best_rejected` is only there where an explanation was asked for."""

    recall: Recall
    items: Sequence[OfferedItem]
    block: str
    callables: Sequence[CallableItem]
    lessons: Sequence[FoundLesson]
    no_match: bool
    best_rejected: OfferedItem | None

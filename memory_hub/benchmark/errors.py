"""Does the hub know an error it has seen before: the same bug on another input, in a program with other names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from .baselines import baselines
from .corpus import Item
from .error_data import Bug, bugs
from .ranks import figures, place_of
from .scratch import World, make_world

if TYPE_CHECKING:
    from memory_hub.recall.lesson_features import ErrorParts

    Part = Callable[[ErrorParts], ErrorParts]


def measure(data: Path) -> dict[str, dict[str, float]]:
    """Return how well lessons are found. Call within scratch_hub().

    Stored: one lesson for every bug, of its first error. Asked: message and failing line of another error of the same
    bug, its local names replaced; and with the code around, or the message alone. The questions are errors of programs
    that ran, unless a row says otherwise; the lessons of all others stand in between.
    """
    found = bugs(data)
    lessons = Lessons("errors", found)
    ran = [bug for bug in found if not bug.is_syntax]
    asked = [_text(_line_only(bug.met)) for bug in ran]
    results = {
        "ours": lessons.figures(ran, _line_only),
        **{
            name: figures([place_of(bug.id, topics) for bug, topics in zip(ran, search(asked), strict=True)])
            for name, search in baselines([_plain(bug) for bug in found]).items()
        },
        "ours, held out": lessons.figures([bug for bug in ran if bug.is_held_out], _line_only),
        "ours, with code": lessons.figures(ran, _all),
        "ours, message only": lessons.figures(ran, _message_only),
        "ours, syntax errors": lessons.figures([bug for bug in found if bug.is_syntax], _line_only),
        "ours, syntax errors with code": lessons.figures([bug for bug in found if bug.is_syntax], _all),
    }
    results["offered, known"] = _offers(lessons, ran)
    tasks = sorted({bug.task for bug in found})
    half = set(tasks[::2])
    for number, missing in enumerate((half, set(tasks) - half)):
        rest = Lessons(f"others{number}", [bug for bug in found if bug.task not in missing])
        unknown = _offers(rest, [bug for bug in ran if bug.task in missing])
        results[f"offered, unknown, half {number + 1}"] = unknown
    return results


class Lessons:
    """A project with a lesson for each of these bugs, and how it is asked."""

    def __init__(self, name: str, known: Sequence[Bug]) -> None:
        self.world = make_world(name)
        self.bugs_of = _store(self.world, known)

    def ask(self, met: ErrorParts, threshold: float | None = None) -> list[list[str]]:
        """Return the bugs of each lesson that is found, best first, as the person is told; by default all of them."""
        from memory_hub.access.actor import acting_as
        from memory_hub.recall.errors import parse_error
        from memory_hub.recall.selectors import LESSON_THRESHOLD, lessons_on_error
        from memory_hub.recall.values import ErrorDetails

        actor = self.world.actor
        error = parse_error(
            ErrorDetails(
                exception_type=met.exception_type,
                message=met.message,
                failing_line=met.failing_line,
                code=met.code,
            )
        )
        least = LESSON_THRESHOLD if threshold is None else threshold
        with acting_as(actor):
            found = lessons_on_error(actor, [self.world.project.id], error, threshold=least)
            return [self.bugs_of[item.lesson.id] for item in found]

    def figures(self, asked: Sequence[Bug], part: Part) -> dict[str, float]:
        """Return where the right lesson stands when only a part of the error is told."""
        places = []
        for bug in asked:
            found = self.ask(part(bug.met), threshold=0.0)
            places.append(place_of(bug.id, [bug.id if bug.id in ids else "" for ids in found]))
        return figures(places)


def _offers(lessons: Lessons, asked: Sequence[Bug]) -> dict[str, float]:
    """Return the shares of errors for which the right lesson, or another, is offered first as the fix.

    Of one task, another bug's lesson counts as right: the fixed code is the same program.
    """
    task_of = {bug.id: bug.task for bug in asked}
    shares: dict[str, float] = {}
    for label, part in {"line": _line_only, "code": _all, "message": _message_only}.items():
        firsts = [(bug, lessons.ask(part(bug.met))[:1]) for bug in asked]
        offered = [(bug, first[0]) for bug, first in firsts if first]
        right = sum(bug.task in {task_of.get(id_, "") for id_ in ids} for bug, ids in offered)
        shares[f"right_{label}"] = round(right / len(asked), 4)
        shares[f"wrong_{label}"] = round((len(offered) - right) / len(asked), 4)
    return {**shares, "questions": len(asked)}


def _store(world: World, known: Sequence[Bug]) -> dict[UUID, list[str]]:
    """Record a lesson for each bug as a person does, index it as the worker does; return the bugs of each lesson.

    The same error with the same code is there once, whatever it was called.
    """
    from memory_hub.access.actor import acting_as, as_system
    from memory_hub.library.drafts import NewLesson
    from memory_hub.library.services.lessons import lesson_record
    from memory_hub.recall.services import count_terms, index_lesson

    bugs_of: dict[UUID, list[str]] = {}
    for bug in known:
        draft = NewLesson(
            exception_type=bug.known.exception_type,
            message=bug.known.message,
            failing_line=bug.known.failing_line,
            failing_code=bug.known.code,
            fixing_code=bug.fixing_code,
            diff=bug.diff,
            cause=bug.cause,
        )
        with acting_as(world.actor):
            lesson = lesson_record(actor=world.actor, project=world.project, draft=draft).lesson
        bugs_of.setdefault(lesson.id, []).append(bug.id)
    with as_system():
        for lesson_id in bugs_of:
            index_lesson(lesson_id=lesson_id)
        count_terms(project=world.project)
    return bugs_of


def _line_only(met: ErrorParts) -> ErrorParts:
    return replace(met, code="")


def _message_only(met: ErrorParts) -> ErrorParts:
    return replace(met, failing_line="", code="")


def _all(met: ErrorParts) -> ErrorParts:
    return met


def _text(error: ErrorParts) -> str:
    return f"{error.exception_type}: {error.message}\n{error.failing_line}"


def _plain(bug: Bug) -> Item:
    """The text that a plain search has of a lesson: message, failing line and the cause in words."""
    return Item(problem=f"{_text(bug.known)}\n{bug.cause}", code="", topic=bug.id)

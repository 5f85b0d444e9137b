"""Lessons: recorded once per error and code, deleted."""

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project
from memory_hub.library.drafts import NewLesson, RecordedLesson
from memory_hub.library.models import Lesson, Solution
from memory_hub.runs.models import Run


def lesson_record(
    *,
    actor: Actor,
    project: Project,
    draft: NewLesson,
    solution: Solution | None = None,
    run: Run | None = None,
) -> RecordedLesson:
    """Add a lesson. The same error with the same failing code is there once; a fix closes one that was open."""
    raise NotImplementedError


def lesson_delete(*, actor: Actor, lesson: Lesson) -> None:
    """Remove a lesson, its evidence and its index."""
    raise NotImplementedError

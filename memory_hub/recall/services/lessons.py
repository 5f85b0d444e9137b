"""The known fix for an error: found by search over lessons; the fingerprint only breaks ties."""

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.library.fingerprint import error_fingerprint, short_type
from memory_hub.library.models import Lesson
from memory_hub.recall.errors import parse_error
from memory_hub.recall.search import search
from memory_hub.recall.values import ErrorDetails
from memory_hub.runs.models import Run

from .index import error_statement

# Errors of one class are alike in wording anyway, so less would offer a fix for another problem.
_LESSON_THRESHOLD = 0.5


def lookup_error(
    *, actor: Actor, project: Project, error: ErrorDetails, run: Run | None = None
) -> Lesson | None:
    """Return the lesson that knows this error's fix, or None. A lesson without a fix is never offered as one.

    run: where the error was met; its own lessons do not exist yet, so it only scopes the question.
    """
    require(actor, Permission.RECALL, project)
    return next(iter(find_lessons(actor, project, error)), None)


def find_lessons(actor: Actor, project: Project, error: ErrorDetails) -> list[Lesson]:
    """Return the resolved lessons on this kind of error, best first."""
    parsed = parse_error(error)
    if not parsed.exception_type:
        return []
    text = "\n".join([error_statement(parsed.exception_type, parsed.message), parsed.failing_line])
    found = search(text=text, projects=[project.id], kind="lesson")
    scores = {item.candidate.lesson_id: item.score for item in found.scored}
    lessons = Lesson.objects.visible_to(actor).filter(
        project=project, id__in=[item for item in scores if item], is_open=False
    )
    fingerprint = error_fingerprint(parsed.exception_type, parsed.message, parsed.library_frames)
    wanted = short_type(parsed.exception_type)
    ranked = [
        (lesson.fingerprint == fingerprint, scores[lesson.id], lesson)
        for lesson in lessons
        if short_type(lesson.exception_type) == wanted
    ]
    fitting = [item for item in ranked if item[0] or item[1] >= _LESSON_THRESHOLD]
    return [lesson for _, _, lesson in sorted(fitting, key=lambda item: (-item[0], -item[1]))]

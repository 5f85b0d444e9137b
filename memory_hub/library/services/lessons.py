"""Lessons: recorded once per error and code, deleted."""

from typing import Any

from django.db import connection

from memory_hub.access.actor import Actor, ActorKind
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.audit.events import Event
from memory_hub.audit.services import record
from memory_hub.common.errors import NotFound
from memory_hub.common.nudge import nudge
from memory_hub.common.text import sha256_hex, storable
from memory_hub.library.drafts import NewLesson, RecordedLesson
from memory_hub.library.fingerprint import error_fingerprint
from memory_hub.library.models import Lesson, Link, Solution
from memory_hub.library.secret_scan import refuse_secrets, text_of
from memory_hub.library.signals import tell_code_deleted
from memory_hub.library.texts import prose, storable_json
from memory_hub.runs.models import Run

from .links import links_draw

# What closes an open lesson, taken from the later record of the same error.
RESOLVED = "Learnt on the way to it"
_RESOLUTION = ("fixing_code", "diff", "cause")


def lesson_record(
    *,
    actor: Actor,
    project: Project,
    draft: NewLesson,
    solution: Solution | None = None,
    run: Run | None = None,
) -> RecordedLesson:
    """Add a lesson. The same error with the same failing code is there once; a fix closes one that was open.

    Raises SecretFound (captured work is to be masked before) and InvalidInput for what is missing or too long.
    """
    require(actor, Permission.SOLUTION_PROPOSE, project)
    for other in (solution, run):
        if other is not None and other.project_id != project.id:
            raise NotFound
    values = _values(draft)
    refuse_secrets({name: text_of(value) for name, value in values.items()})
    with connection.cursor() as cursor:  # the same lesson twice at once: one waits, then finds the other
        same_code = f"lesson:{project.id}:{values['fingerprint']}:{sha256_hex(values['failing_code'])}"
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [same_code])
    known = Lesson.objects.filter(
        project=project, fingerprint=values["fingerprint"], failing_code=values["failing_code"]
    ).first()
    if known is not None and (values["is_open"] or not known.is_open):
        return RecordedLesson(lesson=known, deduplicated=True)
    if known is not None:
        lesson = known
        lesson.is_open = False
        for name in _RESOLUTION:
            setattr(lesson, name, values[name])
        lesson.solution = solution or lesson.solution
        lesson.needs_index = True
        lesson.save(update_fields=[*_RESOLUTION, "is_open", "solution", "needs_index"])
    else:
        lesson = Lesson.objects.create(
            team_id=project.team_id,
            project=project,
            solution=solution,
            run_id=run.id if run else actor.through_id if actor.kind is ActorKind.RUN else None,
            author_id=actor.user_id,
            **values,
        )
    if solution is not None and not lesson.is_open:
        links_draw(
            kind=Link.Kind.RESOLVES, source=solution, targets=[lesson.id], to_lessons=True, reason=RESOLVED
        )
    _record(actor, Event.LESSON_RECORDED, lesson, {"closed": known is not None, "is_open": lesson.is_open})
    nudge("recall.index_lesson", lesson.id)
    return RecordedLesson(lesson=lesson, deduplicated=known is not None)


def lesson_delete(*, actor: Actor, lesson: Lesson) -> None:
    """Remove a lesson, its evidence and its index."""
    require(actor, Permission.SOLUTION_DELETE, lesson)
    _record(actor, Event.LESSON_DELETED, lesson, {}, label="")
    tell_code_deleted([lesson.failing_code, lesson.fixing_code])
    lesson.delete()


def _values(draft: NewLesson) -> dict[str, Any]:
    kind = prose(draft.exception_type, "exception_type", limit=200, required=True)
    frames = [prose(frame, "library_frames", limit=500) for frame in draft.library_frames]
    fixing_code = "" if draft.is_open else storable(draft.fixing_code)
    cause = "" if draft.is_open else prose(draft.cause, "cause")
    return {
        "exception_type": kind,
        "message": prose(draft.message, "message"),
        "failing_line": prose(draft.failing_line, "failing_line", limit=4_000),
        "library_frames": storable_json(frames),
        "failing_code": storable(draft.failing_code),
        "fixing_code": fixing_code,
        "diff": "" if draft.is_open else storable(draft.diff),
        "cause": cause,
        "applies_where": prose(draft.applies_where, "applies_where", limit=2_000),
        "is_open": not (fixing_code.strip() or cause),
        "fingerprint": draft.fingerprint or error_fingerprint(kind, draft.message, frames),
    }


def _record(
    actor: Actor, event: Event, lesson: Lesson, data: dict[str, Any], label: str | None = None
) -> None:
    record(
        actor=actor,
        event=event,
        object_kind="lesson",
        object_id=lesson.id,
        object_label=str(lesson) if label is None else label,
        team_id=lesson.team_id,
        project_id=lesson.project_id,
        data=data,
    )

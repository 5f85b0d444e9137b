"""The known fix for an error: found by search over lessons; the fingerprint only says which are surely the same."""

from collections.abc import Sequence

from django.db.models import Max

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.audit.events import Event
from memory_hub.audit.services import record
from memory_hub.library.models import Lesson
from memory_hub.recall.errors import parse_error
from memory_hub.recall.models import Recall, RecallItem
from memory_hub.recall.selectors import lessons_on_error
from memory_hub.recall.values import ErrorDetails, FoundLesson
from memory_hub.runs.models import Run


def lookup_error(
    *, actor: Actor, project: Project, error: ErrorDetails, run: Run | None = None
) -> Lesson | None:
    """Return the lesson that knows this error's fix, or None. A lesson without a fix is never offered as one.

    run: the run that met the error; what it is told is then noted on its recall.
    """
    recall = run.recalls.order_by("id").first() if run is not None else None
    found = recall_lessons(actor=actor, project=project, error=error, recall=recall, top_k=1)
    return found[0].lesson if found else None


def recall_lessons(
    *, actor: Actor, project: Project, error: ErrorDetails, recall: Recall | None, top_k: int
) -> list[FoundLesson]:
    """Return the known fixes for an error that was met after the recall of a run, and add them to that recall.

    Nothing is written where nothing is offered. Needs recall:make.
    """
    require(actor, Permission.RECALL, project)
    found = find_lessons(actor, project, error)[:top_k]
    if not found:
        return []
    if recall is not None:
        Recall.objects.select_for_update(of=("self",)).get(id=recall.id)  # one rank, one lesson
        add_lessons(recall, found)
    record(
        actor=actor, event=Event.RECALLED, object_kind="recall", object_id=recall.id if recall else None,
        team_id=project.team_id, project_id=project.id,
        data={"lessons": [str(item.lesson.id) for item in found]},
    )  # fmt: skip
    return found


def find_lessons(actor: Actor, project: Project, error: ErrorDetails) -> list[FoundLesson]:
    """Return the resolved lessons on this kind of error, best first."""
    found = lessons_on_error(actor, [project.id], parse_error(error))
    return [item for item in found if not item.lesson.is_open]


def add_lessons(recall: Recall, found: Sequence[FoundLesson]) -> None:
    """Write down lessons that a recall offered, behind what it offered before; each once."""
    known = set(recall.items.values_list("lesson_id", flat=True))
    new = [item for item in found if item.lesson.id not in known]
    last = recall.items.aggregate(last=Max("rank"))["last"] or 0
    RecallItem.objects.bulk_create(
        RecallItem(
            team_id=recall.team_id,
            project_id=recall.project_id,
            recall=recall,
            rank=rank,
            score=item.score,
            score_parts=dict(item.score_parts),
            reason=item.reason,
            lesson=item.lesson,
        )
        for rank, item in enumerate(new, start=last + 1)
    )

"""What the tests of recall start from: solutions and lessons in the index, and somebody who asks."""

from typing import Any

from memory_hub.access.actor import Actor, acting_as, as_system
from memory_hub.access.models import Project
from memory_hub.library.drafts import NewLesson
from memory_hub.library.models import Lesson, Revision, Solution
from memory_hub.library.services.lessons import lesson_record
from memory_hub.recall.services import RecallAnswer, RecallRequest, index_lesson, index_solution, recall_make
from tests.services.library_support import propose, verified

TASK = "Add up the amount of every row."
REWORDED = "What do the amounts in all rows come to when summed?"
OFF_TOPIC = "Translate this poem about the sea into French."


def bring_index_up_to_date() -> None:
    """Do what the nudges ask for."""
    with as_system():
        for solution in Solution.objects.filter(needs_index=True):
            index_solution(solution_id=solution.id)
        for lesson in Lesson.objects.filter(needs_index=True):
            index_lesson(lesson_id=lesson.id)


def remember(actor: Actor, project: Project, *, passed: bool | None = True, **changes: Any) -> Revision:
    """Return the revision of a new solution in the index; its check passed, failed, or (None) has not run."""
    revision = propose(actor, project, **changes).revision
    if passed is not None:
        verified(revision, passed=passed)
    bring_index_up_to_date()
    return revision


def learn(actor: Actor, project: Project, **changes: Any) -> Lesson:
    """Return a new lesson in the index."""
    values = {
        "exception_type": "ValueError",
        "message": "could not convert string to float: '1,5'",
        "failing_line": "float('1,5')",
        "failing_code": "float('1,5')",
        "fixing_code": "float('1,5'.replace(',', '.'))",
        **changes,
    }
    with acting_as(actor):
        lesson = lesson_record(actor=actor, project=project, draft=NewLesson(**values)).lesson
    bring_index_up_to_date()
    return lesson


def ask(actor: Actor, project: Project, task: str = TASK, **more: Any) -> RecallAnswer:
    """Recall as the actor, in a transaction of its own."""
    run = more.pop("run", None)
    with acting_as(actor):
        return recall_make(actor=actor, project=project, query=RecallRequest(task=task, **more), run=run)


def offered(answer: RecallAnswer) -> list[str]:
    """Return the ids of the revisions that were offered, best first."""
    return [item.revision_id for item in answer.items]

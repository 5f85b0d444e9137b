"""Celery tasks of the recall room: bring the index up to date. Doing it twice changes nothing."""

from uuid import UUID

from celery import shared_task

from memory_hub.access.actor import as_system

from . import services


@shared_task(name="recall.index_solution")
def index_solution(solution_id: str) -> None:
    """Index a solution as it is now."""
    with as_system():
        services.index_solution(solution_id=UUID(solution_id))


@shared_task(name="recall.index_lesson")
def index_lesson(lesson_id: str) -> None:
    """Index a lesson as it is now."""
    with as_system():
        services.index_lesson(lesson_id=UUID(lesson_id))

"""Celery tasks of the recall room: bring the index up to date. Doing it twice changes nothing."""

from uuid import UUID

from celery import shared_task

from memory_hub.access.actor import as_system

from . import services

# Of 64 entries each; new solutions are indexed in between.
_BATCHES = 20


@shared_task(name="recall.index_solution")
def index_solution(solution_id: str) -> None:
    """Index a solution as it is now, and put what says almost the same before a reviewer."""
    with as_system():
        there = services.index_solution(solution_id=UUID(solution_id))
    if there:
        # In a transaction of its own: a proposal touches two solutions, and the first one holds a lock on this.
        with as_system():
            services.propose_near_duplicates(solution_id=UUID(solution_id))


@shared_task(name="recall.index_lesson")
def index_lesson(lesson_id: str) -> None:
    """Index a lesson as it is now."""
    with as_system():
        services.index_lesson(lesson_id=UUID(lesson_id))


@shared_task(name="recall.count_terms")
def count_terms() -> None:
    """Count the terms of the projects that were indexed since; each in a transaction of its own."""
    with as_system():
        projects = services.projects_to_count()
    for project in projects:
        with as_system():
            services.count_terms(project=project)


@shared_task(name="recall.fill_embeddings")
def fill_embeddings() -> None:
    """Give entries that lack a vector of the configured model one, for about a minute; the beat calls again."""
    services.fill_embeddings(batches=_BATCHES)

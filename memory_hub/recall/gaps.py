"""Reads of gaps: what a project was asked and could not answer, by people who said so and by agents."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Count, Max, Q, QuerySet

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.common.clock import now
from memory_hub.common.errors import NotFound

from .models import Gap, Recall
from .query_words import Asked, Filters, together

# Agents' questions without an answer are shown for so long.
UNANSWERED_FOR = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A task for which agents were offered nothing: how often, and when last."""

    query: str
    times: int
    last: datetime


def gaps(actor: Actor, project: Project) -> "QuerySet[Gap]":
    """Return a project's gaps with the number of people who asked (`people`), what was asked last first."""
    require(actor, Permission.LIBRARY_READ, project)
    return (
        Gap.objects.visible_to(actor)
        .filter(project=project)
        .annotate(people=Count("askers"))
        .select_related("asked_by", "closed_by", "solution")
        .order_by("-last_asked_at", "-id")
    )


def gap_get(actor: Actor, gap_id: UUID) -> Gap:
    """Return a gap. Raises NotFound for what the actor cannot see."""
    found = (
        Gap.objects.visible_to(actor)
        .annotate(people=Count("askers"))
        .select_related("asked_by", "closed_by", "solution", "project__team")
        .filter(id=gap_id)
        .first()
    )
    if found is None:
        raise NotFound
    require(actor, Permission.LIBRARY_READ, found)
    return found


def open_gaps(actor: Actor, project: Project) -> int:
    """Return how many gaps of a project are open."""
    return Gap.objects.visible_to(actor).filter(project=project, state=Gap.State.OPEN).count()


def asked_of(gap: Gap) -> Asked:
    """Return what a gap asks, as search takes it."""
    return Asked(gap.question, filters_of(gap))


def filters_of(gap: Gap) -> Filters:
    """Return the filters that stood beside the question."""
    return together({name: tuple(values) for name, values in gap.filters.items()})


def unanswered_recalls(actor: Actor, project: Project, *, limit: int) -> list[Unanswered]:
    """Return the tasks for which recall lately found nothing, the most asked first; each recall of one counts."""
    require(actor, Permission.LIBRARY_READ, project)
    rows = (
        Recall.objects.visible_to(actor)
        .filter(project=project, no_match=True, created_at__gte=now() - UNANSWERED_FOR)
        .exclude(Q(query="") | Q(query__regex=r"^\s+$"))
        .order_by()
        .values("query")
        .annotate(times=Count("id"), last=Max("created_at"))
        .order_by("-times", "-last")[:limit]
    )
    return [Unanswered(row["query"], row["times"], row["last"]) for row in rows]

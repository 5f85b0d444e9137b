"""Links: edges of the memory graph."""

from memory_hub.access.actor import Actor
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.audit.events import Event
from memory_hub.common.errors import InvalidInput, NotFound
from memory_hub.library.models import Lesson, Link, Solution

from .rows import record_about


def link_add(
    *,
    actor: Actor,
    kind: str,
    source: Solution,
    target: Solution | None = None,
    target_lesson: Lesson | None = None,
) -> Link:
    """Link a solution to another, or to a lesson, of the same project; returns the link that is there already."""
    require(actor, Permission.SOLUTION_EDIT, source)
    end = target or target_lesson
    if end is None or (target is not None and target_lesson is not None):
        raise ValueError("a link leads to one solution or to one lesson")
    if end.project_id != source.project_id:
        raise NotFound
    if kind not in Link.Kind.values:
        message = f"“{kind}” is no kind of link; use one of {', '.join(Link.Kind.values)}."
        raise InvalidInput(message, fields={"kind": message})
    if target is not None and target.id == source.id:
        raise InvalidInput("A solution cannot be linked to itself.")
    link, created = Link.objects.get_or_create(
        kind=kind,
        source=source,
        target=target,
        target_lesson=target_lesson,
        defaults={"team_id": source.team_id, "project_id": source.project_id},
    )
    if created:
        record_about(actor, Event.LINK_ADDED, source, {"kind": kind, "target": str(end.id)})
    return link

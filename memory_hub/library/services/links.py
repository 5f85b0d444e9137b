"""Links: edges of the memory graph."""

from memory_hub.access.actor import Actor
from memory_hub.library.models import Lesson, Link, Solution


def link_add(
    *,
    actor: Actor,
    kind: str,
    source: Solution,
    target: Solution | None = None,
    target_lesson: Lesson | None = None,
) -> Link:
    """Link a solution to another, or to a lesson, of the same project; returns the link that is there already."""
    raise NotImplementedError

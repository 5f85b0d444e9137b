"""Offered revisions as functions for a session: whole sources, helpers first, no two of one name."""

from collections.abc import Sequence
from uuid import UUID

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project
from memory_hub.library.models import Revision
from memory_hub.library.selectors import helpers_of

from .offers import offered_revision
from .values import CallableItem, OfferedItem


def callables_of(actor: Actor, project: Project, items: Sequence[OfferedItem]) -> list[CallableItem]:
    """Return a callable for each item that has an entry point; of two with the same name the better one stays.

    A function whose helpers may not all be offered themselves is no callable: it would be offered half, or its helper
    past the policy. Its item is then text to adapt.
    """
    calling = [UUID(item.revision_id) for item in items if item.depends_on]
    revisions = Revision.objects.visible_to(actor).in_bulk(calling) if calling else {}
    taken: set[str] = set()
    found = []
    for item in items:
        if not item.entry_point or item.entry_point in taken:
            continue
        helpers = _helpers(revisions[UUID(item.revision_id)], project) if item.depends_on else []
        if helpers is None:
            continue
        taken.add(item.entry_point)
        found.append(
            CallableItem(
                name=item.entry_point,
                signature=item.signature or f"{item.entry_point}(...)",
                source="\n\n".join([*(helper.code for helper in helpers), item.code]),
                revision_id=item.revision_id,
            )
        )
    return found


def _helpers(revision: Revision, project: Project) -> list[Revision] | None:
    """Return what the code calls by name, or None where not all of it may be offered."""
    helpers = helpers_of(revision)
    if {helper.entry_point for helper in helpers} != set(revision.depends_on):
        return None
    if any(offered_revision(helper.solution, project.recall_policy) != helper for helper in helpers):
        return None
    return helpers

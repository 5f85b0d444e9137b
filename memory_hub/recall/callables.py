"""Offered revisions as functions for a session: whole sources, helpers first, no two of one name."""

from collections.abc import Sequence
from uuid import UUID

from memory_hub.library.models import Revision
from memory_hub.library.selectors import helpers_of

from .values import CallableItem, OfferedItem


def callables_of(items: Sequence[OfferedItem]) -> list[CallableItem]:
    """Return a callable for each item that has an entry point; of two with the same name the better one stays."""
    revisions = {
        str(item.id): item
        for item in Revision.objects.filter(id__in=[UUID(item.revision_id) for item in items])
    }
    taken: set[str] = set()
    found = []
    for item in items:
        if not item.entry_point or item.entry_point in taken:
            continue
        taken.add(item.entry_point)
        helpers = [helper.code for helper in helpers_of(revisions[item.revision_id])]
        found.append(
            CallableItem(
                name=item.entry_point,
                signature=item.signature or f"{item.entry_point}(...)",
                source="\n\n".join([*helpers, item.code]) if helpers else item.code,
                revision_id=item.revision_id,
            )
        )
    return found

"""Reads of the review room."""

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project


def waiting_count(actor: Actor, project: Project) -> int:
    """Return how many candidates wait for a decision."""
    from memory_hub.library.models import Revision

    return Revision.objects.visible_to(actor).filter(project=project, status=Revision.Status.CANDIDATE).count()

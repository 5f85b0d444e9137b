"""Whose work a revision is: the question that decides who may not approve it."""

from memory_hub.access.actor import Actor
from memory_hub.library.models import Revision


def is_own_work(actor: Actor, revision: Revision) -> bool:
    """Say whether the actor's person wrote the revision, by hand, through a key, or by a run that they started."""
    if actor.user_id is None:
        return False
    return actor.user_id == revision.author_id or (
        revision.author_run is not None and revision.author_run.starter_id == actor.user_id
    )

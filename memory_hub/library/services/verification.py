"""Verification: asked for, claimed by one worker, recorded."""

from uuid import UUID

from memory_hub.access.actor import Actor
from memory_hub.library.models import Revision


def verification_request(*, actor: Actor, revision: Revision) -> Revision:
    """Ask for the check to be run again. Raises InvalidInput (code no_check) where there is none."""
    raise NotImplementedError


def verification_claim(*, revision_id: UUID) -> Revision | None:
    """Let one worker take a waiting revision; None where it is gone, not waiting, or taken.

    The claim lapses by itself. To be called as the system (as_system), in a short transaction of its own.
    """
    raise NotImplementedError


def verification_record(
    *, actor: Actor, revision: Revision, passed: bool, sandbox: str, detail: str = "", seconds: float | None = None
) -> Revision:
    """Record what a replay of the check found; only the hub itself may. Adds evidence of kind verified."""
    raise NotImplementedError


def verification_release(*, revision_id: UUID, reason: str) -> None:
    """Give a claim back where the check could not be run (no sandbox). Tried again later, a few times."""
    raise NotImplementedError

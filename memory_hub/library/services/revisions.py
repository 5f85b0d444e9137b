"""Revisions: refined into new ones; given the check they lack."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from memory_hub.access.actor import Actor
from memory_hub.library.models import Revision, Solution

# Stands for "the check of the parent".
KEEP_CHECK: Final[Mapping[str, Any]] = {}


def revision_refine(
    *,
    actor: Actor,
    solution: Solution,
    based_on: UUID,
    code: str,
    entry_point: str = "",
    change_note: str = "",
    explanation: str | None = None,
    usage_example: str | None = None,
    check_spec: Mapping[str, Any] | None = KEEP_CHECK,
) -> Revision:
    """Add a revision, a candidate, and have its check run again. The approved one is served meanwhile.

    `based_on` is the id of the revision that the actor changed. Raises Conflict (code stale_revision) where it is
    no longer the latest. None leaves explanation and usage example as they are.
    """
    raise NotImplementedError


def check_change(*, actor: Actor, revision: Revision, check_spec: Mapping[str, Any]) -> Revision:
    """Give a revision that has no check one, once; later ones come with a refinement. It is run at once."""
    raise NotImplementedError

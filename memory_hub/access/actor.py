"""Actor: who does something. acting_as: the transaction in which they do it.

An actor carries its rights, worked out once by policy.py from the rows of the moment. `acting_as` opens the
transaction and sets the actor in it, where the row-level policies of PostgreSQL read it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from uuid import UUID

from django.db import connection, transaction

from memory_hub.common.row_security import SETTINGS

from .permissions import Role, Scope, TeamRole


class ActorKind(StrEnum):
    """What kind of actor; stored in audit entries."""

    ANONYMOUS = "anonymous"
    PERSON = "person"
    KEY = "key"
    RUN = "run"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Actor:
    """A person, an API key, an agent run, nobody, or the system, with the rights they have now.

    project_roles and team_roles are effective: team admins are maintainers of every project, a key's or run's role
    is already lowered to what its owner may. scopes is None where nothing narrows the role (a person).
    """

    kind: ActorKind
    label: str
    user_id: UUID | None = None
    through_id: UUID | None = None
    project_roles: Mapping[UUID, Role] = field(default_factory=lambda: MappingProxyType({}))
    team_roles: Mapping[UUID, TeamRole] = field(default_factory=lambda: MappingProxyType({}))
    scopes: frozenset[Scope] | None = None

    @property
    def is_system(self) -> bool:
        return self.kind is ActorKind.SYSTEM

    @property
    def project_ids(self) -> list[UUID]:
        return list(self.project_roles)

    @property
    def team_ids(self) -> list[UUID]:
        return list(self.team_roles)


ANONYMOUS = Actor(kind=ActorKind.ANONYMOUS, label="nobody")
SYSTEM = Actor(kind=ActorKind.SYSTEM, label="the hub")

_current: ContextVar[Actor | None] = ContextVar("actor", default=None)


def current_actor() -> Actor | None:
    """Return the actor of the enclosing acting_as, or None outside of one."""
    return _current.get()


@contextmanager
def acting_as(actor: Actor) -> Iterator[Actor]:
    """Open a transaction (or a savepoint in one) in which rows are reachable as `actor` may reach them.

    On leaving a nested block the outer actor is restored, since a setting made inside a savepoint would otherwise
    outlive it. Must not be held open while waiting for a network, a sandbox or a stream.
    """
    outer = _current.get()
    with transaction.atomic():
        _set(actor)
        token = _current.set(actor)
        try:
            yield actor
        finally:
            _current.reset(token)
        if connection.needs_rollback:  # asked for by undo(): it takes the settings back as well
            return
        if outer is not None:
            _set(outer)
        elif connection.savepoint_ids:  # inside somebody else's bare transaction: leave nothing behind
            _set(ANONYMOUS)


@contextmanager
def as_system() -> Iterator[Actor]:
    """Step out of the caller's rights for the few deeds that come before rights exist (sign-in, invitations).

    Within another as_system it is part of it: nothing is set again, and there is no savepoint to go back to.
    """
    if (outer := _current.get()) is not None and outer.is_system:
        with transaction.atomic(savepoint=False):
            yield outer
    else:
        with acting_as(SYSTEM) as actor:
            yield actor


def _set(actor: Actor) -> None:
    values = {
        "hub.system": "on" if actor.is_system else "",
        "hub.user_id": str(actor.user_id or ""),
        "hub.team_ids": _array(actor.team_ids),
        "hub.project_ids": _array(actor.project_ids),
    }
    calls = ", ".join("set_config(%s, %s, true)" for _ in SETTINGS)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {calls}", [part for name in SETTINGS for part in (name, values[name])])


def _array(ids: list[UUID]) -> str:
    return "{" + ",".join(str(item) for item in ids) + "}"

"""API keys: made, looked up, revoked."""

import hmac
from collections.abc import Iterable
from datetime import datetime, timedelta

from memory_hub.access.actor import Actor, as_system
from memory_hub.access.models import ApiKey, Project
from memory_hub.access.permissions import Permission, Role, Scope
from memory_hub.access.policy import require, role_in
from memory_hub.access.tokens import digest, new_key, split_key
from memory_hub.audit.events import Event
from memory_hub.audit.services import record
from memory_hub.common.clock import now
from memory_hub.common.errors import Conflict, InvalidInput, NotSignedIn, PermissionDenied

# last_used_at is written at most this often, so that a busy key does not turn every read into a write.
_USE_NOTED_EVERY = timedelta(minutes=1)


def key_create(
    *,
    actor: Actor,
    project: Project,
    name: str,
    role: Role,
    scopes: Iterable[Scope],
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """Return the key's row and the key itself, which is shown once. It belongs to the acting person."""
    require(actor, Permission.KEYS_MANAGE, project)
    if actor.user_id is None:
        raise PermissionDenied("A key belongs to a person.")
    held = role_in(actor, project)
    if held is None or role.rank > held.rank:
        raise PermissionDenied("A key cannot do more than you may yourself.")
    wanted = sorted(set(scopes))
    if not wanted:
        raise InvalidInput("Choose at least one scope.", fields={"scopes": "Choose at least one."})
    if actor.scopes is not None and not set(wanted) <= actor.scopes:
        raise PermissionDenied("A key cannot make one with more scopes than its own.")
    if not name.strip():
        raise InvalidInput(
            "Name the key after the program that will use it.", fields={"name": "Give a name."}
        )
    if expires_at is not None and expires_at <= now():
        raise InvalidInput("The expiry lies in the past.", fields={"expires_at": "Choose a time to come."})
    whole, prefix, secret = new_key()
    key = ApiKey.objects.create(
        team_id=project.team_id,
        project=project,
        owner_id=actor.user_id,
        name=name.strip()[:80],
        prefix=prefix,
        secret_digest=digest(secret),
        role=role,
        scopes=wanted,
        expires_at=expires_at,
    )
    record(
        actor=actor,
        event=Event.KEY_CREATED,
        object_kind="key",
        object_id=key.id,
        object_label=key.name,
        team_id=project.team_id,
        project_id=project.id,
        data={"role": role.value, "scopes": wanted},
    )
    return key, whole


def key_revoke(*, actor: Actor, key: ApiKey) -> ApiKey:
    """Stop a key at once. Its owner may, and the project's maintainers."""
    if key.owner_id != actor.user_id:
        require(actor, Permission.MEMBERS_MANAGE, key)
    else:
        require(actor, Permission.KEYS_MANAGE, key)
    key = ApiKey.objects.select_for_update().get(id=key.id)
    if key.revoked_at:
        raise Conflict("This key is revoked already.", code="key_revoked")
    key.revoked_at = now()
    key.save(update_fields=["revoked_at"])
    record(
        actor=actor,
        event=Event.KEY_REVOKED,
        object_kind="key",
        object_id=key.id,
        object_label=key.name,
        team_id=key.team_id,
        project_id=key.project_id,
    )
    return key


def key_authenticate(presented: str) -> ApiKey:
    """Return the active key that was presented. Raises NotSignedIn, the same for every reason."""
    parts = split_key(presented.strip())
    with as_system():
        key = ApiKey.objects.select_related("owner").filter(prefix=parts[0]).first() if parts else None
        known = hmac.compare_digest(key.secret_digest if key else "", digest(parts[1] if parts else ""))
        if key is None or not known or key.state != "active":
            raise NotSignedIn("This key is unknown, expired or revoked.", code="invalid_key")
        if key.last_used_at is None or now() - key.last_used_at > _USE_NOTED_EVERY:
            key.last_used_at = now()
            key.save(update_fields=["last_used_at"])
    return key

"""Model connections: made, changed, retired. Their secrets go in and never come out."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.audit.events import Event
from memory_hub.audit.services import record
from memory_hub.common.clock import now
from memory_hub.common.errors import Conflict, InvalidInput, NotFound
from memory_hub.common.text import storable
from memory_hub.runs.model_urls import require_allowed_url
from memory_hub.runs.models import Connection
from memory_hub.runs.secrets import encrypt

_NUMBERS: Mapping[str, tuple[float, float]] = {
    "temperature": (0, 2),
    "max_tokens": (1, 1_000_000),
    "timeout_seconds": (1, 3_600),
    "pause_seconds": (0, 60),
}
_SWITCHES = frozenset({"flatten_messages"})
_MAX_SECRET_CHARACTERS = 2_000


def connection_create(
    *,
    actor: Actor,
    project: Project,
    name: str,
    kind: Connection.Kind,
    base_url: str = "",
    model_id: str = "",
    secret: str = "",
    options: Mapping[str, Any] | None = None,
) -> Connection:
    """Add a connection. `secret` is the provider's key, kept encrypted; empty where the server wants none.

    An openai connection without base_url goes to OpenAI itself. Raises InvalidInput naming each field at fault (an
    address that may not be called among them), Conflict for a name in use.
    """
    require(actor, Permission.CONNECTION_MANAGE, project)
    values = _clean(kind, name=name, base_url=base_url, model_id=model_id, options=options or {})
    connection = Connection(
        team_id=project.team_id,
        project=project,
        kind=kind,
        created_by_id=actor.user_id,
        encrypted_secret=_encrypted(kind, secret),
        **values,
    )
    _save(connection, new=True)
    _record(actor, Event.CONNECTION_CREATED, connection, {"kind": connection.kind, **_public(connection)})
    return connection


def connection_change(
    *,
    actor: Actor,
    connection: Connection,
    name: str | None = None,
    base_url: str | None = None,
    model_id: str | None = None,
    secret: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Connection:
    """Change a connection; None leaves a part as it is, an empty secret removes the stored one.

    With another server in the address the secret must be given again: else whoever may change the address could have
    the stored key sent to a server of theirs.
    """
    require(actor, Permission.CONNECTION_MANAGE, connection)
    connection = _lock(connection)
    before = _public(connection)
    values = _clean(
        connection.kind,
        name=connection.name if name is None else name,
        base_url=connection.base_url if base_url is None else base_url,
        model_id=connection.model_id if model_id is None else model_id,
        options=connection.options if options is None else options,
    )
    moved = _server(values["base_url"]) != _server(connection.base_url)
    if moved and connection.encrypted_secret and secret is None:
        message = "The address names another server: enter the key again, or remove it."
        raise InvalidInput(message, code="secret_needed", fields={"secret": message})
    for field, value in values.items():
        setattr(connection, field, value)
    if secret is not None:
        connection.encrypted_secret = _encrypted(connection.kind, secret)
    _save(connection)
    after = _public(connection)
    changes: dict[str, Any] = {
        field: {"before": before[field], "after": after[field]}
        for field in after
        if before[field] != after[field]
    }
    if secret is not None:
        changes["secret"] = "replaced" if secret else "removed"
    _record(actor, Event.CONNECTION_CHANGED, connection, changes)
    return connection


def connection_retire(*, actor: Actor, connection: Connection) -> Connection:
    """Take a connection out of use and delete its secret. Runs that used it still name it."""
    require(actor, Permission.CONNECTION_MANAGE, connection)
    connection = _lock(connection)
    connection.retired_at = now()
    connection.encrypted_secret = ""
    connection.save(update_fields=["retired_at", "encrypted_secret"])
    _record(actor, Event.CONNECTION_DELETED, connection, {})
    return connection


def _lock(connection: Connection) -> Connection:
    locked = Connection.objects.select_for_update().filter(id=connection.id).first()
    if locked is None:
        raise NotFound
    if locked.retired_at is not None:
        raise Conflict("This connection was retired.", code="connection_retired")
    return locked


def _clean(
    kind: str, *, name: str, base_url: str, model_id: str, options: Mapping[str, Any]
) -> dict[str, Any]:
    name, base_url, model_id = (storable(text).strip() for text in (name, base_url, model_id))
    fields: dict[str, str] = {}
    if kind not in Connection.Kind.values:
        raise InvalidInput(
            "There is no such kind of connection.", fields={"kind": "Choose one of the kinds."}
        )
    if not name or len(name) > 80:
        fields["name"] = "Give a name of at most 80 characters."
    if kind == Connection.Kind.REHEARSAL:
        base_url, model_id = "", ""
    elif not model_id or len(model_id) > 200:
        fields["model_id"] = "Give the name of the model as the server knows it, such as gpt-5 or qwen3:8b."
    if base_url:
        if len(base_url) > 300:
            fields["base_url"] = "The address is longer than 300 characters."
        else:
            try:
                require_allowed_url(base_url)
            except InvalidInput as refused:
                fields["base_url"] = refused.message
    checked = _options(options, fields)
    if fields:
        raise InvalidInput(next(iter(fields.values())), fields=fields)
    return {"name": name, "base_url": base_url.rstrip("/"), "model_id": model_id, "options": checked}


def _options(options: Mapping[str, Any], fields: dict[str, str]) -> dict[str, Any]:
    checked: dict[str, Any] = {}
    for key, value in options.items():
        if value is None:
            continue
        if key in _SWITCHES and isinstance(value, bool):
            checked[key] = value
        elif key in _NUMBERS and isinstance(value, int | float) and not isinstance(value, bool):
            low, high = _NUMBERS[key]
            if not low <= value <= high:
                fields[key] = f"Give a number from {low:g} to {high:g}."
            checked[key] = value
        else:
            known = ", ".join([*_NUMBERS, *sorted(_SWITCHES)])
            fields["options"] = f"“{key}” is unknown or has a value of another kind; known are {known}."
    return checked


def _encrypted(kind: str, secret: str) -> str:
    secret = secret.strip()
    if not secret or kind == Connection.Kind.REHEARSAL:
        return ""
    if len(secret) > _MAX_SECRET_CHARACTERS or not secret.isprintable() or not secret.isascii():
        message = "This does not look like a key: it has line breaks or unusual characters."
        raise InvalidInput(message, fields={"secret": message})
    return encrypt(secret)


def _server(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()


def _public(connection: Connection) -> dict[str, Any]:
    return {field: getattr(connection, field) for field in ("name", "base_url", "model_id", "options")}


def _save(connection: Connection, *, new: bool = False) -> None:
    try:
        with transaction.atomic():
            connection.save(force_insert=new)
    except IntegrityError:
        message = f"The project has a connection “{connection.name}” already."
        raise Conflict(message, code="name_taken", fields={"name": message}) from None


def _record(actor: Actor, event: Event, connection: Connection, data: dict[str, Any]) -> None:
    record(
        actor=actor, event=event, object_kind="connection", object_id=connection.id, object_label=connection.name,
        team_id=connection.team_id, project_id=connection.project_id, data=data,
    )  # fmt: skip

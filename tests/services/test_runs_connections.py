"""Connections: their secrets go in and never come out, and their addresses lead nowhere they should not."""

from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.db import connection as database

from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.models import User
from memory_hub.audit.models import AuditDetail
from memory_hub.common.errors import Conflict, HubError, InvalidInput, PermissionDenied, Unavailable
from memory_hub.runs.models import Connection
from memory_hub.runs.secrets import decrypt, encrypt
from memory_hub.runs.selectors import connection_get, connections
from memory_hub.runs.services import connection_change, connection_create, connection_retire
from tests.cast import Cast
from tests.services.runs_support import again, audited, make_connection, start

SECRET = "provider-key-123"


@pytest.fixture(autouse=True)
def _private_addresses(settings: Any) -> None:
    settings.ALLOW_PRIVATE_MODEL_URLS = True


def local(cast: Cast, **changes: Any) -> Connection:
    """A connection to a model on this machine."""
    values = {
        "name": "Local", "kind": Connection.Kind.OPENAI, "base_url": "http://127.0.0.1:11434/v1/", "model_id": "qwen3:8b",
        "secret": SECRET, **changes,
    }  # fmt: skip
    return make_connection(cast.project, **values)


def change(user: User, cast: Cast, connection: Connection, **changes: Any) -> Connection:
    actor = cast.actor(user)
    with acting_as(actor):
        return connection_change(actor=actor, connection=connection, **changes)


def test_a_maintainer_adds_a_connection(cast: Cast) -> None:
    actor = cast.actor(cast.alice)
    with acting_as(actor):
        connection = connection_create(
            actor=actor,
            project=cast.project,
            name=" Local ",
            kind=Connection.Kind.OPENAI,
            base_url="http://127.0.0.1:11434/v1/",
            model_id="qwen3:8b",
            options={"temperature": 0.2},
        )
    assert (connection.name, connection.base_url) == ("Local", "http://127.0.0.1:11434/v1")
    assert audited(connection) == ["connection:created"]


@pytest.mark.parametrize("name", ["vera", "bob", "rita", "carol", "mallory"])
def test_nobody_else_manages_connections(cast: Cast, name: str) -> None:
    connection = local(cast)
    actor = cast.actor(getattr(cast, name))
    with acting_as(actor):
        with pytest.raises(PermissionDenied):
            connection_create(actor=actor, project=cast.project, name="X", kind=Connection.Kind.REHEARSAL)
        with pytest.raises(PermissionDenied):
            connection_change(actor=actor, connection=connection, name="X")
        with pytest.raises(PermissionDenied):
            connection_retire(actor=actor, connection=connection)


def test_the_secret_is_stored_encrypted_and_stands_in_no_record(cast: Cast) -> None:
    connection = local(cast)
    change(cast.alice, cast, connection, secret="another-key-456")
    with as_system(), database.cursor() as cursor:
        cursor.execute("SELECT encrypted_secret FROM runs_connection WHERE id = %s", [connection.id])
        stored = cursor.fetchone()[0]
        details = " ".join(str(detail.data) for detail in AuditDetail.objects.all())
    assert "another" not in stored
    assert decrypt(stored) == "another-key-456"
    assert "key-" not in details
    assert "replaced" in details


def test_keys_rotate(settings: Any) -> None:
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    settings.ENCRYPTION_KEYS = [old]
    token = encrypt(SECRET)
    settings.ENCRYPTION_KEYS = [new, old]
    assert decrypt(token) == SECRET
    settings.ENCRYPTION_KEYS = [new]
    with pytest.raises(Unavailable, match="ENCRYPTION_KEY"):
        decrypt(token)


def test_changing_the_server_needs_the_secret_again(cast: Cast) -> None:
    connection = local(cast)
    with pytest.raises(InvalidInput) as refused:
        change(cast.alice, cast, connection, base_url="http://127.0.0.1:6666/v1")
    assert refused.value.code == "secret_needed"
    moved = change(cast.alice, cast, connection, base_url="http://127.0.0.1:6666/v1", secret="")
    assert moved.encrypted_secret == ""


def test_changing_the_path_or_the_name_keeps_the_secret(cast: Cast) -> None:
    connection = change(cast.alice, cast, local(cast), name="Mine", base_url="http://127.0.0.1:11434/v2")
    assert decrypt(again(connection).encrypted_secret) == SECRET


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("name", {"name": " "}),
        ("name", {"name": "a" * 81}),
        ("model_id", {"model_id": ""}),
        ("base_url", {"base_url": "ftp://example.org"}),
        ("base_url", {"base_url": "http://169.254.169.254/latest"}),
        ("base_url", {"base_url": "http://127.0.0.1/" + "a" * 300}),
        ("secret", {"secret": "two\nlines"}),
        ("temperature", {"options": {"temperature": 3}}),
        ("options", {"options": {"temperature": "hot"}}),
        ("options", {"options": {"max_tokens": True}}),
        ("options", {"options": {"headers": {}}}),
        ("kind", {"kind": "telepathy"}),
    ],
)
def test_what_cannot_be_right_is_refused_by_name(cast: Cast, field: str, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        local(cast, **changes)
    assert set(refused.value.extra["fields"]) == {field}


def test_a_private_address_needs_the_operators_leave(cast: Cast, settings: Any) -> None:
    settings.ALLOW_PRIVATE_MODEL_URLS = False
    with pytest.raises(InvalidInput, match="ALLOW_PRIVATE_MODEL_URLS"):
        local(cast)


def test_a_rehearsal_has_neither_address_nor_secret(cast: Cast) -> None:
    connection = local(cast, kind=Connection.Kind.REHEARSAL)
    assert (connection.base_url, connection.model_id, connection.encrypted_secret) == ("", "", "")
    assert connection.model_label == "rehearsal (scripted replies, no model)"


def test_a_name_is_used_once_until_it_is_retired(cast: Cast) -> None:
    connection = local(cast)
    with pytest.raises(Conflict):
        local(cast)
    alice = cast.actor(cast.alice)
    with acting_as(alice):
        connection_retire(actor=alice, connection=connection)
    assert local(cast).name == "Local"


def test_retiring_deletes_the_secret_and_keeps_what_runs_say(cast: Cast) -> None:
    connection = local(cast)
    run = start(cast.bob, connection)
    alice = cast.actor(cast.alice)
    with acting_as(alice):
        connection_retire(actor=alice, connection=connection)
        with pytest.raises(Conflict):
            connection_retire(actor=alice, connection=connection)
        assert list(connections(alice, cast.project)) == []
    assert again(connection).encrypted_secret == ""
    assert again(run).model_label == "qwen3:8b"
    assert audited(connection) == ["connection:created", "connection:deleted"]


def test_connections_are_seen_in_their_project_only(cast: Cast) -> None:
    connection = local(cast)
    for person in (cast.carol, cast.mallory):
        actor = cast.actor(person)
        with acting_as(actor), pytest.raises(HubError) as refused:
            connection_get(actor, connection.id)
        assert refused.value.status == 404

"""The trail is only ever added to, and a change to it is found and named."""

from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.utils import DatabaseError

from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.permissions import Role
from memory_hub.access.services.invitations import invitation_create
from memory_hub.audit.models import AuditDetail, AuditEntry
from tests.cast import Cast

OWNER_ONLY = "permission denied"


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE audit_auditentry SET event = 'x'",
        "DELETE FROM audit_auditentry",
        "UPDATE audit_auditdetail SET data = '{}'",
        "DELETE FROM audit_auditdetail",
        "TRUNCATE audit_auditentry CASCADE",
        "INSERT INTO audit_auditseal VALUES (1, gen_random_uuid(), 1, gen_random_uuid(), 'x', now())",
    ],
)
def test_the_application_can_only_add(cast: Cast, sql: str) -> None:
    with as_system(), pytest.raises(DatabaseError, match=OWNER_ONLY), transaction.atomic():
        connection.cursor().execute(sql)


def test_others_do_not_see_it(cast: Cast) -> None:
    actor = cast.actor(cast.alice)
    with acting_as(actor):
        invitation_create(actor=actor, project=cast.project, role=Role.VIEWER)
        assert AuditEntry.objects.filter(project_id=cast.project.id).exists()
    for stranger in (cast.mallory, cast.carol):
        with acting_as(cast.actor(stranger)):
            assert not AuditEntry.objects.filter(project_id=cast.project.id).exists()
            assert not AuditDetail.objects.filter(project_id=cast.project.id).exists()


def _without_trigger(owner: psycopg.Connection[Any], sql: str) -> None:
    for order in ("DISABLE", "ENABLE"):
        for table in ("audit_auditentry", "audit_auditseal"):
            owner.execute(f"ALTER TABLE {table} {order} TRIGGER USER")
        owner.commit()
        if order == "DISABLE":
            owner.execute(sql)
            owner.commit()


FIRST = "(SELECT id FROM audit_auditentry ORDER BY id LIMIT 1)"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("sql", "found"),
    [
        (f"UPDATE audit_auditentry SET actor_id = gen_random_uuid() WHERE id = {FIRST}", "was changed"),
        (
            f"UPDATE audit_auditdetail SET data = '{{\"x\": 1}}' WHERE entry_id = {FIRST}",
            "detail was changed",
        ),
        (
            f"DELETE FROM audit_auditdetail WHERE entry_id = {FIRST};"
            f"DELETE FROM audit_auditentry WHERE id = {FIRST}",
            "was removed",
        ),
        ("DELETE FROM audit_auditseal WHERE sequence = 1", "missing"),
        ("UPDATE audit_auditseal SET sequence = sequence + 1000", "missing"),
    ],
)
def test_a_change_by_the_owner_of_the_database_is_found(
    committed_cast: Cast, owner_role: None, owner_connection: psycopg.Connection[Any], sql: str, found: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    from memory_hub.audit.services import seal_entries

    assert seal_entries() > 5
    assert seal_entries() == 0
    call_command("verify_audit")
    _without_trigger(owner_connection, sql)
    owner_connection.commit()
    with pytest.raises(CommandError):
        call_command("verify_audit")
    assert found in capsys.readouterr().out


@pytest.mark.django_db(transaction=True)
def test_erasing_the_readable_detail_leaves_the_chain_whole(
    committed_cast: Cast, owner_role: None, owner_connection: psycopg.Connection[Any]
) -> None:
    from memory_hub.audit.services import seal_entries

    seal_entries()
    owner_connection.execute("DELETE FROM audit_auditdetail")
    owner_connection.commit()
    call_command("verify_audit")

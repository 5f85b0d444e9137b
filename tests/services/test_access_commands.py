"""bin/manage create_key and create_user: what an operator does in scripts."""

import io
import re

import pytest
from django.core.management import CommandError, call_command

from memory_hub.access.actor import as_system
from memory_hub.access.models import User
from memory_hub.access.permissions import Role, Scope
from memory_hub.access.policy import actor_for_key, actor_for_user
from memory_hub.access.services.keys import key_authenticate
from memory_hub.audit.events import Event
from memory_hub.audit.models import AuditEntry
from tests.cast import Cast

pytestmark = pytest.mark.django_db


def printed(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_a_key_is_printed_alone_so_that_a_script_can_use_it(cast: Cast) -> None:
    key = printed("create_key", "--project", "acme/ledger", "--role", "contributor")
    assert re.fullmatch(r"mh_[a-z0-9]{8}_[a-z0-9]{40}\n", key)
    actor = actor_for_key(key_authenticate(key))
    assert actor.user_id == cast.alice.id
    assert actor.project_roles == {cast.project.id: Role.CONTRIBUTOR}
    assert actor.scopes == set(Scope)


def test_a_key_for_a_person_is_theirs_and_narrowed_to_the_scopes_named(cast: Cast) -> None:
    key = printed(
        "create_key", "--project", "acme/ledger", "--role", "viewer", "--email", "BOB@example.org",
        "--scopes", "read", "recall",
    )  # fmt: skip
    actor = actor_for_key(key_authenticate(key))
    assert (actor.user_id, actor.scopes) == (cast.bob.id, {Scope.READ, Scope.RECALL})
    with as_system():
        assert AuditEntry.objects.filter(event=Event.KEY_CREATED, actor_id=cast.bob.id).count() == 1


@pytest.mark.parametrize(
    ("project", "role", "email", "said"),
    [
        ("acme/nowhere", "viewer", "bob@example.org", "no project"),
        ("acme", "viewer", "bob@example.org", "TEAM/PROJECT"),
        ("acme/ledger", "viewer", "carol@example.org", "role viewer in the project"),
        ("acme/ledger", "viewer", "nobody@example.org", "not in this project"),
        ("acme/ledger", "maintainer", "bob@example.org", "more than you may"),
    ],
)
def test_what_create_key_refuses(cast: Cast, project: str, role: str, email: str, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        printed("create_key", "--project", project, "--role", role, "--email", email)


def test_a_person_is_made_with_a_printed_password_and_joins(cast: Cast) -> None:
    said = printed(
        "create_user", "Nina@example.org", "--name", "Nina", "--project", "acme/ledger", "--role", "reviewer"
    )
    password = re.findall(r"with the password (\S+)", said)[0]
    nina = User.objects.get(email="nina@example.org")
    assert nina.check_password(password)
    assert actor_for_user(nina).project_roles == {cast.project.id: Role.REVIEWER}


def test_a_person_without_a_project_is_named_after_the_address(cast: Cast) -> None:
    printed("create_user", "nina@example.org")
    nina = User.objects.get(email="nina@example.org")
    assert (nina.name, actor_for_user(nina).project_ids) == ("nina", [])


@pytest.mark.parametrize(
    ("email", "project", "said"),
    [
        ("bob@example.org", "acme/ledger", "already"),
        ("nonsense", "acme/ledger", "not an email"),
        ("nina@example.org", "acme/nowhere", "no project"),
    ],
)
def test_what_create_user_refuses_leaves_no_account_behind(
    cast: Cast, email: str, project: str, said: str
) -> None:
    before = User.objects.count()
    with pytest.raises(CommandError, match=said):
        printed("create_user", email, "--project", project)
    assert User.objects.count() == before

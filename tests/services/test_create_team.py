"""bin/manage create_team: the operator makes the first people of a hub."""

import io
import re

import pytest
from django.core.management import CommandError, call_command

from memory_hub.access.actor import as_system
from memory_hub.access.models import Project, Team, TeamMembership, User
from memory_hub.access.permissions import Role
from memory_hub.access.policy import actor_for_user
from memory_hub.audit.events import Event
from memory_hub.audit.models import AuditEntry
from tests.cast import Cast

pytestmark = pytest.mark.django_db


def create_team(*arguments: str) -> str:
    printed = io.StringIO()
    call_command("create_team", *arguments, stdout=printed)
    return printed.getvalue()


def test_a_new_owner_can_sign_in_with_the_printed_password_and_has_a_project() -> None:
    printed = create_team("Data Guild", "--owner", "Olga@Example.org", "--project", "Field notes")
    password = re.findall(r"with the password (\S+)", printed)[0]
    with as_system():
        olga = User.objects.get(email="olga@example.org")
        assert olga.check_password(password)
        project = Project.objects.get(team__slug="data-guild", slug="field-notes")
        assert actor_for_user(olga).project_roles == {project.id: Role.MAINTAINER}
        assert set(AuditEntry.objects.values_list("event", flat=True)) == {
            Event.USER_CREATED,
            Event.TEAM_CREATED,
            Event.PROJECT_CREATED,
        }


def test_somebody_with_an_account_keeps_the_password(cast: Cast) -> None:
    printed = create_team("Second", "--owner", cast.bob.email)
    assert "password" not in printed
    with as_system():
        assert TeamMembership.objects.filter(team__slug="second", user=cast.bob).exists()


def test_a_team_that_exists_is_refused_and_leaves_no_account_behind(cast: Cast) -> None:
    with as_system():
        slug = Team.objects.get(id=cast.team.id).slug
    with pytest.raises(CommandError, match="already"):
        create_team(slug, "--owner", "new@example.org")
    with as_system():
        assert not User.objects.filter(email="new@example.org").exists()

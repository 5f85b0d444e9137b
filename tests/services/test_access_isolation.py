"""What an actor can reach follows from the actor alone, and the database stands behind it."""

import pytest
from django.db import connection, transaction

from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.models import ApiKey, Project, ProjectMembership, Team
from memory_hub.access.permissions import Role, Scope
from memory_hub.access.policy import actor_for_user
from tests.cast import Cast


def test_a_forgotten_filter_returns_only_the_actors_rows(cast: Cast) -> None:
    with acting_as(cast.actor(cast.mallory)):
        assert {project.slug for project in Project.objects.all()} == {"den"}
        assert {team.slug for team in Team.objects.all()} == {"rival"}
        assert set(ProjectMembership.objects.values_list("user__name", flat=True)) == {"Mallory"}


def test_without_an_actor_nothing_is_there(cast: Cast) -> None:
    with transaction.atomic():
        assert Project.objects.count() == 0


def test_a_team_admin_is_maintainer_of_every_project(cast: Cast) -> None:
    roles = cast.actor(cast.alice).project_roles
    assert roles == {cast.project.id: Role.MAINTAINER, cast.other_project.id: Role.MAINTAINER}


def test_a_member_sees_only_the_projects_joined(cast: Cast) -> None:
    assert list(cast.actor(cast.bob).project_roles) == [cast.project.id]


def test_leaving_a_nested_actor_restores_the_outer_one(cast: Cast) -> None:
    with acting_as(cast.actor(cast.bob)):
        with as_system():
            assert Project.objects.count() == 3
        assert {project.slug for project in Project.objects.all()} == {"ledger"}


def test_a_failed_nested_actor_restores_the_outer_one(cast: Cast) -> None:
    with acting_as(cast.actor(cast.bob)):
        with pytest.raises(RuntimeError), as_system():
            raise RuntimeError("refused")
        assert {project.slug for project in Project.objects.all()} == {"ledger"}


def test_the_application_role_cannot_pass_row_security(cast: Cast) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
        assert cursor.fetchone() == (False,)


def test_a_key_never_does_more_than_its_owner_may_now(cast: Cast) -> None:
    actor = cast.key_actor(cast.bob, role=Role.CONTRIBUTOR, scopes=[Scope.RECALL])
    assert actor.project_roles == {cast.project.id: Role.CONTRIBUTOR}
    assert actor.scopes == {Scope.RECALL}
    with as_system():
        ProjectMembership.objects.filter(user=cast.bob).update(role=Role.VIEWER)
        key = ApiKey.objects.get(owner=cast.bob)
    from memory_hub.access.policy import actor_for_key

    assert actor_for_key(key).project_roles == {cast.project.id: Role.VIEWER}


def test_a_person_who_left_has_no_rights(cast: Cast) -> None:
    cast.bob.is_active = False
    assert actor_for_user(cast.bob).project_ids == []


def test_every_team_owned_table_has_its_row_level_policy(cast: Cast) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
            WHERE c.relkind = 'r' AND a.attname IN ('team_id', 'project_id') AND c.relnamespace = 'public'::regnamespace
              AND NOT (c.relrowsecurity AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid))
            """
        )
        assert cursor.fetchall() == []

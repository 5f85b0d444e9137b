"""Teams, projects, members, invitations and keys: who may, what is refused, what is recorded."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection

from memory_hub.access.actor import Actor, acting_as, as_system
from memory_hub.access.models import ApiKey, Invitation, Project, ProjectMembership, TeamMembership, User
from memory_hub.access.permissions import Role, Scope, TeamRole
from memory_hub.access.policy import actor_for_key, actor_for_user
from memory_hub.access.services.invitations import (
    invitation_accept,
    invitation_accept_as_new,
    invitation_create,
    invitation_find,
    invitation_revoke,
)
from memory_hub.access.services.keys import key_authenticate, key_create, key_revoke
from memory_hub.access.services.people import user_create
from memory_hub.access.services.projects import (
    member_add,
    member_change,
    member_remove,
    project_change,
    project_create,
)
from memory_hub.access.services.teams import team_create, team_member_change, team_member_remove
from memory_hub.audit.events import Event
from memory_hub.audit.models import AuditDetail, AuditEntry
from memory_hub.common.clock import now
from memory_hub.common.errors import Conflict, HubError, InvalidInput, NotFound, NotSignedIn, PermissionDenied
from tests.cast import PASSWORD, Cast


def events(event: Event) -> list[AuditEntry]:
    with as_system():
        return list(AuditEntry.objects.filter(event=event).order_by("id"))


def membership(cast: Cast, user: User) -> ProjectMembership:
    with as_system():
        return ProjectMembership.objects.select_related("user", "project__team").get(
            user=user, project=cast.project
        )


def test_only_the_operator_makes_teams(cast: Cast) -> None:
    actor = cast.actor(cast.alice)
    with acting_as(actor), pytest.raises(PermissionDenied):
        team_create(actor=actor, name="Another", owner=cast.alice)


def test_a_team_keeps_its_last_owner(cast: Cast) -> None:
    actor = cast.actor(cast.alice)
    with acting_as(actor):
        own = TeamMembership.objects.get(user=cast.alice)
        with pytest.raises(Conflict, match="at least one owner"):
            team_member_change(actor=actor, membership=own, role=TeamRole.MEMBER)
        with pytest.raises(Conflict, match="at least one owner"):
            team_member_remove(actor=actor, membership=own)
        other = TeamMembership.objects.get(user=cast.bob)
        team_member_change(actor=actor, membership=other, role=TeamRole.OWNER)
        team_member_change(actor=actor, membership=own, role=TeamRole.MEMBER)
    assert len(events(Event.TEAM_MEMBER_CHANGED)) == 2


def test_removing_from_the_team_takes_every_project_away(cast: Cast) -> None:
    actor = cast.actor(cast.alice)
    with acting_as(actor):
        team_member_remove(actor=actor, membership=TeamMembership.objects.get(user=cast.bob))
    assert cast.actor(cast.bob).project_ids == []
    assert cast.actor(cast.bob).team_ids == []


def test_a_project_needs_a_team_admin_and_a_free_name(cast: Cast) -> None:
    bob, alice = cast.actor(cast.bob), cast.actor(cast.alice)
    with acting_as(bob), pytest.raises(PermissionDenied):
        project_create(actor=bob, team=cast.team, name="New")
    with acting_as(alice):
        with pytest.raises(Conflict, match="already"):
            project_create(actor=alice, team=cast.team, name="Ledger")
        with pytest.raises(InvalidInput):
            project_create(actor=alice, team=cast.team, name="…")
        made = project_create(actor=alice, team=cast.team, name="New", creator=cast.alice)
    assert actor_for_user(cast.alice).project_roles[made.id] is Role.MAINTAINER


def test_settings_are_changed_by_maintainers_and_recorded_with_before_and_after(cast: Cast) -> None:
    rita, alice = cast.actor(cast.rita), cast.actor(cast.alice)
    with acting_as(rita), pytest.raises(PermissionDenied):
        project_change(actor=rita, project=cast.project, allow_self_approval=True)
    with acting_as(alice):
        project_change(actor=alice, project=cast.project, allow_self_approval=True, name="Ledger")
    (entry,) = events(Event.PROJECT_CHANGED)
    with as_system():
        detail = AuditDetail.objects.get(entry=entry)
    assert detail.data == {"allow_self_approval": {"before": False, "after": True}}


def test_members_are_managed_by_maintainers_and_may_leave_by_themselves(cast: Cast) -> None:
    rita, alice, vera = cast.actor(cast.rita), cast.actor(cast.alice), cast.actor(cast.vera)
    bob = membership(cast, cast.bob)
    with acting_as(rita), pytest.raises(PermissionDenied):
        member_change(actor=rita, membership=bob, role=Role.MAINTAINER)
    with acting_as(rita), pytest.raises(PermissionDenied):
        member_remove(actor=rita, membership=bob)
    with acting_as(vera):
        member_remove(actor=vera, membership=membership(cast, cast.vera))
    with acting_as(alice):
        member_change(actor=alice, membership=bob, role=Role.REVIEWER)
        with pytest.raises(Conflict, match="already"):
            member_add(actor=alice, project=cast.project, user=cast.bob, role=Role.VIEWER)
    assert cast.actor(cast.vera).project_ids == []
    assert cast.actor(cast.bob).project_roles[cast.project.id] is Role.REVIEWER


class TestInvitations:
    def invite(self, cast: Cast, **more: object) -> tuple[Invitation, str]:
        actor = cast.actor(cast.alice)
        with acting_as(actor):
            return invitation_create(actor=actor, project=cast.project, role=Role.REVIEWER, **more)  # type: ignore[arg-type]

    def test_only_maintainers_invite(self, cast: Cast) -> None:
        actor = cast.actor(cast.rita)
        with acting_as(actor), pytest.raises(PermissionDenied):
            invitation_create(actor=actor, project=cast.project, role=Role.VIEWER)

    def test_the_token_is_not_stored(self, cast: Cast) -> None:
        invitation, token = self.invite(cast)
        assert token not in str(vars(invitation))

    def test_a_person_with_an_account_joins_once(self, cast: Cast) -> None:
        _, token = self.invite(cast)
        invitation_accept(token=token, user=cast.carol)
        assert cast.actor(cast.carol).project_roles[cast.project.id] is Role.REVIEWER
        with pytest.raises(NotFound):
            invitation_accept(token=token, user=cast.mallory)

    def test_a_new_person_gets_an_account_or_nothing_at_all(self, cast: Cast) -> None:
        _, token = self.invite(cast)
        with pytest.raises(InvalidInput, match="too short"):
            invitation_accept_as_new(token=token, email="nina@example.org", name="Nina", password="short")
        with pytest.raises(Conflict, match="sign in"):
            invitation_accept_as_new(token=token, email="BOB@example.org", name="Bob", password=PASSWORD)
        assert not User.objects.filter(email="nina@example.org").exists()
        nina = invitation_accept_as_new(token=token, email="nina@example.org", name="Nina", password=PASSWORD)
        assert actor_for_user(nina).project_roles == {cast.project.id: Role.REVIEWER}

    def test_one_for_an_address_is_for_nobody_else(self, cast: Cast) -> None:
        _, token = self.invite(cast, email="carol@example.org")
        with pytest.raises(PermissionDenied, match="carol"):
            invitation_accept(token=token, user=cast.mallory)
        invitation_accept(token=token, user=cast.carol)

    def test_revoked_and_expired_ones_are_as_if_they_had_never_been(self, cast: Cast) -> None:
        invitation, token = self.invite(cast)
        actor = cast.actor(cast.alice)
        with acting_as(actor):
            invitation_revoke(actor=actor, invitation=invitation)
            with pytest.raises(Conflict, match="revoked"):
                invitation_revoke(actor=actor, invitation=invitation)
        with pytest.raises(NotFound):
            invitation_find(token)
        late, late_token = self.invite(cast)
        with as_system():
            Invitation.objects.filter(id=late.id).update(expires_at=now() - timedelta(seconds=1))
        with pytest.raises(NotFound):
            invitation_accept(token=late_token, user=cast.carol)


@pytest.mark.django_db(transaction=True)
def test_of_two_who_use_one_link_at_the_same_moment_one_joins(committed_cast: Cast) -> None:
    cast = committed_cast
    _, token = TestInvitations().invite(cast)

    def join(user: User) -> str:
        try:
            invitation_accept(token=token, user=user)
        except HubError as error:
            return error.code
        finally:
            connection.close()
        return "joined"

    with ThreadPoolExecutor(2) as pool:
        results = sorted(pool.map(join, [cast.carol, cast.mallory]))
    assert results == ["joined", "not_found"]
    assert len(events(Event.INVITATION_ACCEPTED)) == 1


class TestKeys:
    def make(self, cast: Cast, user: User, **changes: object) -> tuple[ApiKey, str]:
        actor = cast.actor(user)
        values = {"name": "agent", "role": Role.VIEWER, "scopes": [Scope.READ], **changes}
        with acting_as(actor):
            return key_create(actor=actor, project=cast.project, **values)  # type: ignore[arg-type]

    def test_the_secret_is_shown_once_and_never_stored(self, cast: Cast) -> None:
        key, whole = self.make(cast, cast.bob)
        assert whole.startswith(f"mh_{key.prefix}_")
        assert whole.split("_")[2] not in str(vars(key))
        assert key_authenticate(whole) == key

    @pytest.mark.parametrize(
        ("changes", "error"),
        [
            ({"role": Role.MAINTAINER}, PermissionDenied),
            ({"scopes": []}, InvalidInput),
            ({"name": " "}, InvalidInput),
            ({"expires_at": now() - timedelta(days=1)}, InvalidInput),
        ],
    )
    def test_what_is_refused(self, cast: Cast, changes: dict[str, object], error: type[HubError]) -> None:
        with pytest.raises(error):
            self.make(cast, cast.bob, **changes)
        with as_system():
            assert not ApiKey.objects.exists()

    def test_a_key_makes_no_key_with_more_scopes_than_its_own(self, cast: Cast) -> None:
        actor = cast.key_actor(cast.bob, role=Role.CONTRIBUTOR, scopes=[Scope.ADMIN])
        with acting_as(actor), pytest.raises(PermissionDenied, match="more scopes"):
            key_create(
                actor=actor, project=cast.project, name="k", role=Role.VIEWER, scopes=[Scope.READ, Scope.RUN]
            )

    def test_every_wrong_key_is_refused_alike(self, cast: Cast) -> None:
        key, whole = self.make(cast, cast.bob)
        refusals = []
        for wrong in ("", "nonsense", "mh_aaaaaaaa_bbbb", whole[:-1] + ("a" if whole[-1] != "a" else "b")):
            with pytest.raises(NotSignedIn) as refused:
                key_authenticate(wrong)
            refusals.append(refused.value.message)
        actor = cast.actor(cast.bob)
        with acting_as(actor):
            key_revoke(actor=actor, key=key)
            with pytest.raises(Conflict):
                key_revoke(actor=actor, key=key)
        with pytest.raises(NotSignedIn) as refused:
            key_authenticate(whole)
        assert {*refusals, refused.value.message} == {refusals[0]}

    def test_a_maintainer_sees_and_revokes_all_others_only_their_own(self, cast: Cast) -> None:
        key, _ = self.make(cast, cast.bob)
        for user, sees in ((cast.rita, False), (cast.bob, True), (cast.alice, True)):
            actor = cast.actor(user)
            with acting_as(actor):
                assert ApiKey.objects.visible_to(actor).filter(id=key.id).exists() is sees

    def test_a_key_dies_with_its_owners_membership(self, cast: Cast) -> None:
        _, whole = self.make(cast, cast.vera)
        actor = cast.actor(cast.vera)
        with acting_as(actor):
            member_remove(actor=actor, membership=membership(cast, cast.vera))
        assert actor_for_key(key_authenticate(whole)).project_ids == []


@pytest.mark.parametrize(
    ("email", "name", "password"),
    [
        ("nonsense", "Nina", PASSWORD),
        ("n@example.org", " ", PASSWORD),
        ("n@example.org", "Nina", "password12"),
    ],
)
def test_a_person_needs_an_address_a_name_and_a_good_password(
    cast: Cast, email: str, name: str, password: str
) -> None:
    with as_system() as system, pytest.raises(InvalidInput):
        user_create(actor=system, email=email, name=name, password=password)


def test_every_write_leaves_exactly_one_entry(cast: Cast) -> None:
    actor: Actor = cast.actor(cast.alice)
    before = _count()
    with acting_as(actor):
        invitation, _ = invitation_create(actor=actor, project=cast.project, role=Role.VIEWER)
        invitation_revoke(actor=actor, invitation=invitation)
        key, _ = key_create(
            actor=actor, project=cast.project, name="k", role=Role.VIEWER, scopes=[Scope.READ]
        )
        key_revoke(actor=actor, key=key)
        project_change(actor=actor, project=cast.project, description="New")
        project_change(actor=actor, project=cast.project, description="New")  # changes nothing
        member_change(actor=actor, membership=membership(cast, cast.bob), role=Role.VIEWER)
    assert _count() - before == 6


def _count() -> int:
    with as_system():
        return AuditEntry.objects.count()


def test_projects_of_one_name_may_stand_in_two_teams(cast: Cast) -> None:
    actor = cast.actor(cast.mallory)
    with acting_as(actor):
        project_create(actor=actor, team=cast.rival_team, name="Ledger")
    with as_system():
        assert Project.objects.filter(slug="ledger").count() == 2

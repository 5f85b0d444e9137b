"""Who am I, projects, members, invitations, keys and the audit trail over REST."""

from typing import Any

import pytest
from django.test import Client

from memory_hub.access.actor import as_system
from memory_hub.access.models import ApiKey, Invitation, Project, ProjectMembership
from memory_hub.access.permissions import Role, Scope
from memory_hub.audit.events import Event
from memory_hub.audit.models import AuditEntry
from tests.api.api_support import LEDGER, Caller, caller
from tests.cast import PASSWORD, Cast


@pytest.fixture
def alice(cast: Cast) -> Caller:
    """A key of alice that may do all she may in the project."""
    return Caller(cast.key(cast.alice, role=Role.MAINTAINER))


def membership_of(cast: Cast, name: str) -> str:
    with as_system():
        return str(ProjectMembership.objects.get(user=getattr(cast, name)).id)


class TestMe:
    def test_a_key_says_whose_it_is_and_what_narrows_it(self, cast: Cast) -> None:
        said = caller(cast, cast.bob, scopes=[Scope.RECALL, Scope.READ]).get("/api/v1/me/").json()
        assert (said["email"], said["acts_as"], said["scopes"]) == (
            "bob@example.org",
            "key",
            ["read", "recall"],
        )
        assert [(one["path"], one["role"]) for one in said["projects"]] == [("acme/ledger", "contributor")]

    def test_a_session_is_narrowed_by_nothing(self, cast: Cast) -> None:
        client = Client()
        client.force_login(cast.alice)
        said = client.get("/api/v1/me/").json()
        assert (said["acts_as"], said["scopes"]) == ("person", None)
        assert [one["path"] for one in said["projects"]] == ["acme/atlas", "acme/ledger"]

    @pytest.mark.parametrize("header", ["Authorization: Bearer", "Authorization: Token", "X-API-Key:"])
    def test_a_key_is_taken_from_each_of_three_headers(self, cast: Cast, header: str) -> None:
        name, _, scheme = header.partition(":")
        value = f"{scheme.strip()} {cast.key(cast.bob)}".strip()
        assert Client().get("/api/v1/me/", headers={name: value}).status_code == 200

    @pytest.mark.parametrize("key", ["", "nonsense", "mh_aaaaaaaa_bbbb"])
    def test_a_wrong_key_is_a_problem_even_beside_a_session(self, cast: Cast, key: str) -> None:
        client = Client()
        client.force_login(cast.bob)
        answer = client.get("/api/v1/me/", headers={"Authorization": f"Bearer {key}"})
        assert answer.status_code == 401
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        assert answer.json()["code"] == "invalid_key"

    def test_a_session_without_the_token_of_the_form_writes_nothing(self, cast: Cast) -> None:
        client = Client(enforce_csrf_checks=True)
        client.force_login(cast.alice)
        answer = client.patch(f"{LEDGER}/", {"name": "Other"}, content_type="application/json")
        assert answer.status_code == 403
        with as_system():
            assert Project.objects.get(id=cast.project.id).name == "Ledger"


class TestProjects:
    def test_a_key_lists_its_own_project_alone(self, cast: Cast, alice: Caller) -> None:
        said = alice.get("/api/v1/projects/").json()
        assert (said["count"], [one["path"] for one in said["results"]]) == (1, ["acme/ledger"])

    def test_a_team_admin_makes_one(self, cast: Cast) -> None:
        client = Client()
        client.force_login(cast.alice)
        body = {"team": "acme", "name": "Field notes", "description": "What we saw."}
        answer = client.post("/api/v1/projects/", body, content_type="application/json")
        assert answer.status_code == 201, answer.json()
        assert (answer.json()["path"], answer.json()["role"]) == ("acme/field-notes", "maintainer")
        again = client.post("/api/v1/projects/", body, content_type="application/json")
        assert (again.status_code, again.json()["code"]) == (409, "slug_taken")
        assert client.get("/api/v1/projects/acme/field-notes/").json() == answer.json()

    def test_a_team_of_others_is_not_there(self, cast: Cast) -> None:
        client = Client()
        client.force_login(cast.alice)
        answer = client.post(
            "/api/v1/projects/", {"team": "rival", "name": "X"}, content_type="application/json"
        )
        assert answer.status_code == 404

    def test_settings_are_changed_one_by_one(self, cast: Cast, alice: Caller) -> None:
        answer = alice.patch(f"{LEDGER}/", {"recall_policy": "approved"})
        assert answer.status_code == 200
        said = alice.get(f"{LEDGER}/").json()
        assert (said["recall_policy"], said["name"], said["allow_self_approval"]) == (
            "approved",
            "Ledger",
            False,
        )

    @pytest.mark.parametrize(
        "body", [{"recall_policy": "all"}, {"name": ""}, {"allow_self_approval": "maybe"}]
    )
    def test_a_wrong_setting_is_named(self, alice: Caller, body: dict[str, Any]) -> None:
        answer = alice.patch(f"{LEDGER}/", body)
        assert (answer.status_code, list(answer.json()["fields"])) == (422, list(body))


class TestMembers:
    def test_they_are_listed_changed_and_removed(self, cast: Cast, alice: Caller) -> None:
        listed = alice.get(f"{LEDGER}/members/").json()
        assert {one["name"]: one["role"] for one in listed["results"]} == {
            "Bob": "contributor", "Rita": "reviewer", "Vera": "viewer",
        }  # fmt: skip
        url = f"{LEDGER}/members/{membership_of(cast, 'bob')}/"
        assert alice.patch(url, {"role": "viewer"}).json()["role"] == "viewer"
        assert alice.delete(url).status_code == 204
        assert alice.delete(url).status_code == 404
        assert cast.actor(cast.bob).project_ids == []

    def test_a_wrong_role_is_refused(self, cast: Cast, alice: Caller) -> None:
        answer = alice.patch(f"{LEDGER}/members/{membership_of(cast, 'bob')}/", {"role": "emperor"})
        assert (answer.status_code, list(answer.json()["fields"])) == (422, ["role"])

    def test_a_membership_of_another_project_is_not_there(self, cast: Cast, alice: Caller) -> None:
        assert alice.delete(f"{LEDGER}/members/{membership_of(cast, 'carol')}/").status_code == 404


class TestInvitations:
    def test_a_link_is_given_once_and_works(self, cast: Cast, alice: Caller) -> None:
        made = alice.post(f"{LEDGER}/invitations/", {"role": "reviewer", "email": "Nina@example.org"})
        assert made.status_code == 201, made.json()
        link = made.json()["link"].removeprefix("http://testserver")
        values = {"name": "Nina", "email": "nina@example.org", "password": PASSWORD}
        assert Client().post(link, values).status_code == 302
        (listed,) = alice.get(f"{LEDGER}/invitations/").json()["results"]
        assert (listed["state"], listed["email"], "link" in listed) == ("accepted", "nina@example.org", False)

    def test_it_is_revoked_once(self, cast: Cast, alice: Caller) -> None:
        made = alice.post(f"{LEDGER}/invitations/", {"role": "viewer"}).json()
        assert alice.delete(f"{LEDGER}/invitations/{made['id']}/").json()["state"] == "revoked"
        again = alice.delete(f"{LEDGER}/invitations/{made['id']}/")
        assert (again.status_code, again.json()["code"]) == (409, "invitation_closed")
        assert Client().get(made["link"].removeprefix("http://testserver")).status_code == 404

    def test_a_retry_makes_no_second_link(self, cast: Cast, alice: Caller) -> None:
        first = alice.post(f"{LEDGER}/invitations/", {"role": "viewer"}, retry_key="one")
        again = alice.post(f"{LEDGER}/invitations/", {"role": "viewer"}, retry_key="one")
        assert (again.status_code, again.json()["id"]) == (201, first.json()["id"])
        assert "link" not in again.json()
        with as_system():
            assert Invitation.objects.count() == 1


class TestKeys:
    BODY = {"name": "ci", "role": "viewer", "scopes": ["read"]}

    def test_a_key_makes_lists_and_revokes_another(self, cast: Cast) -> None:
        bob = caller(cast, cast.bob)
        made = bob.post(f"{LEDGER}/keys/", self.BODY)
        assert (made.status_code, made.headers["Cache-Control"]) == (201, "no-store"), made.json()
        new = Caller(made.json()["key"])
        assert new.get("/api/v1/me/").json()["scopes"] == ["read"]
        listed = {one["name"]: one for one in bob.get(f"{LEDGER}/keys/").json()["results"]}
        assert set(listed) == {"ci", "agent"}
        assert "key" not in listed["ci"]
        assert bob.delete(f"{LEDGER}/keys/{made.json()['id']}/").json()["state"] == "revoked"
        assert new.get("/api/v1/me/").status_code == 401

    @pytest.mark.parametrize(
        ("changes", "status", "told"),
        [
            ({"scopes": []}, 422, "scopes"),
            ({"scopes": ["fly"]}, 422, "scopes"),
            ({"role": "reviewer"}, 403, None),
            ({"name": ""}, 422, "name"),
            ({"expires_at": "2001-01-01T00:00:00Z"}, 422, "expires_at"),
        ],
    )
    def test_what_is_refused(
        self, cast: Cast, changes: dict[str, Any], status: int, told: str | None
    ) -> None:
        answer = caller(cast, cast.bob).post(f"{LEDGER}/keys/", {**self.BODY, **changes})
        assert answer.status_code == status
        assert told is None or told in answer.json()["fields"]
        with as_system():
            assert ApiKey.objects.count() == 1

    def test_a_retry_makes_no_second_key_and_keeps_no_secret(self, cast: Cast) -> None:
        bob = caller(cast, cast.bob)
        first = bob.post(f"{LEDGER}/keys/", self.BODY, retry_key="one")
        again = bob.post(f"{LEDGER}/keys/", self.BODY, retry_key="one")
        assert again.json()["id"] == first.json()["id"]
        assert "key" not in again.json()

    def test_others_keys_are_not_there_but_for_maintainers(self, cast: Cast, alice: Caller) -> None:
        made = caller(cast, cast.bob).post(f"{LEDGER}/keys/", self.BODY).json()
        assert caller(cast, cast.rita).delete(f"{LEDGER}/keys/{made['id']}/").status_code == 404
        assert alice.delete(f"{LEDGER}/keys/{made['id']}/").status_code == 200


class TestAudit:
    URL = f"{LEDGER}/audit/"

    def test_a_write_through_a_key_names_the_person_and_the_key(self, cast: Cast, alice: Caller) -> None:
        alice.patch(f"{LEDGER}/", {"description": "New"})
        (entry,) = alice.get(self.URL, event="project:changed").json()["results"]
        with as_system():
            key = ApiKey.objects.get()
        assert (entry["actor_kind"], entry["actor"], entry["through"]) == (
            "key",
            str(cast.alice.id),
            str(key.id),
        )
        assert entry["detail"]["data"] == {"description": {"before": "", "after": "New"}}
        assert entry["request_id"]

    def test_the_cursor_reaches_every_entry_once_newest_first(self, cast: Cast, alice: Caller) -> None:
        for number in range(5):
            alice.patch(f"{LEDGER}/", {"description": f"Text {number}"})
        seen: list[str] = []
        url = f"{self.URL}?page_size=2"
        while url:
            page = alice.get(url).json()
            assert "count" not in page
            seen += [entry["id"] for entry in page["results"]]
            url = (page["next"] or "").removeprefix("http://testserver")
        with as_system():
            rows = AuditEntry.objects.filter(project_id=cast.project.id).order_by("-id")
            assert seen == [str(row.id) for row in rows]

    def test_it_is_narrowed_by_person_and_refuses_what_it_does_not_know(
        self, cast: Cast, alice: Caller
    ) -> None:
        assert alice.get(self.URL, actor=str(cast.bob.id)).json()["results"] == []
        answer = alice.get(self.URL, event="nonsense")
        assert (answer.status_code, list(answer.json()["fields"])) == (422, ["event"])

    def test_a_refused_write_leaves_no_entry(self, cast: Cast) -> None:
        caller(cast, cast.bob).patch(f"{LEDGER}/", {"description": "New"})
        with as_system():
            assert not AuditEntry.objects.filter(event=Event.PROJECT_CHANGED).exists()


def test_the_schema_names_every_operation_of_access_once() -> None:
    schema = Client().get("/api/schema/", {"format": "json"}).json()
    operations = [
        operation["operationId"]
        for path in schema["paths"].values()
        for operation in path.values()
        if "access" in operation.get("tags", [])
    ]
    assert sorted(operations) == sorted(set(operations))
    assert {
        "me", "projects_list", "projects_create", "projects_get", "projects_change", "members_list", "members_change",
        "members_remove", "invitations_list", "invitations_create", "invitations_revoke", "keys_list", "keys_create",
        "keys_revoke", "audit_list",
    } == set(operations)  # fmt: skip

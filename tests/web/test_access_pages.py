"""Members, invitations, keys, the audit trail and settings in the browser."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import psycopg
import pytest
from django.test import Client

from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.models import ApiKey, Invitation, Project, ProjectMembership, User
from memory_hub.access.permissions import PROJECT_PERMISSIONS, Role
from memory_hub.access.services.keys import key_authenticate
from memory_hub.access.services.projects import project_change
from memory_hub.audit.events import Event
from memory_hub.audit.models import AuditEntry
from memory_hub.common.clock import now
from memory_hub.common.errors import NotSignedIn
from tests.cast import PASSWORD, Cast
from tests.web.page_support import LEDGER, browser, text_of


@pytest.fixture
def alice(cast: Cast) -> Client:
    return browser(cast.alice)


def membership(user: User) -> ProjectMembership:
    with as_system():
        return ProjectMembership.objects.get(user=user)


class TestMembers:
    URL = f"{LEDGER}/members/"

    def test_members_see_each_other_and_only_maintainers_see_buttons(self, cast: Cast, alice: Client) -> None:
        page = text_of(browser(cast.vera).get(self.URL))
        assert "Rita" in page
        assert "Invite somebody" not in page
        assert page.count("Leave the project") == 1
        assert page.count('name="remove"') == 1
        assert text_of(alice.get(self.URL)).count('name="remove"') == 3

    def test_the_table_of_roles_is_that_of_the_policy(self, cast: Cast, alice: Client) -> None:
        page = text_of(alice.get(self.URL))
        for permission, (least, _) in PROJECT_PERMISSIONS.items():
            row = page.split(f"<code>{permission.value}</code>")[1].split("</tr>")[0]
            assert [("use href" in cell) for cell in row.split("<td>")[1:]] == [
                role.rank >= least.rank for role in Role
            ], permission

    def test_a_role_is_changed(self, cast: Cast, alice: Client) -> None:
        url = f"{self.URL}{membership(cast.bob).id}/"
        answer = alice.post(url, {"role": "reviewer"}, follow=True)
        assert "Bob is reviewer now" in text_of(answer)
        assert membership(cast.bob).role == Role.REVIEWER
        assert alice.post(url, {"role": "emperor"}).status_code == 422

    def test_a_member_is_removed_and_finds_nothing_from_then_on(self, cast: Cast, alice: Client) -> None:
        bob = browser(cast.bob)
        assert bob.get(f"{LEDGER}/").status_code == 200
        alice.post(f"{self.URL}{membership(cast.bob).id}/", {"remove": "1"})
        assert bob.get(f"{LEDGER}/").status_code == 404

    def test_somebody_leaves_by_themselves_and_comes_home(self, cast: Cast) -> None:
        vera = browser(cast.vera)
        answer = vera.post(f"{self.URL}{membership(cast.vera).id}/", {"remove": "1"})
        assert answer.headers["Location"] == "/"
        assert vera.get(f"{LEDGER}/").status_code == 404

    def test_a_membership_of_another_project_is_not_reached_through_this_one(
        self, cast: Cast, alice: Client
    ) -> None:
        assert alice.post(f"{self.URL}{membership(cast.carol).id}/", {"remove": "1"}).status_code == 404
        assert membership(cast.carol).role == Role.CONTRIBUTOR


class TestInvitations:
    URL = f"{LEDGER}/members/"

    def link(self, alice: Client, **more: str) -> str:
        page = text_of(alice.post(self.URL, {"role": "contributor", **more}))
        return unescape(re.findall(r'id="link-once">http://testserver([^<]+)<', page)[0])

    def test_the_link_is_shown_once(self, cast: Cast, alice: Client) -> None:
        answer = alice.post(self.URL, {"role": "contributor"})
        assert answer.status_code == 201
        token = re.findall(r"/invitations/([^/]+)/", text_of(answer))[0]
        later = text_of(alice.get(self.URL))
        assert token not in later
        assert "pending" in later
        with as_system():
            assert token not in str(list(Invitation.objects.values()))

    def test_a_wrong_address_shows_the_form_again(self, cast: Cast, alice: Client) -> None:
        answer = alice.post(self.URL, {"role": "contributor", "email": "nonsense"})
        assert answer.status_code == 422
        assert 'value="nonsense"' in text_of(answer)
        with as_system():
            assert not Invitation.objects.exists()

    def test_a_new_person_makes_an_account_and_is_in(self, cast: Cast, alice: Client) -> None:
        link, client = self.link(alice), Client()
        page = text_of(client.get(link))
        assert "Alice" in page
        assert "Join Ledger" in page
        values = {"name": "Nina", "email": "nina@example.org", "password": PASSWORD}
        answer = client.post(link, values)
        assert answer.headers["Location"] == f"{LEDGER}/"
        assert client.get(f"{LEDGER}/").status_code == 200
        assert client.get(f"{LEDGER}/settings/").status_code == 403
        assert Client().get(link).status_code == 404
        assert "accepted by Nina" in text_of(alice.get(self.URL))

    @pytest.mark.parametrize(
        "changes",
        [{"password": "hunter2"}, {"email": "nonsense"}, {"name": ""}, {"email": "bob@example.org"}],
    )
    def test_a_mistake_shows_the_form_again_without_the_password(
        self, cast: Cast, alice: Client, changes: dict[str, str]
    ) -> None:
        link = self.link(alice)
        values = {"name": "Nina", "email": "nina@example.org", "password": PASSWORD, **changes}
        answer = Client().post(link, values)
        assert answer.status_code in (409, 422)
        assert values["password"] not in text_of(answer)
        assert Client().get(link).status_code == 200
        assert not User.objects.filter(name="Nina").exists()

    def test_somebody_signed_in_joins_with_one_press(self, cast: Cast, alice: Client) -> None:
        link, mallory = self.link(alice), browser(cast.mallory)
        assert "You are signed in as Mallory" in text_of(mallory.get(link))
        assert mallory.post(link).status_code == 302
        assert mallory.get(f"{LEDGER}/").status_code == 200

    def test_a_member_who_uses_a_link_is_told_and_the_link_stays(self, cast: Cast, alice: Client) -> None:
        link = self.link(alice)
        answer = browser(cast.bob).post(link)
        assert answer.status_code == 409
        assert "already" in text_of(answer)
        assert Client().get(link).status_code == 200

    def test_a_link_for_an_address_is_for_nobody_else(self, cast: Cast, alice: Client) -> None:
        link = self.link(alice, email="nina@example.org")
        assert browser(cast.mallory).post(link).status_code == 403
        assert 'value="nina@example.org"' in text_of(Client().get(link))

    def test_a_revoked_link_no_longer_works(self, cast: Cast, alice: Client) -> None:
        link = self.link(alice)
        with as_system():
            invitation = Invitation.objects.get()
        alice.post(f"{LEDGER}/invitations/{invitation.id}/revoke/")
        answer = Client().get(link)
        assert answer.status_code == 404
        assert "revoked or expired" in text_of(answer)
        assert "revoked" in text_of(alice.get(self.URL))
        assert alice.post(f"{LEDGER}/invitations/{invitation.id}/revoke/").status_code == 409

    def test_an_expired_link_no_longer_works(self, cast: Cast, alice: Client) -> None:
        link = self.link(alice)
        with as_system():
            Invitation.objects.update(expires_at=now() - timedelta(seconds=1))
        assert Client().get(link).status_code == 404
        assert "expired" in text_of(alice.get(self.URL))

    def test_the_page_of_a_link_is_kept_by_nobody_on_the_way(self, cast: Cast, alice: Client) -> None:
        answer = Client().get(self.link(alice))
        assert answer.headers["Referrer-Policy"] == "same-origin"
        assert "no-store" in answer.headers["Cache-Control"]


class TestKeys:
    URL = f"{LEDGER}/keys/"
    GOOD = {"name": "ci", "role": "contributor", "scopes": ["read", "recall"], "lifetime": "90"}

    def make(self, client: Client, **changes: Any) -> str:
        page = text_of(client.post(self.URL, {**self.GOOD, **changes}))
        return re.findall(r'id="secret-once">([^<]+)<', page)[0]

    def test_a_key_is_shown_once_and_works(self, cast: Cast) -> None:
        bob = browser(cast.bob)
        answer = bob.post(self.URL, self.GOOD)
        assert answer.status_code == 201
        assert "no-store" in answer.headers["Cache-Control"]
        secret = re.findall(r'id="secret-once">([^<]+)<', text_of(answer))[0]
        key = key_authenticate(secret)
        assert (key.owner_id, key.role, key.scopes) == (cast.bob.id, "contributor", ["read", "recall"])
        assert key.expires_at is not None
        assert abs(key.expires_at - now() - timedelta(days=90)) < timedelta(minutes=1)
        later = text_of(bob.get(self.URL))
        assert secret not in later
        assert f"mh_{key.prefix}_" in later

    def test_the_new_key_stands_in_lines_that_can_be_copied(self, cast: Cast) -> None:
        page = text_of(browser(cast.bob).post(self.URL, self.GOOD))
        secret = re.findall(r'id="secret-once">([^<]+)<', page)[0]
        assert page.count(secret) >= 2

    def test_a_key_that_never_expires_is_asked_for_in_words(self, cast: Cast) -> None:
        assert key_authenticate(self.make(browser(cast.bob), lifetime="")).expires_at is None

    @pytest.mark.parametrize(
        "changes",
        [{"name": ""}, {"role": "maintainer"}, {"scopes": []}, {"scopes": ["fly"]}, {"lifetime": "1"}],
    )
    def test_a_mistake_shows_the_form_again(self, cast: Cast, changes: dict[str, Any]) -> None:
        answer = browser(cast.bob).post(self.URL, {**self.GOOD, **changes})
        assert answer.status_code == 422
        assert "secret-once" not in text_of(answer)
        with as_system():
            assert not ApiKey.objects.exists()

    def test_the_roles_offered_end_at_ones_own(self, cast: Cast) -> None:
        page = text_of(browser(cast.bob).get(self.URL))
        assert 'value="contributor"' in page
        assert 'value="reviewer"' not in page

    def test_others_keys_are_seen_by_maintainers_alone(self, cast: Cast, alice: Client) -> None:
        self.make(browser(cast.bob), name="bobs-agent")
        assert "bobs-agent" not in text_of(browser(cast.rita).get(self.URL))
        assert "bobs-agent" in text_of(alice.get(self.URL))

    def test_a_revoked_key_stops_at_once(self, cast: Cast) -> None:
        bob = browser(cast.bob)
        secret = self.make(bob)
        key = key_authenticate(secret)
        assert "is revoked" in text_of(bob.post(f"{self.URL}{key.id}/revoke/", follow=True))
        with pytest.raises(NotSignedIn):
            key_authenticate(secret)
        assert f"{key.id}/revoke" not in text_of(bob.get(self.URL))


class TestAudit:
    URL = f"{LEDGER}/audit/"

    def change(self, cast: Cast, times: int) -> None:
        actor = cast.actor(cast.alice)
        with acting_as(actor):
            for number in range(times):
                project_change(actor=actor, project=cast.project, description=f"Text {number}")

    def test_it_says_in_words_who_did_what_with_before_and_after(self, cast: Cast, alice: Client) -> None:
        self.change(cast, 1)
        row = text_of(alice.get(self.URL)).split("<tbody>")[1].split("</tr>")[0]
        for part in ("Alice", "changed the settings", "Ledger", "Text 0"):
            assert part in row

    def test_every_event_has_its_sentence(self) -> None:
        assert len({event.sentence for event in Event}) == len(Event)

    def test_it_is_narrowed_to_one_event_and_to_one_person(self, cast: Cast, alice: Client) -> None:
        self.change(cast, 1)
        page = text_of(alice.get(self.URL, {"event": "project:changed"}))
        assert page.count("<tr>") - 1 == 1
        assert '<option value="project:changed" selected>' in page
        assert text_of(alice.get(self.URL, {"actor": str(cast.alice.id)})).count("<tr>") - 1 == 1
        assert "Nothing of this kind" in text_of(alice.get(self.URL, {"event": "run:started"}))

    @pytest.mark.parametrize("query", [{"event": "nonsense"}, {"actor": "1"}, {"before": "x"}])
    def test_a_filter_that_is_not_known_is_said(
        self, cast: Cast, alice: Client, query: dict[str, str]
    ) -> None:
        answer = alice.get(self.URL, query)
        assert answer.status_code == 422
        assert "not known" in text_of(answer)

    def test_every_entry_is_reached_once_though_more_are_added_meanwhile(
        self, cast: Cast, alice: Client
    ) -> None:
        self.change(cast, 120)
        with as_system():
            expected = AuditEntry.objects.filter(project_id=cast.project.id).count()
        seen: list[str] = []
        url = self.URL
        while url:
            page = text_of(alice.get(url))
            seen += re.findall(r"<dt>Time</dt>", page)
            older = re.findall(r'rel="next" href="([^"]+)"', page)
            url = self.URL + unescape(older[0]) if older else ""
            self.change(cast, 1)
        assert len(seen) == expected


@pytest.mark.django_db(transaction=True)
def test_an_entry_is_shown_after_its_readable_detail_was_erased(
    committed_cast: Cast, owner_connection: psycopg.Connection[Any]
) -> None:
    alice = browser(committed_cast.alice)
    TestAudit().change(committed_cast, 1)
    owner_connection.execute("DELETE FROM audit_auditdetail")
    owner_connection.commit()
    page = text_of(alice.get(f"{LEDGER}/audit/", {"event": "project:changed"}))
    assert "changed the settings" in page
    assert "erased" in page
    assert "Text 0" not in page


class TestSettings:
    URL = f"{LEDGER}/settings/"
    GOOD = {
        "name": "Ledger",
        "description": "Sums.",
        "recall_policy": "approved",
        "allow_self_approval": "on",
    }

    def test_they_are_changed(self, cast: Cast, alice: Client) -> None:
        answer = alice.post(self.URL, self.GOOD, follow=True)
        assert "Saved" in text_of(answer)
        with as_system():
            project = Project.objects.get(id=cast.project.id)
        assert (project.description, project.recall_policy, project.allow_self_approval) == (
            "Sums.", "approved", True,
        )  # fmt: skip

    def test_an_unticked_switch_is_off(self, cast: Cast, alice: Client) -> None:
        alice.post(self.URL, self.GOOD)
        alice.post(self.URL, {key: value for key, value in self.GOOD.items() if key != "allow_self_approval"})
        with as_system():
            assert not Project.objects.get(id=cast.project.id).allow_self_approval

    @pytest.mark.parametrize("changes", [{"name": " "}, {"recall_policy": "everything"}, {"name": "x" * 121}])
    def test_a_mistake_shows_the_form_again(self, cast: Cast, alice: Client, changes: dict[str, str]) -> None:
        answer = alice.post(self.URL, {**self.GOOD, **changes})
        assert answer.status_code == 422
        with as_system():
            assert Project.objects.get(id=cast.project.id).description == ""


class TestNewProject:
    URL = "/teams/acme/projects/new/"

    def test_an_admin_makes_one_and_maintains_it(self, cast: Cast, alice: Client) -> None:
        answer = alice.post(self.URL, {"name": "Große Pläne", "description": "Plans."})
        assert answer.status_code == 302
        assert alice.get(answer.headers["Location"]).status_code == 200
        assert browser(cast.bob).get(answer.headers["Location"]).status_code == 404

    @pytest.mark.parametrize("name", ["", "Ledger", "…", "x" * 121])
    def test_a_name_that_cannot_be_is_refused_at_its_field(
        self, cast: Cast, alice: Client, name: str
    ) -> None:
        answer = alice.post(self.URL, {"name": name})
        assert answer.status_code in (409, 422)
        assert 'aria-invalid="true"' in text_of(answer)
        with as_system():
            assert Project.objects.filter(team=cast.team).count() == 2


def test_a_refusal_of_an_htmx_request_is_a_partial(cast: Cast) -> None:
    answer = browser(cast.vera).get(f"{LEDGER}/settings/", headers={"HX-Request": "true"})
    assert answer.status_code == 403
    page = text_of(answer)
    assert "maintainer" in page
    assert "<html" not in page


def test_a_refusal_as_a_page_says_what_is_missing_and_the_request(cast: Cast) -> None:
    page = text_of(browser(cast.vera).get(f"{LEDGER}/settings/"))
    assert "This needs the role maintainer" in page
    assert "<html" in page
    assert re.search(r"[Rr]equest", page)

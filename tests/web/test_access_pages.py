"""Members and invitations in the browser, and how refusals are shown."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client

from memory_hub.access.actor import as_system
from memory_hub.access.models import Invitation, ProjectMembership, User
from memory_hub.access.permissions import PROJECT_PERMISSIONS, Role
from memory_hub.common.clock import now
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

"""Signing in and out and changing one's password: without JavaScript, safely, and on record."""

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import NoReverseMatch, reverse

from memory_hub.access.actor import as_system
from memory_hub.audit.events import Event
from memory_hub.audit.models import AuditDetail, AuditEntry
from tests.cast import PASSWORD, Cast
from tests.web.page_support import LEDGER, browser, text_of

SIGN_IN = "/accounts/login/"


@pytest.fixture(autouse=True)
def _fresh_limits() -> None:
    """Forget the sign-ins of other tests: they count towards the same limit."""
    cache.clear()


def sign_in(client: Client, email: str, password: str = PASSWORD, **more: str) -> Any:
    return client.post(SIGN_IN, {"login": email, "password": password, **more})


def recorded(event: Event) -> int:
    with as_system():
        return AuditEntry.objects.filter(event=event).count()


def test_a_page_asks_to_sign_in_and_then_leads_back(cast: Cast) -> None:
    client = Client()
    asked = client.get(f"{LEDGER}/members/")
    assert asked.status_code == 302
    assert asked.headers["Location"] == f"{SIGN_IN}?next={LEDGER}/members/"
    page = text_of(client.get(asked.headers["Location"]))
    assert f'name="next" value="{LEDGER}/members/"' in page
    answer = sign_in(client, "Bob@Example.org", next=f"{LEDGER}/members/")
    assert answer.status_code == 302
    assert answer.headers["Location"] == f"{LEDGER}/members/"
    assert client.get(f"{LEDGER}/members/").status_code == 200
    assert recorded(Event.SIGNED_IN) == 1


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_signing_in_never_leads_to_another_site(cast: Cast, elsewhere: str) -> None:
    answer = sign_in(Client(), "bob@example.org", next=elsewhere)
    assert answer.headers["Location"] == "/"


@pytest.mark.parametrize("email", ["bob@example.org", "nobody@example.org"])
def test_a_wrong_password_and_an_unknown_address_are_refused_alike(cast: Cast, email: str) -> None:
    answer = sign_in(Client(), email, "wrong horse battery")
    assert answer.status_code == 422
    page = text_of(answer)
    assert "not correct" in page
    assert "wrong horse" not in page
    assert recorded(Event.SIGN_IN_FAILED) == 1
    with as_system():
        details = AuditDetail.objects.filter(entry__event=Event.SIGN_IN_FAILED)
        assert email not in str(list(details.values()))


def test_guessing_is_stopped_and_the_right_password_does_not_help_then(cast: Cast) -> None:
    client = Client()
    for _ in range(5):
        sign_in(client, "bob@example.org", "wrong horse battery")
    answer = sign_in(client, "bob@example.org")
    assert answer.status_code == 422
    assert "Too many failed" in text_of(answer)
    assert client.get("/").status_code == 302
    assert sign_in(Client(), "rita@example.org").status_code == 302


def test_too_many_sign_ins_from_one_place_are_told_to_wait(cast: Cast) -> None:
    answers = [sign_in(Client(), f"guess{number}@example.org", "some long guess") for number in range(31)]
    assert answers[-1].status_code == 429
    assert "Wait a few minutes" in text_of(answers[-1])


def test_behind_a_proxy_each_address_has_its_own_limit(cast: Cast, settings: Any) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    for number in range(31):
        sign_in(
            Client(headers={"X-Forwarded-For": "203.0.113.7"}),
            f"guess{number}@example.org",
            "some long guess",
        )
    client = Client(headers={"X-Forwarded-For": "10.0.0.1, 198.51.100.9"})
    assert sign_in(client, "bob@example.org").status_code == 302


def test_somebody_deactivated_cannot_sign_in_and_is_signed_out(cast: Cast) -> None:
    client = browser(cast.bob)
    with as_system():
        cast.bob.is_active = False
        cast.bob.save(update_fields=["is_active"])
    assert client.get("/").status_code == 302
    answer = client.post(SIGN_IN, {"login": "bob@example.org", "password": PASSWORD}, follow=True)
    assert "switched off" in text_of(answer)
    assert client.get("/").status_code == 302


def test_signing_out_asks_on_get_and_does_on_post(cast: Cast) -> None:
    client = browser(cast.bob)
    assert "Sign out?" in text_of(client.get("/accounts/logout/"))
    assert client.get("/").status_code == 200
    assert client.post("/accounts/logout/").status_code == 302
    assert client.get("/").status_code == 302
    assert recorded(Event.SIGNED_OUT) == 1


class TestPassword:
    URL = "/accounts/password/"
    NEW = "purple monkey dishwasher"

    def change(self, client: Client, **changes: str) -> Any:
        values = {"oldpassword": PASSWORD, "password1": self.NEW, "password2": self.NEW, **changes}
        return client.post(self.URL, values)

    def test_it_is_changed_with_the_old_one_and_other_sessions_end(self, cast: Cast) -> None:
        mine, other = Client(), Client()
        sign_in(mine, "bob@example.org")
        sign_in(other, "bob@example.org")
        assert self.change(mine).status_code == 302
        assert mine.get("/").status_code == 200
        assert other.get("/").status_code == 302
        assert sign_in(Client(), "bob@example.org", self.NEW).status_code == 302
        assert recorded(Event.PASSWORD_CHANGED) == 1

    @pytest.mark.parametrize(
        "changes",
        [
            {"oldpassword": "not the old one"},
            {"password1": "short", "password2": "short"},
            {"password2": "something else entirely"},
            {"password1": "bob@example.org", "password2": "bob@example.org"},
        ],
    )
    def test_a_mistake_shows_the_form_again_and_changes_nothing(
        self, cast: Cast, changes: dict[str, str]
    ) -> None:
        client = browser(cast.bob)
        answer = self.change(client, **changes)
        assert answer.status_code == 422
        assert 'aria-invalid="true"' in text_of(answer)
        assert recorded(Event.PASSWORD_CHANGED) == 0
        assert sign_in(Client(), "bob@example.org").status_code == 302

    def test_it_is_reached_from_the_menu(self, cast: Cast) -> None:
        assert f'href="{self.URL}"' in text_of(browser(cast.bob).get("/"))


@pytest.mark.parametrize("name", ["account_signup", "account_reset_password", "account_email"])
def test_nobody_signs_up_or_changes_an_address_here(name: str) -> None:
    with pytest.raises(NoReverseMatch):
        reverse(name)


def test_a_form_from_elsewhere_signs_nobody_in(cast: Cast) -> None:
    client = Client(enforce_csrf_checks=True)
    assert sign_in(client, "bob@example.org").status_code == 403

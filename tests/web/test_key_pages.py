"""API keys in the browser: made, shown once, revoked."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from memory_hub.access.actor import as_system
from memory_hub.access.models import ApiKey
from memory_hub.access.services.keys import key_authenticate
from memory_hub.common.clock import now
from memory_hub.common.errors import NotSignedIn
from tests.cast import Cast
from tests.web.page_support import LEDGER, browser, text_of


@pytest.fixture
def alice(cast: Cast) -> Client:
    return browser(cast.alice)


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

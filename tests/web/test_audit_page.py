"""The audit trail in the browser."""

import re
from html import unescape
from typing import Any

import psycopg
import pytest
from django.test import Client

from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.services.projects import project_change
from memory_hub.audit.events import Event
from memory_hub.audit.models import AuditEntry
from tests.cast import Cast
from tests.web.page_support import LEDGER, browser, text_of


@pytest.fixture
def alice(cast: Cast) -> Client:
    return browser(cast.alice)


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
        for part in ("Alice", "changed the settings", "Ledger", "Description</span> nothing → Text 0"):
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
            seen += re.findall(r"Time</span>", page)
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

"""A project's settings, and a new project, in the browser."""

import pytest
from django.test import Client

from memory_hub.access.actor import as_system
from memory_hub.access.models import Project
from tests.cast import Cast
from tests.web.page_support import LEDGER, browser, text_of


@pytest.fixture
def alice(cast: Cast) -> Client:
    return browser(cast.alice)


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

"""Model connections over REST: a secret goes in and never comes out."""

from typing import Any
from uuid import uuid4

import pytest

from memory_hub.access.permissions import Role
from memory_hub.runs.models import Connection
from tests.api.api_support import LEDGER, Caller, caller
from tests.cast import Cast
from tests.services.runs_support import make_connection

CONNECTIONS = f"{LEDGER}/connections/"
BODY = {
    "name": "Local", "kind": "openai", "base_url": "http://127.0.0.1:11434/v1", "model_id": "qwen3:8b",
    "secret": "very-secret-1", "options": {"temperature": 0},
}  # fmt: skip


@pytest.fixture
def alice(cast: Cast, settings: Any) -> Caller:
    settings.ALLOW_PRIVATE_MODEL_URLS = True
    return Caller(cast.key(cast.alice, role=Role.MAINTAINER))


def created(alice: Caller, **changes: Any) -> dict[str, Any]:
    answer = alice.post(CONNECTIONS, {**BODY, **changes})
    assert answer.status_code == 201, answer.json()
    return dict(answer.json())


def test_the_secret_is_in_no_answer(alice: Caller) -> None:
    said = created(alice)
    path = f"/api/v1/connections/{said['id']}/"
    assert said["has_secret"] is True
    answers = [
        alice.get(CONNECTIONS), alice.get(path), alice.patch(path, {"secret": "very-secret-2"}),
        alice.patch(path, {"base_url": "http://127.0.0.1:1/v1"}), alice.post(CONNECTIONS, BODY),
        alice.post(CONNECTIONS, {**BODY, "name": "", "secret": "very-secret-3"}),
    ]  # fmt: skip
    assert [answer.status_code for answer in answers] == [200, 200, 200, 422, 409, 422]
    assert [answer for answer in answers if b"very-secret" in answer.content] == []


def test_a_connection_is_changed_part_by_part_and_retired(alice: Caller) -> None:
    path = f"/api/v1/connections/{created(alice)['id']}/"
    assert alice.patch(path, {"name": "Mine"}).json()["name"] == "Mine"
    assert alice.patch(path, {"secret": ""}).json()["has_secret"] is False
    assert alice.patch(path, {"options": {"max_tokens": 0}}).status_code == 422
    assert alice.delete(path).status_code == 204
    assert alice.get(path).status_code == 404
    assert alice.get(CONNECTIONS).json()["count"] == 0


def test_an_address_that_may_not_be_called_is_refused(alice: Caller) -> None:
    answer = alice.post(CONNECTIONS, {**BODY, "base_url": "http://169.254.169.254/v1"})
    assert set(answer.json()["fields"]) == {"base_url"}


def test_members_see_connections_and_only_maintainers_change_them(cast: Cast, alice: Caller) -> None:
    path = f"/api/v1/connections/{created(alice)['id']}/"
    for person in (cast.vera, cast.bob, cast.rita):
        member = caller(cast, person)
        assert member.get(CONNECTIONS).json()["count"] == 1
        assert member.post(CONNECTIONS, {**BODY, "name": "Other"}).status_code == 403
        assert member.patch(path, {"name": "X"}).status_code == 403
        assert member.delete(path).status_code == 403


def test_connections_of_others_are_not_there(cast: Cast) -> None:
    mallory = caller(cast, cast.mallory)
    foreign = make_connection(cast.project, kind=Connection.Kind.REHEARSAL)
    for connection_id in (foreign.id, uuid4()):
        path = f"/api/v1/connections/{connection_id}/"
        for answer in (mallory.get(path), mallory.patch(path, {"name": "X"}), mallory.delete(path)):
            assert answer.status_code == 404
    assert mallory.get(CONNECTIONS).status_code == 404

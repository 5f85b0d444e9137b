"""A caller of the API with a key, for tests."""

from typing import Any

from django.test import Client

from memory_hub.access.models import User
from memory_hub.access.permissions import Role, Scope
from tests.cast import Cast

LEDGER = "/api/v1/projects/acme/ledger"


class Caller:
    """Calls as a person's key does; answers are Django's test responses."""

    def __init__(self, key: str) -> None:
        self._client = Client(headers={"Authorization": f"Bearer {key}"})

    def get(self, path: str, **query: Any) -> Any:
        return self._client.get(path, query)

    def post(self, path: str, body: Any = None, *, retry_key: str = "") -> Any:
        headers = {"Idempotency-Key": retry_key} if retry_key else {}
        return self._client.post(path, body, content_type="application/json", headers=headers)

    def put(self, path: str, body: Any) -> Any:
        return self._client.put(path, body, content_type="application/json")

    def patch(self, path: str, body: Any) -> Any:
        return self._client.patch(path, body, content_type="application/json")

    def delete(self, path: str) -> Any:
        return self._client.delete(path)


def caller(
    cast: Cast, person: User, *, role: Role | None = None, scopes: list[Scope] | None = None
) -> Caller:
    """Return a caller with a new key; its role is the person's own unless told."""
    held = next(iter(cast.actor(person).project_roles.values()))
    return Caller(cast.key(person, role=role or held, scopes=scopes))

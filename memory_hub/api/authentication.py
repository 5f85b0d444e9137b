"""Who calls: an API key in one of three headers, or the session of a signed-in person."""

from typing import Any

from django.http import HttpRequest
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import authentication
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request

from memory_hub.access.actor import Actor, as_system
from memory_hub.access.models import User
from memory_hub.access.policy import actor_for_key, actor_for_user
from memory_hub.access.services.keys import key_authenticate


def presented_key(request: HttpRequest) -> str | None:
    """Return the key of `Authorization: Bearer k`, `Authorization: Token k` or `X-API-Key: k`."""
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() in ("bearer", "token"):
        return value.strip()
    return request.headers.get("X-API-Key")


class HubAuthentication(authentication.BaseAuthentication):
    """Gives request.user (the person, or the key's owner) and request.auth (the Actor)."""

    def authenticate(self, request: Request) -> tuple[User, Actor] | None:
        key = presented_key(request._request)
        if key is not None:
            with as_system():
                row = key_authenticate(key)
                return row.owner, actor_for_key(row)
        signed_in: Any = SessionAuthentication().authenticate(request)  # enforces CSRF
        if signed_in is None:
            return None
        return signed_in[0], actor_for_user(signed_in[0])

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="Memory Hub"'


class HubAuthenticationScheme(OpenApiAuthenticationExtension):
    """Tells OpenAPI about the three ways to send a key."""

    target_class = "memory_hub.api.authentication.HubAuthentication"
    name = ["bearerKey", "apiKeyHeader"]

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, str]]:
        return [
            {"type": "http", "scheme": "bearer", "description": "`Token` is accepted in place of `Bearer`."},
            {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        ]

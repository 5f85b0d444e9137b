"""A signed-in person in front of the pages, for tests."""

from typing import Any

from django.test import Client

from memory_hub.access.models import User

LEDGER = "/p/acme/ledger"


def browser(person: User) -> Client:
    """Return a client that is signed in as the person."""
    client = Client()
    client.force_login(person)
    return client


def text_of(answer: Any) -> str:
    """Return the page as text."""
    return str(answer.content.decode())

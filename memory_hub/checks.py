"""System checks that refuse an unsafe production. bin/start and `manage.py check --deploy` run them."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks import Warning as CheckWarning


@register(Tags.security)
def check_secrets(**_: Any) -> list[CheckMessage]:
    """Refuse weak secrets and a debugging server that others can reach."""
    problems: list[CheckMessage] = []
    if len(settings.SECRET_KEY) < 32:
        problems.append(
            Error("SECRET_KEY is shorter than 32 characters.", hint="Make a random one.", id="hub.E001")
        )
    for key in settings.ENCRYPTION_KEYS:
        try:
            from cryptography.fernet import Fernet

            Fernet(key)
        except ValueError:
            problems.append(
                Error(
                    "ENCRYPTION_KEY holds something that is no Fernet key.",
                    hint="Make one: python -c 'from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())'",
                    id="hub.E002",
                )
            )
    local = {"127.0.0.1", "localhost", "[::1]", "testserver"}
    if settings.DEBUG and not set(settings.ALLOWED_HOSTS) <= local:
        problems.append(Error("DEBUG is on while ALLOWED_HOSTS names other hosts.", id="hub.E003"))
    return problems


@register(Tags.security, deploy=True)
def check_production(**_: Any) -> list[CheckMessage]:
    """Warn where an installation for others lacks what it needs."""
    problems: list[CheckMessage] = []
    if settings.DATABASE_URL == settings.MIGRATE_DATABASE_URL:
        problems.append(
            CheckWarning(
                "One database role does both jobs, so row-level security protects nothing.",
                hint="Set MIGRATE_DATABASE_URL to the owner and DATABASE_URL to a role without BYPASSRLS.",
                id="hub.W001",
            )
        )
    if not settings.HTTPS and not settings.EMBEDDED:
        problems.append(CheckWarning("SITE_URL is not https.", id="hub.W002"))
    return problems

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AccessConfig(AppConfig):
    name = "memory_hub.access"
    label = "access"

    def ready(self) -> None:
        from memory_hub import checks  # noqa: F401  (registers the system checks)

        from . import sign_in  # noqa: F401  (connects allauth's signals to the audit services)

        post_migrate.connect(_grant_application_role, sender=self)


def _grant_application_role(*, using: str, **_: Any) -> None:
    """Give the application's database role what it needs, and no more. Sent once, after every room has migrated."""
    from .database_role import grant

    grant(using)

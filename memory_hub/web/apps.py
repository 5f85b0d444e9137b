from typing import Any

from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "memory_hub.web"
    label = "web"

    def ready(self) -> None:
        """Let go of rendered code when the code is deleted."""
        from memory_hub.library.signals import code_deleted

        code_deleted.connect(_forget_rendered, dispatch_uid="web.forget_rendered")


def _forget_rendered(*, code: str, **_: Any) -> None:
    from .rendering.highlight import forget

    forget(code)

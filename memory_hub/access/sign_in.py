"""Audit entries for sign-in, sign-out and password changes, which django-allauth announces by signals."""

from typing import Any

from allauth.account.signals import password_changed
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver

from memory_hub.audit.events import Event
from memory_hub.audit.services import record

from .actor import SYSTEM, Actor, ActorKind, as_system
from .models import User


def _record(event: Event, user: User | None) -> None:
    actor = Actor(kind=ActorKind.PERSON, label=user.name, user_id=user.id) if user else SYSTEM
    with as_system():
        record(
            actor=actor,
            event=event,
            object_kind="user",
            object_id=user.id if user else None,
            object_label=user.name if user else "",
        )


@receiver(user_logged_in)
def _signed_in(*, user: User, **_: Any) -> None:
    _record(Event.SIGNED_IN, user)


@receiver(user_logged_out)
def _signed_out(*, user: User | None, **_: Any) -> None:
    if user is not None:
        _record(Event.SIGNED_OUT, user)


@receiver(user_login_failed)
def _refused(**_: Any) -> None:
    # The address that was tried is left out: it may be somebody's password typed into the wrong box.
    _record(Event.SIGN_IN_FAILED, None)


@receiver(password_changed)
def _password_changed(*, user: User, **_: Any) -> None:
    _record(Event.PASSWORD_CHANGED, user)

"""People."""

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from memory_hub.access.actor import Actor
from memory_hub.access.models import User
from memory_hub.audit.events import Event
from memory_hub.audit.services import record
from memory_hub.common.errors import Conflict, InvalidInput


def user_create(*, actor: Actor, email: str, name: str, password: str) -> User:
    """Make a person who can sign in. Call within acting_as. Raises InvalidInput or Conflict."""
    email = email.strip().lower()
    if not name.strip():
        raise InvalidInput("Give a name.", fields={"name": "Give a name."})
    try:
        validate_email(email)
    except ValidationError:
        raise InvalidInput(
            "This is not an email address.", fields={"email": "Not an email address."}
        ) from None
    user = User(email=email, name=name.strip()[:120])
    try:
        validate_password(password, user)
    except ValidationError as error:
        message = " ".join(error.messages)
        raise InvalidInput(message, fields={"password": message}) from None
    if User.objects.filter(email__iexact=email).exists():
        raise Conflict(
            "Somebody with this email address has an account already: sign in first.", code="email_taken"
        )
    user.set_password(password)
    user.save()
    record(
        actor=actor, event=Event.USER_CREATED, object_kind="user", object_id=user.id, object_label=user.name
    )
    return user

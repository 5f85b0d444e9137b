"""The one tree of errors that a user may see.

Each is rendered as RFC 9457 problem+json in the API, as a 422 partial or an error page in the browser.
Anything else that is raised is a fault of ours: logged, and shown only as "something went wrong".
"""

from typing import Any


class HubError(Exception):
    """An expected refusal: a stable `code` for programs, a `message` that says what to do, optional `extra`."""

    status = 400
    code = "bad_request"

    def __init__(self, message: str, *, code: str | None = None, **extra: Any) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.code
        self.extra = extra

    @property
    def title(self) -> str:
        """The code as words, as in "Not found"."""
        return self.code.replace("_", " ").capitalize()


class InvalidInput(HubError):
    """Input that cannot be accepted as it is. `extra["fields"]` may map field names to messages."""

    status = 422
    code = "invalid_input"


class NotSignedIn(HubError):
    """No session and no valid key."""

    status = 401
    code = "not_signed_in"


class PermissionDenied(HubError):
    """The object is visible to the actor, but the actor's role or scopes do not allow this."""

    status = 403
    code = "permission_denied"


class NotFound(HubError):
    """Missing, or not visible to the actor: the two are never told apart."""

    status = 404
    code = "not_found"

    def __init__(self, message: str = "There is nothing here, or you may not see it.", **extra: Any) -> None:
        super().__init__(message, **extra)


class Conflict(HubError):
    """The object has moved since the actor looked at it, or its state does not allow this."""

    status = 409
    code = "conflict"


class IllegalTransition(Conflict):
    """A status change that the transitions table does not name."""

    code = "illegal_transition"


class SecretFound(InvalidInput):
    """The text holds a secret; `extra["findings"]` says which line and kind, never the secret itself."""

    code = "secret_found"


class TooLarge(HubError):
    """More bytes than a limit allows; the message names the limit."""

    status = 413
    code = "too_large"


class Unavailable(HubError):
    """A part that is needed does not work now (a sandbox, a model); the message says which and why."""

    status = 503
    code = "unavailable"

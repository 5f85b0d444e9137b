"""Errors as RFC 9457 problem+json."""

from typing import Any

from .errors import HubError


def problem_of(error: HubError, *, instance: str, request_id: str) -> dict[str, Any]:
    """Return the problem document: the standard members, then `code`, `request_id` and the error's extra."""
    return {
        "type": f"urn:memory-hub:problem:{error.code}",
        "title": error.code.replace("_", " "),
        "status": error.status,
        "detail": error.message,
        "instance": instance,
        "code": error.code,
        "request_id": request_id,
        **error.extra,
    }

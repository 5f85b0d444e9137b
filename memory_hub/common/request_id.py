"""One id per request, in the answer's X-Request-ID, in problems and in audit entries."""

import re
from collections.abc import Callable
from contextvars import ContextVar

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

from .ids import uuid7

_current: ContextVar[str] = ContextVar("request_id", default="")
_ACCEPTED = re.compile(r"^[A-Za-z0-9._-]{8,64}$")


def current_request_id() -> str:
    """Return the id of the request being served, or an empty string outside of one."""
    return _current.get()


@sync_and_async_middleware
def RequestIdMiddleware(get_response: Callable[..., HttpResponse]) -> Callable[..., object]:  # noqa: N802 (named as a class by Django's convention)
    """Take a well-formed X-Request-ID from the client, or make one."""

    def begin(request: HttpRequest) -> str:
        given = request.headers.get("X-Request-ID", "")
        request_id = given if _ACCEPTED.match(given) else uuid7().hex
        _current.set(request_id)
        return request_id

    if iscoroutinefunction(get_response):

        async def async_middleware(request: HttpRequest) -> HttpResponse:
            request_id = begin(request)
            response = await get_response(request)
            response["X-Request-ID"] = request_id
            return response

        return async_middleware

    def middleware(request: HttpRequest) -> HttpResponse:
        request_id = begin(request)
        response = get_response(request)
        response["X-Request-ID"] = request_id
        return response

    return middleware

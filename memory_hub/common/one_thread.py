"""All middleware of a request in one thread."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse


def OneThreadMiddleware(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[..., HttpResponse]:  # noqa: N802 (named as a class by Django's convention)
    """Do nothing, and be synchronous: as the innermost one it keeps Django from running the others in the event loop.

    Django's own middleware is synchronous inside: under ASGI each would send both of its halves to a thread, about
    twenty changes of thread and 4 ms for a request. Streams are not held up, since they begin after the last middleware.
    """
    return get_response

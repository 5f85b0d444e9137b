"""Server-sent events: how a message is written, and the response that carries them."""

import re
from collections.abc import AsyncIterator

from django.http import StreamingHttpResponse

PING = b": ping\n\n"
# How soon a browser comes back after the connection was cut, in milliseconds.
OPENING = b"retry: 1000\n\n"

_LINE_END = re.compile(r"\r\n|\r|\n")


def sse_message(data: str, *, event: str = "", sequence: int | None = None) -> bytes:
    """Return one message. `sequence` becomes its id, which a browser sends back as Last-Event-ID."""
    lines = [f"data: {line}" for line in _LINE_END.split(data)]
    if event:
        lines.insert(0, f"event: {event}")
    if sequence is not None:
        lines.insert(0, f"id: {sequence}")
    return ("\n".join(lines) + "\n\n").encode("utf-8", "replace")


def sse_response(messages: AsyncIterator[bytes]) -> StreamingHttpResponse:
    """Return a response that neither caches nor proxies hold back."""
    response = StreamingHttpResponse(messages, content_type="text/event-stream")
    response["Cache-Control"] = "no-cache, no-transform"
    response["X-Accel-Buffering"] = "no"
    return response


def last_event_id(headers: str | None, parameter: str | None) -> int:
    """Return the sequence after which to go on: of the header Last-Event-ID, else of `?after=`, else 0."""
    for given in (headers, parameter):
        if given and given.isascii() and given.isdigit() and len(given) < 10:
            return int(given)
    return 0

"""A real server for tests: uvicorn in a thread of this process, on the test database, and a reader of its streams."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import uvicorn


@contextmanager
def serving() -> Iterator[str]:
    """Serve the hub; yield its address. Needs committed data (committed_cast)."""
    from memory_hub.asgi import application

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(application, lifespan="off", log_level="warning", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        listener.close()


@dataclass
class Message:
    """One server-sent event."""

    id: int | None
    event: str
    data: str
    at: float  # time.monotonic()

    @property
    def json(self) -> Any:
        return json.loads(self.data)


def read_stream(
    url: str, *, headers: dict[str, str], stop: int | None = None, timeout: float = 20
) -> list[Message]:
    """Follow a stream to its end, or until `stop` messages came; raise for a status that is no success."""
    messages: list[Message] = []
    with httpx.stream(
        "GET", url, headers={"Accept": "text/event-stream", **headers}, timeout=timeout
    ) as response:
        response.raise_for_status()
        assert response.headers["content-type"].startswith("text/event-stream")
        for message in parsed(response):
            messages.append(message)
            if message.event == "end" or len(messages) == stop:
                break
    return messages


def parsed(response: httpx.Response) -> Iterator[Message]:
    """Yield the messages of a stream as they come."""
    fields: dict[str, list[str]] = {}
    for line in response.iter_lines():
        if line:
            name, _, value = line.partition(":")
            fields.setdefault(name, []).append(value.removeprefix(" "))
        else:
            if "data" in fields:
                given = fields.get("id")
                yield Message(
                    int(given[0]) if given else None, (fields.get("event") or [""])[0], "\n".join(fields["data"]),
                    time.monotonic(),
                )  # fmt: skip
            fields = {}

"""A small OpenAI-compatible server for tests, so that the real client code runs; only the model is replaced.

    with FakeOpenAI(script(code("x = 1"), code("final_answer(x)"))) as server:
        ...                    # a connection with base_url=server.base_url
        server.requests[0].authorization

What it answers is decided by a callable on the messages of the request, which returns a Reply, or a text for one.
"""

import json
import select
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

Messages = list[dict[str, Any]]


@dataclass(frozen=True)
class Reply:
    """One answer. `usage` is (prompt, completion) tokens, None leaves it out; `body` replaces the whole body.

    delay: seconds before it answers. hangs: it never answers, until the client has gone.
    """

    text: str = ""
    status: int = 200
    usage: tuple[Any, Any] | None = (100, 20)
    body: bytes | None = None
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    hangs: bool = False


@dataclass(frozen=True)
class Request:
    """What the server was asked."""

    path: str
    authorization: str
    body: dict[str, Any]

    @property
    def messages(self) -> Messages:
        return list(self.body["messages"])

    @property
    def text(self) -> str:
        """Everything that the model reads."""
        return "\n".join(text_of(message) for message in self.messages)


Answer = Callable[[Messages], Reply | str]


def code(source: str, thought: str = "I try this.") -> str:
    """Return a reply as a CodeAgent wants it."""
    return f"Thought: {thought}\n<code>\n{source}\n</code>"


def text_of(message: dict[str, Any]) -> str:
    """Return the text of a message, whether it is a string or a list of parts."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def script(*replies: Reply | str) -> Answer:
    """Answer each conversation with these in turn, by how often the assistant has spoken in it; the last one stays."""

    def answer(messages: Messages) -> Reply | str:
        spoken = sum(message["role"] == "assistant" for message in messages)
        return replies[min(spoken, len(replies) - 1)]

    return answer


def error(status: int, message: str = "It did not work.", **headers: str) -> Reply:
    """Return an error as OpenAI tells it."""
    body = json.dumps({"error": {"message": message, "type": "some_error", "code": None}}).encode()
    return Reply(status=status, body=body, headers=headers)


class FakeOpenAI:
    """The server, in threads of this process, on a free port of loopback."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.requests: list[Request] = []
        self.asked = threading.Event()  # a request has arrived
        self.left = threading.Event()  # a client has gone before it was answered
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> "FakeOpenAI":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Header and body are two writes: else the second may wait 40 ms for the first to be acknowledged.
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                request = Request(self.path, self.headers.get("Authorization", ""), body)
                fake.requests.append(request)
                fake.asked.set()
                reply = fake.answer(request.messages)
                fake._send(self, Reply(reply) if isinstance(reply, str) else reply, body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def _send(self, handler: BaseHTTPRequestHandler, reply: Reply, asked: dict[str, Any]) -> None:
        if self._client_goes(handler, reply):
            handler.close_connection = True
            return
        body = _completion(reply, asked) if reply.body is None else reply.body
        handler.send_response(reply.status)
        for name, value in {"Content-Type": reply.content_type, **reply.headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def _client_goes(self, handler: BaseHTTPRequestHandler, reply: Reply) -> bool:
        """Wait as long as the reply wants to; say whether the client gave up before."""
        deadline = time.monotonic() + reply.delay
        while reply.hangs or time.monotonic() < deadline:
            if self._closing.is_set():
                return True
            if select.select([handler.connection], [], [], 0.02)[0]:
                self.left.set()
                return True
        return False


def _completion(reply: Reply, asked: dict[str, Any]) -> bytes:
    completion: dict[str, Any] = {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": asked["model"],
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": reply.text}}
        ],
    }  # fmt: skip
    if reply.usage is not None:
        given, made = reply.usage
        completion["usage"] = {"prompt_tokens": given, "completion_tokens": made}
    return json.dumps(completion).encode()

"""The cast of the attach tests: a scripted model, a hub in memory, a hub behind real HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from smolagents import CodeAgent
from smolagents.models import ChatMessage, MessageRole, Model
from smolagents.monitoring import TokenUsage

from memory_hub_client import (
    ErrorQuery,
    LessonHint,
    OfferedCallable,
    OutcomeReport,
    RecalledItem,
    RecallQuery,
    RecallResult,
    RunRecord,
)

SLUG = "def slug(text):\n\treturn '-'.join(text.lower().split())  # é ✓\n"


def step(code: str, thought: str = "I try.") -> str:
    return f"Thought: {thought}\n<code>\n{code}\n</code>"


class ScriptedModel(Model):
    """Replies in order; a reply may be text, an exception to raise, or a function of the prompt."""

    def __init__(self, *replies: str | BaseException | Callable[[str], str]) -> None:
        super().__init__(model_id="scripted")
        self.replies = list(replies)
        self.prompts: list[str] = []

    def generate(self, messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        prompt = "\n".join(
            part["text"] for message in messages for part in message.content if part["type"] == "text"
        )
        self.prompts.append(prompt)
        reply = self.replies.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        text = reply(prompt) if callable(reply) else reply
        return ChatMessage(
            role=MessageRole.ASSISTANT,
            content=text,
            token_usage=TokenUsage(input_tokens=100, output_tokens=10),
        )


def code_agent(*replies: str | BaseException | Callable[[str], str], **options: Any) -> CodeAgent:
    options.setdefault("tools", [])
    return CodeAgent(model=ScriptedModel(*replies), verbosity_level=0, **options)


def offered(
    name: str = "slug", source: str = SLUG, revision: str = "rev-1", signature: str = ""
) -> OfferedCallable:
    return OfferedCallable(name, signature or f"{name}(text)", source, revision)


def recalled(*callables: OfferedCallable, block: str = "A proven way to make slugs.") -> RecallResult:
    items = tuple(
        RecalledItem(
            revision_id=item.revision_id,
            solution_id=f"solution of {item.revision_id}",
            title="Slugs",
            score=0.9,
            rank=rank,
            reason="same words",
            status="approved",
            verification="passed",
            entry_point=item.name,
            signature=item.signature,
            code=item.source,
            kind="algorithm",
        )
        for rank, item in enumerate(callables, 1)
    )
    return RecallResult("recall-1", items, block, callables, no_match=False)


class MemoryHub:
    """Keeps what it is asked and given; answers what it is told to (an exception is raised)."""

    def __init__(self, recall: Any = None, lesson: Any = None, record: Any = None) -> None:
        self.answers = {"recall": recall or RecallResult(), "lesson": lesson, "record": record}
        self.queries: list[RecallQuery] = []
        self.errors: list[ErrorQuery] = []
        self.records: list[RunRecord] = []
        self.reports: list[OutcomeReport] = []

    def _answer(self, name: str) -> Any:
        answer = self.answers[name]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def recall(self, query: RecallQuery) -> RecallResult:
        self.queries.append(query)
        result: RecallResult = self._answer("recall")
        return result

    def lookup_error(self, query: ErrorQuery) -> LessonHint | None:
        self.errors.append(query)
        hint: LessonHint | None = self._answer("lesson")
        return hint

    def record(self, record: RunRecord) -> None:
        self.records.append(record)
        self._answer("record")

    def report(self, report: OutcomeReport) -> None:
        self.reports.append(report)


class HttpServer:
    """A hub behind a real socket. `replies` maps the end of a path to (status, body); bytes are sent as they are."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.replies: dict[str, tuple[int, Any]] = {
            "/recall/": (200, {"no_match": True}),
            "/record/": (201, {}),
        }
        self.headers: dict[str, str] = {}
        self.delay = 0.0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append((self.path, dict(self.headers), json.loads(body)))
                time.sleep(outer.delay)
                status, reply = next(
                    (reply for end, reply in outer.replies.items() if self.path.endswith(end)), (200, {})
                )
                data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
                try:
                    self.send_response(status)
                    for name, value in outer.headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    pass  # the client has given up

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()

    def bodies(self, end: str) -> list[Any]:
        return [body for path, _, body in self.requests if path.endswith(end)]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

"""Models whose answer can be given up: whatever a server does, a run that is stopped does not wait for it."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from types import SimpleNamespace
from typing import Any

import openai
from openai.types import CompletionUsage
from smolagents import ChatMessage, Model, OpenAIModel

# Of one answer; a server may say anything, and the sum over a run must fit its column.
_MOST_TOKENS = 10_000_000

_EMPTY = "(The model gave an empty reply.)"


class ModelStopped(Exception):
    """The run was stopped while it waited for its model."""


class UnusableAnswer(Exception):
    """The server answered, but with nothing an agent can use. The text says so to a person, without quoting it all."""


class StoppableModel(Model):
    """Another model, asked in a thread, so that `stop` ends the waiting at once, in whatever state the request is.

    hang_up: ends the request itself, so that a server does not go on answering nobody; best effort.
    """

    def __init__(self, inner: Model, hang_up: Callable[[], None] = lambda: None) -> None:
        super().__init__(model_id=inner.model_id)
        self.inner = inner
        self._hang_up = hang_up
        self._lock = threading.Lock()
        self._answer: Future[ChatMessage] | None = None
        self._stopped = False

    def generate(self, messages: list[ChatMessage], *args: Any, **kwargs: Any) -> ChatMessage:
        """Return the inner model's answer. Raises what it raises, or ModelStopped."""
        answer: Future[ChatMessage] = Future()
        with self._lock:
            if self._stopped:
                raise ModelStopped
            self._answer = answer

        def ask() -> None:
            with contextlib.suppress(InvalidStateError):  # stopped meanwhile: nobody waits for it
                try:
                    message = self.inner.generate(messages, *args, **kwargs)
                except BaseException as error:  # noqa: BLE001 - it belongs to who waits
                    answer.set_exception(error)
                else:
                    answer.set_result(message)

        threading.Thread(target=ask, name="model", daemon=True).start()
        return answer.result()

    def stop(self) -> None:
        """From another thread: end the waiting, now and for every later call."""
        with self._lock:
            self._stopped, answer = True, self._answer
        if answer is not None:
            with contextlib.suppress(InvalidStateError):
                answer.set_exception(ModelStopped())
        self._hang_up()


class ChatModel(OpenAIModel):
    """An OpenAI-compatible server, as tolerant as such servers differ: without usage, content or the right type."""

    def create_client(self) -> Any:
        """Return what smolagents calls: `chat.completions.create`, its answers made usable."""
        client = super().create_client()

        def create(**kwargs: Any) -> Any:
            return _usable(client.chat.completions.create(**kwargs))

        return SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))


class OpenSockets:
    """The sockets of one HTTP client, so that another thread can end a request that is under way.

    Closing the client would not: a thread that waits for bytes is not woken by that, and the server goes on.
    """

    def __init__(self) -> None:
        self._streams: list[Any] = []

    def follow(self, request: Any) -> None:
        """Event hook of the client: hear of each connection that it opens."""
        request.extensions["trace"] = self._trace

    def _trace(self, event: str, info: dict[str, Any]) -> None:
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._streams.append(info["return_value"])

    def shut(self) -> None:
        """End what is under way."""
        for stream in list(self._streams):
            with contextlib.suppress(Exception):
                stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


def _usable(response: Any) -> Any:
    """Return the completion with text and token numbers in it. Raises UnusableAnswer."""
    choices = getattr(response, "choices", None)
    message = getattr(choices[0], "message", None) if isinstance(choices, list) and choices else None
    if message is None:
        raise UnusableAnswer("gave no chat completion. Is the address right, and does it end in /v1?")
    if not isinstance(message.content, str) or not message.content.strip():
        message.content = _EMPTY  # smolagents takes an empty text for a program that does nothing
    usage = getattr(response, "usage", None)
    given, made = (_tokens(getattr(usage, name, None)) for name in ("prompt_tokens", "completion_tokens"))
    response.usage = CompletionUsage(prompt_tokens=given, completion_tokens=made, total_tokens=given + made)
    return response


def _tokens(said: Any) -> int:
    """Return a number of tokens; 0 where the server does not say."""
    return min(max(said, 0), _MOST_TOKENS) if isinstance(said, int) else 0


def http_client(sockets: OpenSockets, timeout: openai.Timeout) -> Any:
    """Return the HTTP client for a model. It follows no redirect: one could lead past the check of the address."""
    return openai.DefaultHttpxClient(
        follow_redirects=False, timeout=timeout, event_hooks={"request": [sockets.follow]}
    )

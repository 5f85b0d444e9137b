"""One POST of JSON, bounded in time and size, without redirects. Standard library only."""

from __future__ import annotations

import http.client
import json
import queue
import threading
import urllib.error
import urllib.request
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from .wire import HubError

MAX_RESPONSE_BYTES = 4 * 1024 * 1024
# Answers that will be the same next time. Everything else (a key not yet valid, a hub behind a proxy) may mend.
_FINAL_REFUSALS = frozenset({400, 405, 406, 409, 410, 413, 414, 415, 422})


class HubUnavailableError(HubError):
    """No usable answer now; the same request may work later."""


class HubRefusedError(HubError):
    """The hub understood and said no; asking again is no use."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to whatever address the answer names."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


def is_loopback(url: str) -> bool:
    """Whether the URL is of this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


class Transport:
    """Posts JSON with a key to one hub."""

    def __init__(self, base_url: str, key: str, user_agent: str) -> None:
        self.base_url = base_url
        self._headers = {
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": user_agent,
        }
        handlers: list[urllib.request.BaseHandler] = [_NoRedirects()]
        if is_loopback(base_url):
            handlers.append(urllib.request.ProxyHandler({}))  # no proxy can reach this machine's loopback
        self._opener = urllib.request.build_opener(*handlers)

    def post(self, path: str, body: Any, timeout: float, idempotency_key: str | None = None) -> Any:
        """The JSON answer. `timeout` (seconds) bounds each wait on the network.

        Raises HubUnavailableError or HubRefusedError, nothing else.
        """
        headers = dict(self._headers)
        if idempotency_key:
            headers["Idempotency-Key"] = idempotency_key
        try:
            data = json.dumps(body, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise HubRefusedError(f"not JSON: {error}") from error
        # http and https only: HttpHub has checked the address
        request = urllib.request.Request(  # noqa: S310
            self.base_url + path, data=data, headers=headers, method="POST"
        )
        try:
            with self._opener.open(request, timeout=timeout) as response:
                content = response.read(MAX_RESPONSE_BYTES + 1)
        except urllib.error.HTTPError as error:
            with error:
                message = f"HTTP {error.code}{_detail(error)}"
            raise (HubRefusedError if error.code in _FINAL_REFUSALS else HubUnavailableError)(
                message
            ) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            raise HubUnavailableError(f"{type(error).__name__}: {reason}") from error
        if len(content) > MAX_RESPONSE_BYTES:
            raise HubUnavailableError("the answer is larger than 4 MB")
        try:
            return json.loads(content) if content.strip() else None
        except (ValueError, RecursionError) as error:
            raise HubUnavailableError("the answer is not JSON") from error

    def post_within(self, path: str, body: Any, timeout: float) -> Any:
        """The same, bounded as a whole: names that do not resolve and answers that trickle cannot hold us longer."""
        answers: queue.SimpleQueue[tuple[Any, HubError | None]] = queue.SimpleQueue()

        def work() -> None:
            try:
                answers.put((self.post(path, body, timeout), None))
            except HubError as error:
                answers.put((None, error))

        threading.Thread(target=work, name="memory-hub-request", daemon=True).start()
        try:
            answer, error = answers.get(timeout=timeout)
        except queue.Empty:
            raise HubUnavailableError(f"no answer within {timeout:g} s") from None
        if error is not None:
            raise error
        return answer


def _detail(error: urllib.error.HTTPError) -> str:
    """What a problem+json answer says, shortened; for the log only."""
    try:
        problem = json.loads(error.read(20_000))
        detail = problem.get("detail") or problem.get("title") or problem.get("code")
    except Exception:  # noqa: BLE001 - a broken answer to a broken request
        return ""
    return f": {' '.join(str(detail).split())[:200]}" if detail else ""

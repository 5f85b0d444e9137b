"""`HttpHub`: the Hub protocol over the REST API of a Memory Hub server.

Questions are asked within `timeout` seconds or not at all: after a failure the hub is left alone for a while, so a
dead hub costs a run one timeout. Records are sent behind the user's back, in a thread that outlives the script's
last line, and kept in a spool when that fails.
"""

from __future__ import annotations

import logging
import re
import threading
import time
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from .redact import redact_json
from .spool import Spool, default_spool_root
from .transport import HubRefusedError, HubUnavailableError, Transport, is_loopback
from .types import ErrorQuery, LessonHint, OutcomeReport, RecallQuery, RecallResult, RunRecord
from .version import __version__
from .wire import HubError, error_body, first_lesson, outcome_body, recall_body, recall_result

logger = logging.getLogger("memory_hub_client")

_PAUSE_SECONDS = 30.0  # how long the hub is left alone after a failure
_RECORD_TIMEOUT = 10.0  # nobody waits for it, and a record is larger than a question
_SENT_AT_ONCE = 50  # kept requests sent in one go, so that a backlog does not hold up the end of a script
_PROJECT = re.compile(r"[A-Za-z0-9_-]+/[A-Za-z0-9_-]+")


class HubPausedError(HubUnavailableError):
    """Not asked: the hub has just failed."""

    already_logged = True


class HttpHub:
    """A project of a Memory Hub server.

    base_url:  "https://hub.example.org", without "/api".
    key:       an API key of the project ("mh_...").
    project:   "team/project".
    timeout:   seconds that one question may cost.
    spool_dir: where unsent records wait; default: the user's cache folder.

    Raises ValueError for arguments that cannot be right, so that a typing error is seen at once.
    """

    def __init__(
        self, base_url: str, key: str, project: str, timeout: float = 3.0, spool_dir: str | Path | None = None
    ) -> None:
        base_url = base_url.rstrip("/")
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise ValueError('base_url must look like "https://hub.example.org"')
        if not _PROJECT.fullmatch(project):
            raise ValueError('project must look like "team/project"')
        if not key or not key.isascii() or not key.isprintable() or " " in key:
            raise ValueError("key must be an API key of the hub")
        if not timeout > 0:
            raise ValueError("timeout must be more than 0 seconds")
        if parts.scheme == "http" and not is_loopback(base_url):
            logger.warning("The key and the code travel unencrypted to %s: use https", parts.hostname)
        self.base_url, self.project, self.timeout = base_url, project, timeout
        self._key = key
        self._transport = Transport(base_url, key, f"memory-hub-client/{__version__}")
        self._spool = Spool(Path(spool_dir) if spool_dir else default_spool_root(), base_url, project)
        self._paused_until = 0.0
        self._sending = threading.Lock()
        self._threads: set[threading.Thread] = set()
        if len(self._spool):
            self._start(self._send_kept, daemon=True)

    def __repr__(self) -> str:
        return f"HttpHub({self.base_url!r}, project={self.project!r})"

    # ------------------------------------------------------------------ questions

    def recall(self, query: RecallQuery) -> RecallResult:
        """Ask for solutions. Raises HubError within about `timeout` seconds when there is no usable answer."""
        return recall_result(self._ask(recall_body(query)))

    def lookup_error(self, query: ErrorQuery) -> LessonHint | None:
        """Ask for the known fix of an error. Raises HubError as `recall` does."""
        return first_lesson(self._ask(error_body(query)))

    def _ask(self, body: dict[str, Any]) -> dict[str, Any]:
        if self._paused():
            raise HubPausedError("the hub has just failed and is left alone for a while")
        path = f"/api/v1/projects/{self.project}/recall/"
        try:
            answer = self._transport.post_within(path, redact_json(body, self._key), self.timeout)
        except HubUnavailableError:
            self._pause()
            raise
        if not isinstance(answer, dict):
            self._pause()
            raise HubError("the hub's answer is not a JSON object")
        return answer

    def _paused(self) -> bool:
        return time.monotonic() < self._paused_until

    def _pause(self) -> None:
        self._paused_until = time.monotonic() + _PAUSE_SECONDS

    # ------------------------------------------------------------------ records

    def record(self, record: RunRecord) -> None:
        """Send a run in the background; kept and sent later when the hub cannot take it. Returns at once."""
        self._send_soon(f"/api/v1/projects/{self.project}/runs/record/", record.as_json())

    def report(self, report: OutcomeReport) -> None:
        """Send the outcome of a recall, as `record` does."""
        self._send_soon(f"/api/v1/recalls/{quote(report.recall_id, safe='')}/outcome/", outcome_body(report))

    def flush(self, timeout: float = 30.0) -> bool:
        """Wait for what is being sent; whether nothing is left to send (neither under way nor kept)."""
        end = time.monotonic() + timeout
        for thread in list(self._threads):
            thread.join(max(0.0, end - time.monotonic()))
        return not self._threads and not len(self._spool)

    def _send_soon(self, path: str, body: dict[str, Any]) -> None:
        entry = {
            "path": path,
            # The same for every attempt, so that a record that did arrive is not taken twice.
            "idempotency_key": uuid.uuid4().hex,
            "body": redact_json(body, self._key),
        }
        if not self._start(lambda: self._send(entry), daemon=False):
            self._keep(entry)

    def _start(self, work: Any, *, daemon: bool) -> bool:
        def run() -> None:
            try:
                work()
            except Exception:
                logger.exception("Memory hub: sending failed")
            finally:
                self._threads.discard(thread)

        thread = threading.Thread(target=run, name="memory-hub-send", daemon=daemon)
        self._threads.add(thread)
        try:
            thread.start()
        except RuntimeError:  # no thread to be had, or the interpreter is going down
            self._threads.discard(thread)
            return False
        return True

    def _send(self, entry: dict[str, Any]) -> None:
        if self._paused():
            self._keep(entry)
            return
        try:
            self._transport.post(
                entry["path"], entry["body"], max(_RECORD_TIMEOUT, self.timeout), entry["idempotency_key"]
            )
        except HubRefusedError as error:
            logger.warning("Memory hub refused a record, it is dropped: %s", error)
        except HubUnavailableError as error:
            self._pause()
            logger.warning("Memory hub could not be reached, the record is kept and sent later: %s", error)
            self._keep(entry)
        else:
            self._send_kept()

    def _keep(self, entry: dict[str, Any]) -> None:
        try:
            if not self._spool.add(entry):
                logger.warning("A record is too large to be kept and is dropped")
        except OSError as error:
            logger.warning("A record could not be kept in %s and is dropped: %s", self._spool.folder, error)

    def _send_kept(self) -> None:
        if not self._sending.acquire(blocking=False):
            return  # another thread is at it
        try:
            for count, (path, entry) in enumerate(self._spool.entries()):
                if count >= _SENT_AT_ONCE:
                    break
                try:
                    self._transport.post(
                        str(entry.get("path")),
                        entry.get("body"),
                        max(_RECORD_TIMEOUT, self.timeout),
                        str(entry.get("idempotency_key")),
                    )
                except HubRefusedError as error:
                    logger.warning("Memory hub refused a kept record, it is dropped: %s", error)
                self._spool.remove(path)
        except HubUnavailableError as error:
            logger.debug("Kept records stay for later: %s", error)
        finally:
            self._sending.release()

"""The live log of runs for everybody who watches in this process: one subscription, one short read per run and wake.

A watcher's generator never touches the database. One task (the pump) is woken by Redis or by the clock, reads in a
thread what the watched runs have new, gives the connection back, and appends it to a log in memory that all watchers
of a run share; each goes through it at its own pace. A dead Redis costs nothing but up to POLL_SECONDS of delay.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar
from uuid import UUID
from weakref import WeakKeyDictionary

import redis.asyncio
from django.conf import settings
from django.db import connection
from redis import RedisError

from memory_hub.access.actor import as_system
from memory_hub.common.errors import HubError
from memory_hub.common.sse import OPENING, PING, sse_message

from .channel import PREFIX
from .models import Run, RunEvent

_Result = TypeVar("_Result")

logger = logging.getLogger(__name__)

POLL_SECONDS = 2.0
PING_SECONDS = 15.0
RECHECK_SECONDS = 60.0
# A browser shows a run in a tab or two; a person with more than this has a program that leaks connections.
STREAMS_PER_PERSON = 60


class TooManyStreamsError(HubError):
    """The person follows more runs at once than one process gives to one person."""

    status = 429
    code = "too_many_streams"


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One entry of a run's log with its step, and the run as it was when this entry was the last one or later."""

    event: RunEvent
    run: Run
    # The last event of each kind up to this one: what was recalled is still to be shown when the run ends.
    moments: Mapping[str, RunEvent]
    # What the entry became for those who show it, by kind of showing, so that many watchers cost one rendering.
    shown: dict[str, "asyncio.Future[str]"] = field(default_factory=dict, compare=False)

    async def text(self, render: "Render", shown_as: str) -> str:
        """Return what `render` makes of this entry, made once."""
        if shown_as not in self.shown:
            self.shown[shown_as] = asyncio.ensure_future(
                asyncio.to_thread(_without_keeping_a_connection, partial(render, self))
            )
        # Shielded: a watcher that leaves must not take the text from the others.
        return await asyncio.shield(self.shown[shown_as])


Render = Callable[[LogEntry], str]


class _Log:
    """What is known of one watched run, in order; entry n has sequence n + 1."""

    def __init__(self) -> None:
        self.entries: list[LogEntry] = []
        self.watchers = 0
        self.changed = asyncio.Event()

    @property
    def is_settled(self) -> bool:
        return bool(self.entries) and self.entries[-1].run.is_settled

    def extend(self, events: Iterable[RunEvent]) -> None:
        for event in events:
            if event.sequence == len(self.entries) + 1:  # a read may overlap the one before
                earlier = self.entries[-1].moments if self.entries else {}
                self.entries.append(LogEntry(event, event.run, {**earlier, event.kind: event}))
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()


async def follow(
    run_id: UUID,
    *,
    after: int,
    person_id: UUID,
    render: Render,
    shown_as: str,
    event_name: Callable[[LogEntry], str],
    still_allowed: Callable[[], bool],
) -> AsyncIterator[bytes]:
    """Yield the messages of a run's log from behind sequence `after` until the run is settled, then "end".

    `render` makes an entry's text, in a thread and without the database, once for all watchers with the same
    `shown_as`. `still_allowed` is asked in a thread every RECHECK_SECONDS; the stream ends when it says no.
    """
    feed = _broadcaster()
    log = feed.enter(run_id)
    _streams[person_id] += 1
    position, checked = after, time.monotonic()
    try:
        yield OPENING
        while True:
            changed = log.changed  # before looking, so that nothing can come between
            for entry in log.entries[position:]:
                text = await entry.text(render, shown_as)
                yield sse_message(text, event=event_name(entry), sequence=entry.event.sequence)
                position += 1
            if log.is_settled and position >= len(log.entries):
                yield sse_message("settled", event="end")
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), PING_SECONDS)
            if not changed.is_set():
                yield PING
            if time.monotonic() - checked > RECHECK_SECONDS:
                if not await asyncio.to_thread(_without_keeping_a_connection, still_allowed):
                    return
                checked = time.monotonic()
    finally:
        _streams[person_id] -= 1
        feed.leave(run_id)


def require_room(person_id: UUID) -> None:
    """Raise TooManyStreamsError where the person may not follow another run in this process now."""
    if _streams[person_id] >= STREAMS_PER_PERSON:
        raise TooManyStreamsError(f"You follow {STREAMS_PER_PERSON} runs at once; close some of those pages.")


def release_connection() -> None:
    """Give this thread's database connection back before a response is streamed, which may take hours.

    Not within a transaction of somebody's (a test's): closing would end it.
    """
    if not connection.in_atomic_block:
        connection.close()


class Broadcaster:
    """All live logs of one event loop. Works only while somebody watches."""

    def __init__(self) -> None:
        self._logs: dict[UUID, _Log] = {}
        self._stale: set[UUID] = set()
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def enter(self, run_id: UUID) -> _Log:
        """Begin to watch a run; its log fills from now on."""
        log = self._logs.setdefault(run_id, _Log())
        log.watchers += 1
        self._stale.add(run_id)
        self._wake.set()
        if not self._tasks:
            self._tasks = [asyncio.create_task(self._pump()), asyncio.create_task(self._listen())]
        return log

    def leave(self, run_id: UUID) -> None:
        """Watch no longer; the last one out turns everything off."""
        log = self._logs[run_id]
        log.watchers -= 1
        if not log.watchers:
            del self._logs[run_id]
            self._stale.discard(run_id)
        if not self._logs:
            for task in self._tasks:
                task.cancel()
            self._tasks = []

    async def _pump(self) -> None:
        """Read what is new: at once for runs that Redis named, every POLL_SECONDS for all of them."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), POLL_SECONDS)
            wanted = self._stale if self._wake.is_set() else set(self._logs)
            self._wake.clear()
            self._stale = set()
            for run_id in wanted:
                log = self._logs.get(run_id)
                if log is None:
                    continue
                try:
                    log.extend(await asyncio.to_thread(_read, run_id, len(log.entries)))
                except Exception:
                    logger.exception("The log of run %s could not be read now", run_id)

    async def _listen(self) -> None:
        """Hear which runs have something new. Whatever happens here, the pump polls."""
        while True:
            try:
                async with (
                    redis.asyncio.Redis.from_url(settings.REDIS_URL) as client,
                    client.pubsub() as subscription,
                ):
                    await subscription.psubscribe(f"{PREFIX}*")
                    async for message in subscription.listen():
                        if message["type"] == "pmessage":
                            self._named(message["channel"].decode().removeprefix(PREFIX))
            except (RedisError, OSError) as error:
                logger.warning("Live pages poll for a moment, since Redis does not answer: %s", error)
            await asyncio.sleep(POLL_SECONDS)

    def _named(self, run_id: str) -> None:
        with suppress(ValueError):
            if UUID(run_id) in self._logs:
                self._stale.add(UUID(run_id))
                self._wake.set()


_broadcasters: "WeakKeyDictionary[asyncio.AbstractEventLoop, Broadcaster]" = WeakKeyDictionary()
_streams: Counter[UUID] = Counter()


def _broadcaster() -> Broadcaster:
    return _broadcasters.setdefault(asyncio.get_running_loop(), Broadcaster())


def _read(run_id: UUID, after: int) -> list[RunEvent]:
    """Return the events behind `after`, each with its step, and with the run as the same statement saw it."""

    def read() -> list[RunEvent]:
        with as_system():
            events = RunEvent.objects.filter(run_id=run_id, sequence__gt=after).select_related("step", "run")
            return list(events.order_by("sequence"))

    return _without_keeping_a_connection(read)


def _without_keeping_a_connection(deed: Callable[[], _Result]) -> _Result:
    try:
        return deed()
    finally:
        connection.close()  # to the pool; this thread may wait long for its next deed

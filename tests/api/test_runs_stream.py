"""The log of a run live, from a real server: complete, in order, at once, and for many at a time."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import httpx
import psycopg
import pytest
from django.conf import settings as hub_settings

from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.models import ApiKey, ProjectMembership
from memory_hub.access.services.keys import key_revoke
from memory_hub.runs import channel, feed
from memory_hub.runs.models import Run
from memory_hub.runs.services import Captured, run_cancel, run_captured
from tests.cast import Cast
from tests.live_hub import Message, parsed, read_stream, serving
from tests.services.runs_support import claimed, end, make_connection, start, take_step


@pytest.fixture
def hub(committed_cast: Cast) -> Iterator[str]:
    with serving() as address:
        yield address


@pytest.fixture
def bob(committed_cast: Cast) -> dict[str, str]:
    """The headers of bob's key."""
    return {"Authorization": f"Bearer {committed_cast.key(committed_cast.bob)}"}


@pytest.fixture
def run(committed_cast: Cast) -> Run:
    return claimed(start(committed_cast.bob, make_connection(committed_cast.project)))


def events_of(hub: str, run: Run, query: str = "") -> str:
    return f"{hub}/api/v1/runs/{run.id}/events/{query}"


def finish(run: Run, steps: range, pause: float = 0.0) -> None:
    """Take these steps, end the run and capture it."""
    for number in steps:
        take_step(run, number)
        time.sleep(pause)
    end(run)
    run_captured(run_id=run.id, solutions=[Captured(run.id, "Sum")])


def sequences(messages: list[Message]) -> list[int | None]:
    return [message.id for message in messages]


def test_a_watcher_sees_each_event_once_and_then_the_end(hub: str, bob: dict[str, str], run: Run) -> None:
    with ThreadPoolExecutor() as threads:
        watching = threads.submit(read_stream, events_of(hub, run), headers=bob)
        time.sleep(0.3)
        finish(run, range(1, 4), pause=0.05)
        seen = watching.result(timeout=20)
    assert sequences(seen) == [1, 2, 3, 4, 5, 6, 7, None]
    assert [message.event for message in seen] == [
        "queued", "started", "step", "step", "step", "ended", "captured", "end",
    ]  # fmt: skip
    assert seen[2].json["step"]["code"] == "print(1)"


def test_a_settled_run_is_told_from_its_beginning(hub: str, bob: dict[str, str], run: Run) -> None:
    finish(run, range(1, 3))
    assert sequences(read_stream(events_of(hub, run), headers=bob)) == [1, 2, 3, 4, 5, 6, None]
    assert sequences(read_stream(events_of(hub, run, "?after=6"), headers=bob)) == [None]
    assert sequences(read_stream(events_of(hub, run, "?after=99"), headers=bob)) == [None]


def test_a_watcher_that_was_cut_off_goes_on_where_it_stopped(hub: str, bob: dict[str, str], run: Run) -> None:
    with ThreadPoolExecutor() as threads:
        first = threads.submit(read_stream, events_of(hub, run), headers=bob, stop=3)
        take_step(run, 1)
        seen = first.result(timeout=20)
        take_step(run, 2)  # while nobody watches
        again = threads.submit(
            read_stream, events_of(hub, run), headers={**bob, "Last-Event-ID": str(seen[-1].id)}
        )
        time.sleep(0.2)
        finish(run, range(3, 5))
        rest = again.result(timeout=20)
    assert sequences(seen + rest) == [1, 2, 3, 4, 5, 6, 7, 8, None]


def test_two_watchers_see_the_same(hub: str, bob: dict[str, str], run: Run) -> None:
    with ThreadPoolExecutor() as threads:
        early = threads.submit(read_stream, events_of(hub, run), headers=bob)
        take_step(run, 1)
        time.sleep(0.3)
        late = threads.submit(read_stream, events_of(hub, run), headers=bob)
        time.sleep(0.2)
        finish(run, range(2, 5), pause=0.05)
        first, second = early.result(timeout=20), late.result(timeout=20)
    assert [(message.id, message.data) for message in first] == [
        (message.id, message.data) for message in second
    ]


def test_a_step_appears_at_once(hub: str, bob: dict[str, str], run: Run) -> None:
    delays = []
    with httpx.stream(
        "GET", events_of(hub, run), headers={**bob, "Accept": "text/event-stream"}, timeout=20
    ) as answer:
        messages = parsed(answer)
        for _ in range(2):
            next(messages)
        for number in range(1, 6):
            time.sleep(0.1)
            take_step(run, number)
            written = time.monotonic()
            delays.append(next(messages).at - written)
    assert sorted(delays)[2] < 0.3, delays  # half of POLL_SECONDS would be a second


@pytest.fixture
def no_redis(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An address at which no Redis answers, for those who publish and those who listen."""
    settings.REDIS_URL = "unix:///nonexistent/redis.sock"
    channel._client.cache_clear()
    monkeypatch.setattr(channel, "_rests_until", 0.0)
    yield
    channel._client.cache_clear()


def test_without_redis_nothing_is_missed(hub: str, no_redis: None, bob: dict[str, str], run: Run) -> None:
    started = time.monotonic()
    with ThreadPoolExecutor() as threads:
        watching = threads.submit(read_stream, events_of(hub, run), headers=bob)
        finish(run, range(1, 4), pause=0.5)
        seen = watching.result(timeout=20)
    assert sequences(seen) == [1, 2, 3, 4, 5, 6, 7, None]
    assert time.monotonic() - started < 1.5 + 2 * feed.POLL_SECONDS + 2


def test_fifty_watchers_pin_no_connection_while_pages_answer(
    hub: str, bob: dict[str, str], run: Run, owner_connection: psycopg.Connection[Any]
) -> None:
    def connections() -> int:
        row = owner_connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = %s",
            [hub_settings.APP_DATABASE_USER],
        ).fetchone()
        assert row is not None
        return int(row[0])

    limit = hub_settings.DATABASES["default"]["OPTIONS"]["pool"]["max_size"]
    with ThreadPoolExecutor(60) as threads:
        watching: list[Future[list[Message]]] = [
            threads.submit(read_stream, events_of(hub, run), headers=bob, timeout=60) for _ in range(50)
        ]
        deadline = time.monotonic() + 30
        while sum(feed._streams.values()) < 50:
            assert time.monotonic() < deadline, "fifty watchers did not get in"
            time.sleep(0.05)
        slowest = 0.0
        for number in range(1, 6):
            take_step(run, number)
            asked = time.monotonic()
            assert httpx.get(f"{hub}/api/v1/runs/{run.id}/", headers=bob, timeout=10).status_code == 200
            slowest = max(slowest, time.monotonic() - asked)
        during = connections()
        finish(run, range(6, 7))
        results = [stream.result(timeout=40) for stream in watching]
    assert {tuple(sequences(seen)) for seen in results} == {(*range(1, 11), None)}
    assert during <= limit
    assert slowest < 5, slowest
    with as_system():  # the pool still lends
        assert Run.objects.count() == 1


def test_one_person_cannot_take_every_place(
    hub: str, bob: dict[str, str], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "STREAMS_PER_PERSON", 1)
    headers = {**bob, "Accept": "text/event-stream"}
    with httpx.stream("GET", events_of(hub, run), headers=headers, timeout=20) as answer:
        messages = parsed(answer)
        next(messages)
        refused = httpx.get(events_of(hub, run), headers=headers, timeout=20)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_streams")
    finish(run, range(1, 2))
    deadline = time.monotonic() + 10
    while any(feed._streams.values()):  # the place is given back when the watcher is gone
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert read_stream(events_of(hub, run), headers=bob)


def test_a_silent_stream_is_kept_open_by_pings(
    hub: str, bob: dict[str, str], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "PING_SECONDS", 0.2)
    headers = {**bob, "Accept": "text/event-stream"}
    with httpx.stream("GET", events_of(hub, run), headers=headers, timeout=20) as answer:
        lines = answer.iter_lines()
        assert any(line == ": ping" for line, _ in zip(lines, range(40), strict=False))


@pytest.mark.parametrize("how", ["key revoked", "left the project", "run deleted"])
def test_who_may_no_longer_see_the_run_is_cut_off(
    hub: str, bob: dict[str, str], run: Run, committed_cast: Cast, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "RECHECK_SECONDS", 0.3)
    monkeypatch.setattr(feed, "PING_SECONDS", 0.2)
    with ThreadPoolExecutor() as threads:
        watching = threads.submit(read_stream, events_of(hub, run), headers=bob, timeout=15)
        time.sleep(0.5)
        actor = committed_cast.actor(committed_cast.bob)
        if how == "key revoked":
            with acting_as(actor):
                key_revoke(actor=actor, key=ApiKey.objects.get(owner=committed_cast.bob))
        else:
            with as_system():
                if how == "run deleted":
                    Run.objects.filter(id=run.id).delete()
                else:
                    ProjectMembership.objects.filter(user=committed_cast.bob).delete()
        seen = watching.result(timeout=15)
    assert "end" not in [message.event for message in seen]


def test_a_stream_of_others_is_not_there(hub: str, run: Run, committed_cast: Cast) -> None:
    mallory = {
        "Authorization": f"Bearer {committed_cast.key(committed_cast.mallory)}",
        "Accept": "text/event-stream",
    }
    answer = httpx.get(events_of(hub, run), headers=mallory, timeout=20)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_cancel_is_seen_live(hub: str, bob: dict[str, str], run: Run, committed_cast: Cast) -> None:
    actor = committed_cast.actor(committed_cast.bob)
    with ThreadPoolExecutor() as threads:
        watching = threads.submit(read_stream, events_of(hub, run), headers=bob)
        with acting_as(actor):
            run_cancel(actor=actor, run=run)
        end(run, Run.State.CANCELLED, reason="Cancelled while it ran.")
        seen = watching.result(timeout=20)
    assert [message.event for message in seen] == ["queued", "started", "cancel_requested", "ended", "end"]
    assert seen[3].json["data"]["state"] == "cancelled"


def test_the_last_watcher_turns_everything_off(hub: str, bob: dict[str, str], run: Run) -> None:
    before = threading.active_count()
    finish(run, range(1, 2))
    for _ in range(3):
        read_stream(events_of(hub, run), headers=bob)
    deadline = time.monotonic() + 10
    while any(broadcaster._logs or broadcaster._tasks for broadcaster in feed._broadcasters.values()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert threading.active_count() < before + 12

"""The live run page, from a real server: what arrives by message is what a reload shows, piece by piece the same."""

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import httpx
import pytest
from django.conf import settings
from django.test import Client

from memory_hub.access.actor import as_system
from memory_hub.access.models import User
from memory_hub.runs import feed
from memory_hub.runs.models import Run, RunEvent
from memory_hub.runs.services import Captured, event_append, run_captured, run_prepared, step_set_hint
from tests.cast import Cast
from tests.live_hub import Message, read_stream, serving
from tests.services.runs_support import claimed, end, make_connection, start, take_step


@pytest.fixture
def hub(committed_cast: Cast) -> Iterator[str]:
    with serving() as address:
        yield address


def session_of(person: User) -> dict[str, str]:
    """The headers of a browser in which the person is signed in."""
    client = Client()
    client.force_login(person)
    return {"Cookie": f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"}


@pytest.fixture
def bob(committed_cast: Cast) -> dict[str, str]:
    return session_of(committed_cast.bob)


@pytest.fixture
def run(committed_cast: Cast) -> Run:
    return claimed(start(committed_cast.bob, make_connection(committed_cast.project)))


def page_of(hub: str, run: Run, more: str = "") -> str:
    return f"{hub}/p/acme/ledger/runs/{run.id}/{more}"


def live_through(run: Run) -> None:
    """Let everything happen in the run that can."""
    run_prepared(run=run, sandbox="landlock", environment={"python": "3.11.7"})
    item = {"solution": str(uuid4()), "revision": "v1", "title": "Count rows", "rank": 1, "score": 0.8,
            "reason": "same words", "status": "approved", "verification": "passed", "entry_point": "count"}  # fmt: skip
    event_append(
        run=run, kind=RunEvent.Kind.RECALLED, data={"recall": "r", "no_match": False, "items": [item]}
    )
    step = take_step(
        run, 1, code="if x:\r\n    int('<b>')\n", error_type="ValueError", error_message="bad\rline"
    )
    step_set_hint(step=step, hint="Skip the header.")
    take_step(run, 2, is_final=True, value="3")
    end(run, answer='{"cats": 3}', used_revision_ids=["v1"])
    run_captured(run_id=run.id, solutions=[Captured(uuid4(), "Count cats")])


def pieces_of(html: str) -> dict[str, str]:
    """Return the parts of a run page that messages replace, and its steps, by id, without what differs by nature."""
    found = {}
    for name in ("run-progress", "run-memory", "run-result", "run-captured", "run-facts", "step-1", "step-2"):
        match = re.search(rf'<(\w+)[^>]*\bid="{name}"', html)
        assert match, name
        found[name] = re.sub(r"\s+", " ", element_at(html, match.start(), match[1]))
    return found


def element_at(html: str, begin: int, tag: str) -> str:
    """Return the element that begins there, to its own end tag."""
    depth = 0
    for match in re.finditer(rf"<(/?){tag}\b", html[begin:]):
        depth += -1 if match[1] else 1
        if depth == 0:
            return html[begin : begin + match.end()]
    raise AssertionError("no end tag")


def after_messages(messages: list[Message]) -> dict[str, str]:
    """Return each piece as the last message that had it left it."""
    found: dict[str, str] = {}
    for message in messages:
        for match in re.finditer(r'<(\w+)[^>]*\bid="(run-\w+|step-\d+)"', message.data):
            if match[2] in ("run-cancel",):
                continue
            found[match[2]] = re.sub(r"\s+", " ", element_at(message.data, match.start(), match[1]))
    return found


def test_what_arrives_live_is_what_a_reload_shows(hub: str, bob: dict[str, str], run: Run) -> None:
    with ThreadPoolExecutor() as threads:
        watching = threads.submit(read_stream, page_of(hub, run, "stream/?after=2"), headers=bob)
        time.sleep(0.3)
        live_through(run)
        messages = watching.result(timeout=20)
    assert [message.id for message in messages] == [3, 4, 5, 6, 7, 8, 9, None]
    assert [message.event for message in messages] == [""] * 7 + ["end"]
    reloaded = pieces_of(httpx.get(page_of(hub, run), headers=bob, timeout=20).text)
    live = after_messages(messages)
    assert {name: live[name] for name in reloaded} == reloaded


def test_each_step_is_appended_once(hub: str, bob: dict[str, str], run: Run) -> None:
    live_through(run)
    messages = read_stream(page_of(hub, run, "stream/"), headers=bob)
    appended = [message.id for message in messages if message.data.lstrip().startswith("<li")]
    with as_system():
        steps = list(RunEvent.objects.filter(run=run, kind="step").values_list("sequence", flat=True))
    assert appended == steps


def test_what_code_and_output_hold_is_shown_not_run(hub: str, bob: dict[str, str], run: Run) -> None:
    hostile = (
        "</code></pre><script>alert(1)</script><hx-partial hx-target='body'>x</hx-partial>\n\ndata: x\nid: 99"
    )
    take_step(
        run, 1, thought=hostile, code=hostile, observations=hostile, error_type="E", error_message=hostile
    )
    end(run, answer=hostile)
    run_captured(run_id=run.id, solutions=[Captured(uuid4(), hostile)])
    messages = read_stream(page_of(hub, run, "stream/"), headers=bob)
    assert [message.id for message in messages] == [1, 2, 3, 4, 5, None]
    for text in [*(message.data for message in messages), httpx.get(page_of(hub, run), headers=bob).text]:
        assert "<script>alert" not in text
        assert "<hx-partial hx-target='body'>" not in text


def test_a_person_who_signed_out_is_cut_off(
    hub: str, committed_cast: Cast, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "RECHECK_SECONDS", 0.3)
    monkeypatch.setattr(feed, "PING_SECONDS", 0.2)
    client = Client()
    client.force_login(committed_cast.bob)
    cookie = {
        "Cookie": f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
    }
    with ThreadPoolExecutor() as threads:
        watching = threads.submit(read_stream, page_of(hub, run, "stream/"), headers=cookie, timeout=15)
        time.sleep(0.6)
        assert not watching.done()
        client.logout()
        seen = watching.result(timeout=15)
    assert "end" not in [message.event for message in seen]


def test_a_stream_of_others_or_of_nobody_is_refused_without_a_form(
    hub: str, committed_cast: Cast, run: Run
) -> None:
    for headers, status in (
        ({}, 401),
        (session_of(committed_cast.mallory), 404),
        (session_of(committed_cast.carol), 404),
    ):
        answer = httpx.get(page_of(hub, run, "stream/"), headers=headers, timeout=20)
        assert answer.status_code == status
        assert "text/html" not in answer.headers["content-type"] or not answer.content


def test_fifty_people_watch_while_pages_answer(hub: str, bob: dict[str, str], run: Run) -> None:
    with ThreadPoolExecutor(60) as threads:
        watching = [
            threads.submit(read_stream, page_of(hub, run, "stream/"), headers=bob, timeout=60)
            for _ in range(50)
        ]
        deadline = time.monotonic() + 30
        while sum(feed._streams.values()) < 50:
            assert time.monotonic() < deadline, "fifty watchers did not get in"
            time.sleep(0.05)
        slowest = 0.0
        for number in range(1, 4):
            take_step(run, number)
            asked = time.monotonic()
            assert httpx.get(page_of(hub, run), headers=bob, timeout=10).status_code == 200
            slowest = max(slowest, time.monotonic() - asked)
        end(run)
        run_captured(run_id=run.id)
        results = [stream.result(timeout=40) for stream in watching]
    assert {tuple(message.id for message in seen) for seen in results} == {(1, 2, 3, 4, 5, 6, 7, None)}
    assert slowest < 5, slowest

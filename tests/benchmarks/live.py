"""Measures of the live run page: from a step's end to its arrival, and what fifty watchers cost everybody else.

python -m tests.benchmarks.live

The web server is a process of its own, as in production; this one is the worker that takes steps, and the browsers.
Every watcher is a page of a signed-in person, so that what arrives is the rendered step.
"""

from __future__ import annotations

import asyncio
import statistics
import threading
import time
from typing import Any

import httpx

from memory_hub.benchmark.scratch import percentile, scratch_hub, web_server

STEPS = 60
PAUSE_SECONDS = 0.1
WATCHERS = 50
PAGES = ("/", "/p/acme/ledger/", "/p/acme/ledger/runs/")
PAGE_SECONDS = 10.0


def main() -> None:
    """Print both measures."""
    with scratch_hub():
        from tests.cast import make_cast

        cast = make_cast()
        cookies = _signed_in(cast)
        with web_server() as address:
            for watchers in (1, WATCHERS):
                times = _arrivals(cast, address, cookies, watchers)
                print(
                    f"step's end to arrival, {watchers:2} watchers: median {statistics.median(times) * 1000:.0f} ms, "
                    f"p95 {percentile(times, 0.95) * 1000:.0f} ms ({len(times):,} arrivals)"
                )
            _pages(cast, address, cookies)


def _signed_in(cast: Any) -> dict[str, str]:
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(cast.bob)
    return {settings.SESSION_COOKIE_NAME: client.cookies[settings.SESSION_COOKIE_NAME].value}


def _running(cast: Any) -> Any:
    from tests.services.runs_support import claimed, make_connection, start

    return claimed(start(cast.bob, make_connection(cast.project, name=f"Rehearsal {time.monotonic_ns()}")))


def _end(run: Any) -> None:
    from memory_hub.runs.services import run_captured
    from tests.services.runs_support import end

    end(run)
    run_captured(run_id=run.id)


class Watchers:
    """Browsers in a thread: each follows the page's stream and notes when a step came."""

    def __init__(self, address: str, cookies: dict[str, str], run: Any, count: int) -> None:
        self.url = f"{address}/p/acme/ledger/runs/{run.id}/stream/"
        self.cookies, self.count = cookies, count
        self.came: list[tuple[int, float]] = []  # (sequence, when)
        self.connected = 0
        self.thread = threading.Thread(target=lambda: asyncio.run(self._all()), daemon=True)

    def __enter__(self) -> Watchers:
        self.thread.start()
        while self.connected < self.count:
            time.sleep(0.02)
        time.sleep(0.5)
        return self

    def __exit__(self, *_: object) -> None:
        self.thread.join(timeout=30)

    async def _all(self) -> None:
        limits = httpx.Limits(max_connections=self.count)
        async with httpx.AsyncClient(cookies=self.cookies, timeout=60, limits=limits) as client:
            await asyncio.gather(*(self._one(client) for _ in range(self.count)))

    async def _one(self, client: httpx.AsyncClient) -> None:
        headers = {"Accept": "text/event-stream"}
        async with client.stream("GET", self.url, headers=headers) as response:
            response.raise_for_status()
            self.connected += 1
            sequence, event = 0, ""
            async for line in response.aiter_lines():
                name, _, value = line.partition(": ")
                if name == "id":
                    sequence = int(value)
                elif name == "event":
                    event = value
                elif not line and sequence:
                    self.came.append((sequence, time.perf_counter()))
                    sequence = 0
                if event == "end":
                    return


def _arrivals(cast: Any, address: str, cookies: dict[str, str], watchers: int) -> list[float]:
    from tests.services.runs_support import take_step

    run = _running(cast)
    ends: dict[int, float] = {}
    with Watchers(address, cookies, run, watchers) as them:
        for number in range(1, STEPS + 1):
            ends[number + 2] = time.perf_counter()  # queued and started came before
            take_step(
                run, number, code="for n in range(3):\n    print(n)\n" * 10, observations="0\n1\n2\n" * 10
            )
            time.sleep(PAUSE_SECONDS)
        _end(run)
    times = [when - ends[sequence] for sequence, when in them.came if sequence in ends]
    assert len(times) == STEPS * watchers, f"{len(times)} arrivals"
    return times


def _pages(cast: Any, address: str, cookies: dict[str, str]) -> None:
    """Page times without watchers, with a run that takes steps, and with fifty watchers of it."""
    _measure_pages(address, cookies, seconds=2.0)  # everything is loaded
    _tell("no run", _measure_pages(address, cookies))
    for watchers in (0, WATCHERS):
        run = _running(cast)
        stop = threading.Event()
        worker = threading.Thread(target=_take_steps, args=(run, stop), daemon=True)
        if watchers:
            with Watchers(address, cookies, run, watchers):
                worker.start()
                times = _measure_pages(address, cookies)
                stop.set()
                worker.join()
                _end(run)
        else:
            worker.start()
            times = _measure_pages(address, cookies)
            stop.set()
            worker.join()
            _end(run)
        _tell(f"a step a second, {watchers} watchers", times)


def _take_steps(run: Any, stop: threading.Event) -> None:
    from django.db import connection

    from tests.services.runs_support import take_step

    number = 0
    while not stop.wait(1.0):
        number += 1
        take_step(run, number)
    connection.close()


def _measure_pages(address: str, cookies: dict[str, str], seconds: float = PAGE_SECONDS) -> list[float]:
    times = []
    with httpx.Client(cookies=cookies, timeout=30) as client:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for page in PAGES:
                began = time.perf_counter()
                client.get(address + page).raise_for_status()
                times.append(time.perf_counter() - began)
    return times


def _tell(title: str, times: list[float]) -> None:
    print(
        f"pages, {title}: p50 {percentile(times, 0.5) * 1000:.0f} ms, p95 {percentile(times, 0.95) * 1000:.0f} ms "
        f"({len(times)} pages)"
    )


if __name__ == "__main__":
    main()

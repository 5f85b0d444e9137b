"""An attached agent and a hub behind real HTTP: up, down, slow, wrong. The run always goes on, with the same answer."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_hub_client import HttpHub, attach
from tests.runner.attach_cast import SLUG, HttpServer, code_agent, step

KEY = "mh_" + "k" * 40
CALL = step("final_answer(slug('Big News'))")
OFFER = {
    "id": "recall-1",
    "no_match": False,
    "items": [
        {"revision": "rev-1", "solution": "sol-1", "title": "Slugs", "score": 0.8, "rank": 1, "code": SLUG}
    ],
    "block": "A proven way.",
    "callables": [{"name": "slug", "signature": "slug(text)", "source": SLUG, "revision": "rev-1"}],
}


@pytest.fixture
def server() -> Iterator[HttpServer]:
    server = HttpServer()
    yield server
    server.close()


def hub_at(url: str, folder: Path, timeout: float = 3.0) -> HttpHub:
    return HttpHub(url, key=KEY, project="team/project", timeout=timeout, spool_dir=folder)


def test_a_whole_run_over_http(server: HttpServer, tmp_path: Path):
    server.replies["/recall/"] = (
        200,
        OFFER | {"lessons": [{"id": "lesson-1", "title": "No json", "text": "Use ast instead."}]},
    )
    hub = hub_at(server.url, tmp_path)
    agent = attach(code_agent(step("import json"), CALL), hub)
    assert agent.run("Make a slug") == "big-news"
    agent.report(success=True, metric={"rows": 3})
    assert hub.flush()
    recall, error = server.bodies("/projects/team/project/recall/")
    assert recall == {
        "task": "Make a slug",
        "error": None,
        "sandbox": "local",
        "top_k": 3,
        "max_tokens": 2000,
    }
    assert "task" not in error
    assert (error["error"]["type"], error["error"]["failing_line"]) == ("InterpreterError", "import json")
    assert "Use ast instead." in agent.model.prompts[1]
    [record] = server.bodies("/projects/team/project/runs/record/")
    assert (record["outcome"], record["answer"], record["used_revision_ids"]) == (
        "succeeded",
        "big-news",
        ["rev-1"],
    )
    [outcome] = server.bodies("/api/v1/recalls/recall-1/outcome/")
    assert (outcome["used"], outcome["outcome"], outcome["metrics"][0]["value"]) == (
        ["rev-1"],
        "success",
        3.0,
    )
    assert all(headers["Authorization"] == f"Bearer {KEY}" for _, headers, _ in server.requests)
    keys = [
        headers.get("Idempotency-Key")
        for path, headers, _ in server.requests
        if not path.endswith("/recall/")
    ]
    assert None not in keys
    assert len(set(keys)) == 2


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, {"detail": "oops"}),
        (401, {"detail": "unknown key"}),
        (404, {}),
        (302, {}),
        (200, b"<html>a proxy</html>"),
        (200, [1, 2]),
        (200, {"items": "many", "no_match": False}),
        (200, {"items": [3], "callables": None}),
        (200, {"block": {"text": "x"}, "no_match": False}),
        (200, b""),
    ],
)
def test_a_hub_that_answers_wrongly_changes_nothing(
    server: HttpServer, tmp_path: Path, status: int, body: Any
):
    server.replies["/recall/"] = (status, body)
    server.headers["Location"] = f"{server.url}/elsewhere"
    agent = attach(code_agent(step("import json"), step("final_answer(42)")), hub_at(server.url, tmp_path))
    assert agent.run("x") == 42
    assert agent.memory.steps[0].task == "x"
    assert not any(path == "/elsewhere" for path, _, _ in server.requests)  # the key follows no redirect


def test_a_dead_hub_costs_no_wait_and_the_record_arrives_later(tmp_path: Path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    hub = hub_at(url, tmp_path)
    started = time.monotonic()
    assert attach(code_agent(step("import json"), step("final_answer(42)")), hub).run("x") == 42
    assert time.monotonic() - started < 2
    assert not hub.flush()  # kept
    [kept] = tmp_path.rglob("*.json")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert KEY not in kept.read_text()


def test_a_silent_hub_costs_one_timeout_per_run(server: HttpServer, tmp_path: Path):
    server.delay = 5
    errors = [step(f"import {name}") for name in ("json", "csv", "os")]
    agent = attach(code_agent(*errors, step("final_answer(42)")), hub_at(server.url, tmp_path, timeout=0.5))
    started = time.monotonic()
    assert agent.run("x") == 42
    assert 0.4 < time.monotonic() - started < 1.5
    assert len(server.requests) == 1


def test_kept_records_are_sent_when_the_next_script_starts(server: HttpServer, tmp_path: Path):
    server.replies["/record/"] = (503, {})
    hub = hub_at(server.url, tmp_path)
    attach(code_agent(step("final_answer(1)")), hub).run("x")
    hub.flush()
    server.replies["/record/"] = (201, {})
    again = hub_at(server.url, tmp_path)
    assert again.flush()
    first, second = [headers for path, headers, _ in server.requests if path.endswith("/record/")]
    assert first["Idempotency-Key"] == second["Idempotency-Key"]
    assert list(tmp_path.rglob("*.json")) == []


def test_the_record_of_a_script_that_ends_at_once_still_arrives(server: HttpServer, tmp_path: Path):
    server.delay = 0.3
    script = f"""
from memory_hub_client import HttpHub, attach
from tests.runner.attach_cast import code_agent, step
hub = HttpHub({server.url!r}, key={KEY!r}, project="team/project", spool_dir={str(tmp_path)!r})
attach(code_agent(step("final_answer(42)")), hub).run("x")
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
    assert [body["answer"] for body in server.bodies("/record/")] == [42]


def test_secrets_do_not_leave(server: HttpServer, tmp_path: Path):
    hub = hub_at(server.url, tmp_path)
    code = (
        "password = 'hunter2hunter2'\nurl = 'postgres://me:hunter3@db/x'\nfinal_answer('sk-" + "a" * 30 + "')"
    )
    attach(code_agent(step(code)), hub).run(f"Use {KEY} to log in")
    assert hub.flush()
    sent = str(server.requests[0][2]) + str(server.bodies("/record/"))
    assert "hunter2" not in sent
    assert "hunter3" not in sent
    assert "sk-a" not in sent
    assert KEY not in sent
    assert "[masked]" in sent

"""HttpHub by itself: arguments, answers, refusals, and the spool."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_hub_client import ErrorQuery, HttpHub, Hub, HubError, RecallQuery, ReportingHub, RunRecord
from memory_hub_client import spool as spool_module
from memory_hub_client.spool import Spool, default_spool_root
from tests.runner.attach_cast import HttpServer

KEY = "mh_" + "k" * 40
RECORD = RunRecord(task="x", steps=(), outcome="succeeded")
ERROR = ErrorQuery("ValueError", "no", "f()", "", "f()", "recall-1", "local")


@pytest.fixture
def server() -> Iterator[HttpServer]:
    server = HttpServer()
    yield server
    server.close()


@pytest.fixture
def hub(server: HttpServer, tmp_path: Path) -> HttpHub:
    return HttpHub(server.url + "/", KEY, "team/project", timeout=1, spool_dir=tmp_path)


def test_it_speaks_the_protocol_and_hides_its_key(hub: HttpHub):
    assert isinstance(hub, Hub)
    assert isinstance(hub, ReportingHub)
    assert KEY not in repr(hub)


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": "hub.example.org"},
        {"base_url": "ftp://hub.example.org"},
        {"base_url": "https://me:pw@hub.example.org"},
        {"project": "project"},
        {"project": "team/project/more"},
        {"project": "../x"},
        {"key": ""},
        {"key": "a b"},
        {"key": "a\r\nX-Evil: 1"},
        {"timeout": 0},
    ],
)
def test_arguments_that_cannot_be_right_are_refused_at_once(wrong: dict[str, str], tmp_path: Path):
    right = {
        "base_url": "https://hub.example.org",
        "key": KEY,
        "project": "team/project",
        "spool_dir": str(tmp_path),
    }
    with pytest.raises(ValueError, match="must"):
        HttpHub(**(right | wrong))  # type: ignore[arg-type]


def test_a_key_sent_in_the_clear_is_warned_about(caplog: pytest.LogCaptureFixture, tmp_path: Path):
    HttpHub("http://127.0.0.1:1", KEY, "team/project", spool_dir=tmp_path)
    assert caplog.text == ""
    HttpHub("http://hub.example.org", KEY, "team/project", spool_dir=tmp_path)
    assert "use https" in caplog.text


def test_code_and_text_come_back_byte_for_byte(hub: HttpHub, server: HttpServer):
    code = "def f():\r\n\treturn 'é ✓ \\ud800 \u202f'\r\n"
    item = {"revision": "r", "solution": 7, "score": "0.5", "rank": 1, "code": code, "entry_point": None}
    offer = {"name": "f", "signature": "f()", "source": code, "revision": "r"}
    server.replies["/recall/"] = (200, {"id": "1", "items": [item], "block": code, "callables": [offer]})
    result = hub.recall(RecallQuery("x"))
    assert result.items[0].code == result.block == result.callables[0].source == code
    assert (result.items[0].solution_id, result.items[0].score, result.items[0].entry_point) == (
        "7",
        0.5,
        None,
    )
    assert not result.no_match


def test_an_empty_answer_is_no_match(hub: HttpHub, server: HttpServer):
    server.replies["/recall/"] = (200, {"id": "1", "items": []})
    assert hub.recall(RecallQuery("x")).no_match
    assert hub.lookup_error(ERROR) is None


def test_the_first_lesson_is_the_hint(hub: HttpHub, server: HttpServer):
    server.replies["/recall/"] = (200, {"lessons": [{"id": "a", "title": "t", "text": "do"}, {"id": "b"}]})
    hint = hub.lookup_error(ERROR)
    assert hint is not None
    assert (hint.lesson_id, hint.title, hint.text) == ("a", "t", "do")
    [body] = server.bodies("/recall/")
    assert body["recall"] == "recall-1"
    assert body["error"] == {
        "type": "ValueError", "message": "no", "failing_line": "f()", "traceback": "", "code": "f()"
    }  # fmt: skip


def test_after_a_failure_the_hub_is_left_alone_for_a_while(
    hub: HttpHub, server: HttpServer, monkeypatch: pytest.MonkeyPatch
):
    server.replies["/recall/"] = (500, {"detail": "oops"})
    with pytest.raises(HubError, match="HTTP 500: oops"):
        hub.recall(RecallQuery("x"))
    server.replies["/recall/"] = (200, {"no_match": True})
    with pytest.raises(HubError, match="left alone"):
        hub.recall(RecallQuery("x"))
    assert len(server.requests) == 1
    now = time.monotonic()
    monkeypatch.setattr("memory_hub_client.http_hub.time.monotonic", lambda: now + 31)
    assert hub.recall(RecallQuery("x")).no_match


def test_a_refused_question_is_no_reason_to_stop_asking(hub: HttpHub, server: HttpServer):
    server.replies["/recall/"] = (422, {"detail": "too long"})
    for _ in range(2):
        with pytest.raises(HubError, match="too long"):
            hub.recall(RecallQuery("x"))
    assert len(server.requests) == 2


def test_an_answer_that_trickles_costs_no_more_than_the_timeout(tmp_path: Path):
    import socket
    import threading

    listener = socket.create_server(("127.0.0.1", 0))

    def trickle() -> None:
        connection, _ = listener.accept()
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
        try:
            for _ in range(100):
                connection.sendall(b" ")
                time.sleep(0.1)
        except OSError:
            pass

    threading.Thread(target=trickle, daemon=True).start()
    hub = HttpHub(f"http://127.0.0.1:{listener.getsockname()[1]}", KEY, "team/project", 0.5, tmp_path)
    started = time.monotonic()
    with pytest.raises(HubError, match="within"):
        hub.recall(RecallQuery("x"))
    assert time.monotonic() - started < 1.5
    listener.close()


def test_an_answer_without_end_is_given_up(hub: HttpHub, server: HttpServer):
    server.replies["/recall/"] = (200, b'"' + b"x" * (5 * 1024 * 1024) + b'"')
    with pytest.raises(HubError):
        hub.recall(RecallQuery("x"))


def test_a_record_that_is_refused_for_good_is_dropped_with_a_word(
    hub: HttpHub, server: HttpServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    server.replies["/record/"] = (422, {"detail": "no such outcome"})
    hub.record(RECORD)
    assert hub.flush()
    assert "no such outcome" in caplog.text
    assert list(tmp_path.rglob("*.json")) == []


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503])
def test_a_record_that_may_be_taken_later_is_kept(
    hub: HttpHub, server: HttpServer, tmp_path: Path, status: int
):
    server.replies["/record/"] = (status, {})
    hub.record(RECORD)
    assert not hub.flush()
    [path] = tmp_path.rglob("*.json")
    assert json.loads(path.read_text())["body"]["task"] == "x"


def test_a_later_success_takes_the_kept_records_along_oldest_first(
    hub: HttpHub, server: HttpServer, tmp_path: Path
):
    for number in range(3):
        hub._keep({"path": "/api/v1/x/record/", "idempotency_key": str(number), "body": {"number": number}})
    hub.record(RECORD)
    assert hub.flush()
    assert [body.get("number") for body in server.bodies("/record/")] == [None, 0, 1, 2]


def test_a_spool_that_cannot_be_written_costs_the_record_not_the_run(
    server: HttpServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    blocker = tmp_path / "file"
    blocker.write_text("not a folder")
    hub = HttpHub(server.url, KEY, "team/project", spool_dir=blocker)
    server.replies["/record/"] = (503, {})
    hub.record(RECORD)
    hub.flush()
    assert "could not be kept" in caplog.text


def test_no_record_is_sent_to_another_hub_or_project(tmp_path: Path):
    folders = {
        Spool(tmp_path, url, project).folder
        for url in ("https://a.example", "https://b.example")
        for project in ("t/p", "t/q")
    }
    assert len(folders) == 4


def test_the_spool_forgets_the_oldest_beyond_its_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(spool_module, "MAX_FILES", 3)
    spool = Spool(tmp_path, "https://a.example", "t/p")
    for number in range(5):
        spool.add({"number": number})
    assert [entry["number"] for _, entry in spool.entries()] == [2, 3, 4]
    monkeypatch.setattr(spool_module, "MAX_BYTES", 30)
    spool.add({"number": 5})
    assert [entry["number"] for _, entry in spool.entries()] == [4, 5]
    assert not spool.add({"text": "x" * 100})


def test_a_broken_file_in_the_spool_is_removed(tmp_path: Path):
    spool = Spool(tmp_path, "https://a.example", "t/p")
    spool.add({"number": 1})
    (spool.folder / "000.json").write_text("{half")
    (spool.folder / "001.json").write_text("[1]")
    assert [entry for _, entry in spool.entries()] == [{"number": 1}]
    assert len(spool) == 1


def test_the_default_spool_is_in_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert default_spool_root() == tmp_path / "memory-hub-client" / "spool"


def test_repeated_silence_is_logged_only_once_per_outage(
    hub: HttpHub, server: HttpServer, caplog: pytest.LogCaptureFixture
):
    from memory_hub_client import attach
    from tests.runner.attach_cast import code_agent, step

    server.replies["/recall/"] = (500, {})
    caplog.set_level(logging.WARNING)
    attach(code_agent(step("import json"), step("import csv"), step("final_answer(1)")), hub).run("x")
    assert caplog.text.count("could not recall") == 1
    assert "could not look up" not in caplog.text

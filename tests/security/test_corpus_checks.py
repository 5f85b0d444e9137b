"""The corpus would notice: its checks fail on what a bad sandbox would let through."""

from __future__ import annotations

import shutil
import socket
import subprocess

import pytest

from tests.security import corpus
from tests.security.corpus import Report, check


def problems(
    checks: dict[str, object] | None = None,
    *,
    value: object = None,
    logs: str = "",
    text: str = "",
    outcome: str = "ok",
) -> list[str]:
    report = Report("snippet", outcome=outcome)
    check(report, checks or {}, value, logs, text)
    return report.problems


def test_a_contained_snippet_has_no_problems() -> None:
    assert (
        problems({"outcome": ["ok"], "value": "fine", "max_value_len": 100}, value="fine", logs="printed")
        == []
    )


@pytest.mark.parametrize(
    "found",
    [
        problems(logs=f"leaked {corpus.CANARY_TEXT}"),
        problems(value={"env": corpus.SECRET}),
        problems(text=f"error with {corpus.SECRET}"),
        problems(logs="root:x:0:0:root:/root:/bin/bash"),
        problems(outcome="broken"),
        problems({"not_value": "FORGED"}, value="FORGED"),
        problems({"value": "x"}, value="other"),
        problems({"no_text": ["OPENED"]}, logs="OPENED 3"),
        problems({"outcome": ["timeout"]}),
        problems({"max_value": 400}, value=401),
        problems({"max_logs": 200}, logs="x" * 300),
        problems(logs="\ud800"),
    ],
)
def test_each_kind_of_breach_is_a_problem(found: list[str]) -> None:
    assert found


def test_files_changes_and_connections_on_the_host_are_noticed() -> None:
    host = corpus.make_host()
    try:
        assert host.touched() == []
        (host.drop / "x").write_text("x")
        host.canary.write_text("changed")
        socket.create_connection(host.server.getsockname()).close()
        assert len(host.touched()) == 3
    finally:
        host.server.close()
        shutil.rmtree(host.folder)


def test_a_process_left_behind_is_noticed() -> None:
    process = subprocess.Popen(["/bin/sleep", "30"])
    try:
        assert corpus.leftovers()
    finally:
        process.kill()
        process.wait()

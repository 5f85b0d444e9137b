"""Forty hostile programs, in every sandbox, as root and as an ordinary user: none gets out, none breaks the executor.

The four runs happen in child processes, two at a time; each snippet is then a test of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.security.corpus import SNIPPETS
from tests.security.ordinary_user import REPOSITORY, User, myself, ordinary_user

pytestmark = pytest.mark.slow

ROOT = os.geteuid() == 0
RUNS = [(sandbox, user) for sandbox in ("bubblewrap", "landlock") for user in ("root", "user")]
SECONDS = 280
Reports = dict[str, dict[str, object]]


def run(sandbox: str, user: User) -> Reports:
    repository = user.environment["PYTHONPATH"].partition(":")[0]
    process = user.popen("-m", "tests.security.corpus", sandbox, cwd=repository or str(REPOSITORY))
    try:
        output, complaint = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
    reports = {report["name"]: report for report in map(json.loads, output.splitlines())}
    if process.returncode != 0:
        reports["failed"] = {"problems": [complaint[-4000:]]}
    return reports


@pytest.fixture(scope="module")
def runs() -> Iterator[dict[tuple[str, str], Future[Reports]]]:
    with contextlib.ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(2))
        users = {"root" if ROOT else "user": myself()}
        if ROOT:
            users["user"] = stack.enter_context(ordinary_user())
        yield {key: pool.submit(run, key[0], users[key[1]]) for key in RUNS if key[1] in users}


@pytest.mark.timeout(SECONDS * 2)
@pytest.mark.parametrize("name", [snippet["name"] for snippet in SNIPPETS])
@pytest.mark.parametrize(("sandbox", "user"), RUNS)
def test_a_hostile_snippet_is_contained(
    sandbox: str, user: str, name: str, runs: dict[tuple[str, str], Future[Reports]]
) -> None:
    if (sandbox, user) not in runs:
        reason = f"NOT TESTED: the hostile snippets in {sandbox} as root (the tests do not run as root)"
        warnings.warn(reason, stacklevel=1)
        pytest.skip(reason)
    reports = runs[sandbox, user].result()
    assert name in reports, reports.get("failed", {}).get("problems")
    assert reports[name]["problems"] == []


def test_the_corpus_is_whole() -> None:
    assert len({snippet["name"] for snippet in SNIPPETS}) == len(SNIPPETS) == 40
    assert all(snippet["expected"] and isinstance(snippet["checks"], dict) for snippet in SNIPPETS)

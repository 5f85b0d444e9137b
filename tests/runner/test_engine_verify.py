"""Verification: a recorded call is replayed in a sandbox, and says in words what differs. Nothing else changes by it."""

import hashlib
import tempfile
from pathlib import Path
from typing import Any

import pytest

from agents_runner.verify import differences, verify
from memory_hub.access.actor import acting_as, as_system
from memory_hub.library.drafts import CheckFile
from memory_hub.library.models import Evidence, Revision
from memory_hub.library.services.check_inputs import check_input_path
from memory_hub.library.services.solutions import solution_propose
from memory_hub.library.services.verification import MAX_ATTEMPTS
from tests.cast import Cast
from tests.services.library_support import draft

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]


def proposed(cast: Cast, code: str, check: dict[str, Any], files: dict[str, bytes] | None = None) -> Revision:
    """A revision whose function is called `f`, waiting for its check."""
    folder = Path(tempfile.mkdtemp())
    kept = []
    for name, content in (files or {}).items():
        (folder / name).write_bytes(content)
        kept.append(CheckFile(name, folder / name, hashlib.sha256(content).hexdigest(), len(content)))
    actor = cast.actor(cast.bob)
    with acting_as(actor):
        made = solution_propose(
            actor=actor,
            project=cast.project,
            draft=draft(code=code, entry_point="f", check_spec={"kwargs": {}, **check}),
            check_inputs=kept,
        )
        return made.revision


def verified(revision: Revision) -> Revision:
    """Run the check; return the revision as it is then."""
    verify(revision.id)
    with as_system():
        return Revision.objects.select_related("solution").get(id=revision.id)


def test_the_recorded_result_again_passes(committed_cast: Cast) -> None:
    revision = verified(
        proposed(committed_cast, "def f(a, b=0):\n    return {'sum': a + b}", {"args": [1], "kwargs": {"b": 2}, "result": {"sum": 3}})
    )  # fmt: skip
    assert (revision.verification, revision.needs_verification) == (Revision.Verification.PASSED, False)
    assert revision.verified_in in ("landlock", "bubblewrap")
    with as_system():
        assert Evidence.objects.get(kind=Evidence.Kind.VERIFIED).outcome == "success"


def test_another_result_fails_and_says_what_differs(committed_cast: Cast) -> None:
    revision = verified(
        proposed(committed_cast, "def f():\n    return {'rows': [1, 3]}", {"args": [], "result": {"rows": [1, 2]}})
    )  # fmt: skip
    assert revision.verification == Revision.Verification.FAILED
    assert (
        revision.verification_detail == "The recorded call gave another result: result['rows'][1] is 3, not 2"
    )


def test_code_that_raises_fails_with_its_error(committed_cast: Cast) -> None:
    revision = verified(proposed(committed_cast, "def f():\n    return [][1]", {"args": [], "result": 1}))
    assert revision.verification == Revision.Verification.FAILED
    assert "IndexError: list index out of range" in revision.verification_detail


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def f():\n    return object()", "cannot be compared"),
        ("def f():\n    import os\n    os._exit(0)", "It failed"),
        ("def f():\n    return open('/etc/shadow').read()", "It failed"),
        ("def f():\n    import socket\n    socket.create_connection(('127.0.0.1', 80), 2)", "It failed"),
        ("def f():\n    return 'x' * 10**8", "cannot be compared"),
        (
            "def f():\n    x = []\n    for _ in range(5000):\n        x = [x]\n    return x",
            "cannot be compared",
        ),
        ("import os\nos.kill(os.getppid(), 9)\ndef f():\n    return 1", ""),
    ],
    ids=["object", "exit", "host file", "network", "huge", "deep", "kills"],
)
def test_hostile_code_fails_its_check_and_harms_nothing(committed_cast: Cast, code: str, said: str) -> None:
    revision = verified(proposed(committed_cast, code, {"args": [], "result": "no"}))
    assert revision.verification != Revision.Verification.PASSED
    assert said in revision.verification_detail
    assert "root:" not in revision.verification_detail


def test_a_check_reads_its_files_and_cannot_change_them(committed_cast: Cast) -> None:
    code = (
        "def f(path):\n"
        "    text = open(path).read()\n"
        "    try:\n"
        "        open(path, 'w').write('changed')\n"
        "    except OSError:\n"
        "        pass\n"
        "    return text"
    )
    revision = proposed(
        committed_cast, code, {"args": ["/inputs/a.txt"], "result": "as it was"}, {"a.txt": b"as it was"}
    )
    for _ in range(2):
        with as_system():
            Revision.objects.filter(id=revision.id).update(needs_verification=True)
        after = verified(revision)
        assert after.verification == Revision.Verification.PASSED, after.verification_detail
    with as_system():
        kept = after.solution.check_inputs.get()
        assert check_input_path(kept).read_bytes() == b"as it was"
        assert Evidence.objects.filter(kind=Evidence.Kind.VERIFIED, superseded_by=None).count() == 1
    assert (after.code, after.check_spec, after.content_hash) == (
        revision.code, revision.check_spec, revision.content_hash,
    )  # fmt: skip


def test_a_file_that_is_gone_leaves_it_unverified_with_the_reason(committed_cast: Cast) -> None:
    revision = proposed(
        committed_cast, "def f(path):\n    return 1", {"args": ["/inputs/a.txt"], "result": 1}, {"a.txt": b"x"}
    )  # fmt: skip
    with as_system():
        check_input_path(revision.solution.check_inputs.get()).unlink()
    for _ in range(MAX_ATTEMPTS):
        after = verified(revision)
        assert after.verification == Revision.Verification.UNVERIFIED
    assert after.verification_detail == "The check could not be run: the input file a.txt is no longer there"
    assert not after.needs_verification


def test_a_check_runs_once_at_a_time(committed_cast: Cast) -> None:
    revision = proposed(committed_cast, "def f():\n    return 1", {"args": [], "result": 1})
    assert verify(revision.id)
    assert not verify(revision.id)


@pytest.mark.parametrize(
    ("expected", "actual", "said"),
    [
        (1.0, 1.0 + 1e-12, []),
        (1, 1.0, []),
        (0.1 + 0.2, 0.3, []),
        (1.0, 1.001, ["result is 1.001, not 1.0"]),
        (True, 1, ["result is 1, not True"]),
        (10**400, 10**400 + 1, [f"result is {repr(10**400 + 1)[:119]}…, not {repr(10**400)[:119]}…"]),
        (10**400, 1.5, [f"result is 1.5, not {repr(10**400)[:119]}…"]),
        ({"b": 1, "a": 1}, {"c": 1, "a": 2}, ["result['a'] is 2, not 1", "result['b'] is missing", "result['c'] is new"]),
        ([1, 2], [1], ["result has 1 items, not 2"]),
        (None, [], ["result is [], not None"]),
        ({"$": "float", "value": "nan"}, {"$": "float", "value": "nan"}, []),
    ],
)  # fmt: skip
def test_differences_are_told_in_words(expected: Any, actual: Any, said: list[str]) -> None:
    assert list(differences(expected, actual)) == said

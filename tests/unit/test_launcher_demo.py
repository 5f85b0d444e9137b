"""What bin/start says about the demo: accounts once, results when they come, trouble without an end."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_hub.launcher import django_step
from memory_hub.launcher.demo import Demo

SEEDED = 'print(\'{"accounts": [{"email": "kim@demo.example", "role": "contributor", "password": "pw-1"}], "runs": ["1", "2"]}\')'
EMPTY = 'print(\'{"accounts": [], "runs": []}\')'


@pytest.fixture
def demo_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Demo]:
    """Return a maker of demos whose `manage.py` runs the given lines of Python for each command."""
    monkeypatch.setattr(django_step, "REPOSITORY", tmp_path)

    def make(seed_demo: str, demo_report: str = "raise SystemExit(1)") -> Demo:
        (tmp_path / "manage.py").write_text(
            f"import sys\nif sys.argv[1] == 'seed_demo':\n    {seed_demo}\nelse:\n    {demo_report}\n"
        )
        return Demo(tmp_path, os.environ)

    return make


def breathe(seconds: float) -> None:
    time.sleep(0.02)


def wait_for_report(demo: Demo) -> None:
    deadline = time.monotonic() + 10
    while demo.reporting:
        assert time.monotonic() < deadline
        demo.report()
        time.sleep(0.02)


def test_accounts_are_printed_and_results_follow(demo_with, capsys):
    demo = demo_with(SEEDED, "print('first: 3 steps'); print('twin: 1 step, recalled first')")
    demo.seed(breathe)
    assert demo.reporting
    wait_for_report(demo)
    said = capsys.readouterr().out
    assert "contributor" in said
    assert "kim@demo.example" in said
    assert "pw-1" in said
    assert said.endswith("first: 3 steps\ntwin: 1 step, recalled first\n")


def test_passwords_are_printed_once_and_kept_nowhere(demo_with, capsys, tmp_path):
    demo_with(SEEDED, "pass").seed(breathe)
    capsys.readouterr()
    again = demo_with(SEEDED, "pass")
    again.seed(breathe)
    assert capsys.readouterr().out == ""
    assert not again.reporting
    kept = [
        f for f in tmp_path.rglob("*") if f.is_file() and f.name != "manage.py" and "pw-1" in f.read_text()
    ]
    assert kept == []


def test_a_hub_in_use_is_left_alone_and_not_asked_again(demo_with, capsys):
    demo = demo_with(EMPTY)
    demo.seed(breathe)
    assert not demo.reporting
    assert capsys.readouterr().out == ""
    demo_with("raise SystemExit('asked again')").seed(breathe)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "seed", ["raise ValueError('no sandbox works here')", "print('no JSON')", "print('{}x')"]
)
def test_a_demo_that_fails_is_told_and_tried_again_next_time(demo_with, capsys, seed):
    demo_with(seed).seed(breathe)
    assert "The demo team could not be made" in capsys.readouterr().out
    demo_with(SEEDED).seed(breathe)
    assert "kim@demo.example" in capsys.readouterr().out


def test_a_report_that_fails_is_told(demo_with, capsys):
    demo = demo_with(SEEDED, "sys.exit('Error: the run is gone')")
    demo.seed(breathe)
    wait_for_report(demo)
    assert "could not be shown: the run is gone" in capsys.readouterr().out.replace("Error: ", "")

"""The demo team and the two sample runs of an empty hub: seeded once, accounts printed once, results when they end."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memory_hub.embedded.folders import write_private

from .django_step import Breathe, DjangoCommand, StepError
from .progress import say


class Demo:
    """What an empty hub shows of itself; `seed_demo` and `demo_report` do the work."""

    def __init__(self, data_dir: Path, environment: Mapping[str, str]) -> None:
        self._data_dir = data_dir
        self._environment = environment
        # No secret in it: it only keeps later starts from asking Django again.
        self._marker = data_dir / "demo.json"
        self._report: DjangoCommand | None = None

    @property
    def reporting(self) -> bool:
        """Whether the results of the sample runs are still awaited."""
        return self._report is not None

    def seed(self, breathe: Breathe) -> None:
        """Make the demo team on an empty hub and print how to sign in; a hub in use is left alone.

        A demo that fails is no reason to stop the hub.
        """
        if self._marker.exists():
            return
        command = DjangoCommand("seed_demo", ["seed_demo"], self._data_dir, self._environment)
        try:
            seeded = last_json(command.finish(breathe))
        except (StepError, ValueError) as error:
            say(f"The demo team could not be made: {error}")
            return
        finally:
            command.discard_output()  # passwords
        accounts, runs = seeded.get("accounts", []), seeded.get("runs", [])
        write_private(self._marker, json.dumps({"runs": runs}))
        if accounts:
            say("A demo team is ready. Sign in (these passwords are not shown again):")
            for account in accounts:
                say(f"  {account['role']:<12} {account['email']:<32} {account['password']}")
        if runs:
            say("Two sample runs are under way; their results follow here.")
            self._report = DjangoCommand(
                "demo_report", ["demo_report", "--wait"], self._data_dir, self._environment
            )

    def report(self) -> None:
        """Print the results once the sample runs have ended; call now and then."""
        if self._report is None or self._report.poll() is None:
            return
        if self._report.poll() == 0:
            say(self._report.output().rstrip())
        else:
            say(f"The results of the sample runs could not be shown: {self._report.reason()}")
        self._report = None


def last_json(printed: str) -> dict[str, Any]:
    """Return the JSON object in the last line that holds one; ValueError where there is none."""
    for line in reversed(printed.splitlines()):
        if line.startswith("{"):
            value: dict[str, Any] = json.loads(line)
            return value
    raise ValueError("seed_demo printed no JSON")

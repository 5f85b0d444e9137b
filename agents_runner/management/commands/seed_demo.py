"""bin/manage seed_demo: the demo team and its first sample run, on an empty hub only."""

from typing import Any

from django.core.management.base import BaseCommand

from agents_runner import demo


class Command(BaseCommand):
    help = (
        "On an empty hub, make a demo team with two accounts and queue a sample run. Prints one line of JSON."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        accounts, runs = demo.seed() if demo.is_empty() else ([], [])
        self.stdout.write(demo.as_json(accounts, runs))

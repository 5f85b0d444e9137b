"""bin/manage demo_report: how the two sample runs of the demo ended, a line each."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from agents_runner import demo

_PATIENCE_SECONDS = 180


class Command(BaseCommand):
    help = "Print how the demo's sample run and its reworded twin ended: steps, what was recalled, address."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--wait", action="store_true", help="start the twin when it is time, and wait for both"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        runs = demo.follow(seconds=_PATIENCE_SECONDS) if options["wait"] else demo.demo_runs()
        if not runs:
            raise CommandError("There is no demo on this hub.")
        for name, run in zip(("Sample run", "Its twin"), runs, strict=False):
            self.stdout.write(f"{name:<10}  {demo.describe(run, settings.SITE_URL)}")
        if len(runs) < 2 or not all(run.is_settled for run in runs):
            raise CommandError("The sample runs have not ended yet. See bin/manage demo_report later.")

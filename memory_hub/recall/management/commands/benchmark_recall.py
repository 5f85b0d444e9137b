"""bin/manage benchmark_recall: how well and how fast recall is, on a hub made for the measure."""

import subprocess
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from memory_hub.benchmark.run import add_arguments, as_arguments


class Command(BaseCommand):
    help = (
        "Measure recall beside plain searches: reworded and perturbed problems, errors, questions that nothing answers, "
        "speed. Nothing of this hub is read or changed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        # A process of its own: this one has the settings of the hub that is not to be touched.
        command = [sys.executable, "-m", "memory_hub.benchmark", *as_arguments(options)]
        sys.exit(subprocess.run(command, check=False).returncode)

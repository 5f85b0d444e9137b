"""bin/manage calibrate_recall: measure below which score nothing fits, and keep it for the model that is configured."""

import json
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from memory_hub.access.actor import as_system
from memory_hub.recall.embedders import configured_embedder
from memory_hub.recall.services import keep_calibration


class Command(BaseCommand):
    help = (
        "Ask a library made for the measure questions that it answers and questions that it does not, and keep the score "
        "that lets 5 % of the latter through, for the embedding model that is configured."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--data", type=Path, required=True, help="folder of the data sets: conala/, error_fix/"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        command = [
            sys.executable, "-m", "memory_hub.benchmark", "--only", "calibration", "--json",
            "--data", str(options["data"]), "--embedder", settings.EMBEDDER,
        ]  # fmt: skip
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise CommandError("The measure failed; nothing is changed.")
        measured = json.loads(done.stdout)["calibration"]["cut"]
        with as_system():
            keep_calibration(model_id=configured_embedder().model_id, measured=measured)
        self.stdout.write(
            f"Nothing below {measured['cut']} is offered: that lets 5 % of other questions through and keeps "
            f"{measured['kept_at_5_percent']:.1%} of those that are answered (AUROC {measured['auroc']})."
        )

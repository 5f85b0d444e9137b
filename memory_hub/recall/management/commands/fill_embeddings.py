"""bin/manage fill_embeddings: vectors of the configured model for every entry, with progress; what the worker does too."""

from typing import Any

from django.core.management.base import BaseCommand

from memory_hub.recall.services import Progress, fill_embeddings


class Command(BaseCommand):
    help = (
        "Give every entry of the search index a vector of the configured embedding model and let it serve. Search stays "
        "with the model before until the last is there; stopped, it goes on where it was."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        done = fill_embeddings(tell=self._tell)
        self.stdout.write(f"{done.model_id or 'Words alone'} serves {done.total:,} entries.")

    def _tell(self, progress: Progress) -> None:
        self.stdout.write(f"{progress.model_id}: {progress.done:,} of {progress.total:,} entries")

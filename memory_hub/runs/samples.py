"""The sample tasks, as the form for a new run offers them: read from the data files that the runner ships.

Their catalogue is data (SAMPLES_FOLDER/catalogue.json, with the files beside it), so nothing of the runner is loaded
and nothing has to be published by a worker first.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.conf import settings

from memory_hub.common.text import first_sentence

from .values import UploadedInput


@dataclass(frozen=True, slots=True)
class Sample:
    """A task on real public files, and the key of the same task in other words on other files."""

    key: str
    twin_key: str
    task: str
    mess: str
    files: tuple[Path, ...]

    @property
    def title(self) -> str:
        return first_sentence(self.task)

    def uploads(self) -> list[UploadedInput]:
        """Return its files for run_start."""
        return [UploadedInput(file.name, file.read_bytes()) for file in self.files]


def samples() -> tuple[Sample, ...]:
    """Return every sample, a task before its twin; none where the install has none."""
    return _load(Path(settings.SAMPLES_FOLDER))


def sample_get(key: str) -> Sample | None:
    """Return the sample with this key."""
    return next((sample for sample in samples() if sample.key == key), None)


@cache
def _load(folder: Path) -> tuple[Sample, ...]:
    catalogue = folder / "catalogue.json"
    if not catalogue.is_file():
        return ()
    return tuple(
        Sample(
            key=entry["key"],
            twin_key=entry["twin_key"],
            task=entry["task"],
            mess=entry["mess"],
            files=tuple(folder / "files" / name for name in entry["inputs"]),
        )
        for entry in json.loads(catalogue.read_text(encoding="utf-8"))
    )

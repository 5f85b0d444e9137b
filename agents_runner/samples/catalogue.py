"""The sample tasks: what is asked, on which files. Expected answers are not here: only the tests know them.

Each task has a reworded twin on another file with the same kind of mess, so that what was learnt on the first can
be reused on the second. Where the files come from: files/LICENSES.md.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

FILES = Path(__file__).parent / "files"
# Data, so that the form for a new run can offer the samples without loading anything of the runner.
CATALOGUE = Path(__file__).parent / "catalogue.json"


@dataclass(frozen=True, slots=True)
class SampleTask:
    """One sample: ``task`` is what the user would type (its first sentence works as a title)."""

    key: str
    twin_key: str
    task: str
    inputs: tuple[Path, ...]
    mess: str

    @property
    def title(self) -> str:
        """The first sentence of the task."""
        return re.split(r"(?<=[.?]) ", self.task, maxsplit=1)[0]


def _load() -> tuple[SampleTask, ...]:
    entries = json.loads(CATALOGUE.read_text(encoding="utf-8"))
    return tuple(
        SampleTask(**{**entry, "inputs": tuple(FILES / name for name in entry["inputs"])})
        for entry in entries
    )


SAMPLES: tuple[SampleTask, ...] = _load()


def normalise_task(text: str) -> str:
    """Task text with every run of white space as one space, so that a re-wrapped copy is still recognised."""
    return " ".join(text.split())


def find_sample(text: str) -> SampleTask | None:
    """The sample whose whole task stands in ``text`` (a task, or a prompt that holds one), else None."""
    normalised = normalise_task(text)
    return next((sample for sample in SAMPLES if normalise_task(sample.task) in normalised), None)


def first_pair() -> tuple[SampleTask, SampleTask]:
    """The sample and the twin that a new hub runs first."""
    first = SAMPLES[0]
    twin = next(sample for sample in SAMPLES if sample.key == first.twin_key)
    return first, twin

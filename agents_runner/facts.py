"""What the pages may know of the runner without loading it: which sandboxes work, and the sample tasks."""

from __future__ import annotations

from typing import Any

from agents_runner.samples.catalogue import SAMPLES
from agents_runner.sandboxes.select import available_sandboxes


def runner_facts() -> dict[str, Any]:
    """Return plain JSON: sandboxes (name → "" or why it does not work) and samples (key, title, task, files)."""
    return {
        "sandboxes": {name: reason or "" for name, reason in available_sandboxes().items()},
        "samples": [
            {
                "key": sample.key,
                "title": sample.title,
                "task": sample.task,
                "files": [path.name for path in sample.inputs],
            }
            for sample in SAMPLES
        ],
    }

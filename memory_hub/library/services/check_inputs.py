"""The files that a check reads: kept apart from the run that brought them, removed with their solution."""

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db import transaction

from memory_hub.common.errors import Conflict
from memory_hub.common.ids import uuid7
from memory_hub.library.drafts import CheckFile
from memory_hub.library.models import CheckInput, Solution

FOLDER = "check_inputs"


def check_inputs_keep(*, solution: Solution, files: Sequence[CheckFile]) -> None:
    """Copy the files to where the solution's checks find them, as a part of the service that made the solution.

    Raises Conflict where a file does not hold what its digest says. Files of a transaction that fails are left
    behind and removed by the sweep.
    """
    for file in files:
        row_id = uuid7()
        relative = f"{FOLDER}/{solution.id}/{row_id}"  # ids only, never a name that somebody gave
        if _copy(file.source, settings.MEDIA_ROOT / relative) != file.sha256:
            raise Conflict(
                f"The input file {file.name} is not the one that the run read.", code="input_changed"
            )
        CheckInput.objects.create(
            id=row_id,
            team_id=solution.team_id,
            project_id=solution.project_id,
            solution=solution,
            name=file.name,
            size=file.size,
            sha256=file.sha256,
            path=relative,
        )


def check_input_path(check_input: CheckInput) -> Path:
    """Return where the file is on this machine."""
    return Path(settings.MEDIA_ROOT) / check_input.path


def check_inputs_remove(*, solution_id: UUID) -> None:
    """Remove a deleted solution's files once its deletion is committed."""
    transaction.on_commit(lambda: remove_folder(solution_id))


def remove_folder(solution_id: UUID) -> None:
    """Remove the files of a solution that is gone."""
    shutil.rmtree(Path(settings.MEDIA_ROOT) / FOLDER / str(solution_id), ignore_errors=True)


def _copy(source: Path, target: Path) -> str:
    """Copy a file and return the SHA-256 of what was copied."""
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with source.open("rb") as read, target.open("xb") as written:
        while block := read.read(1 << 20):
            digest.update(block)
            written.write(block)
    return digest.hexdigest()

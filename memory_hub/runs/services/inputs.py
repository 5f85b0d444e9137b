"""The input files of a run: named safely, on disk before the row that names them is committed."""

import hashlib
import os
import shutil
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any
from uuid import UUID

from django.conf import settings

from memory_hub.access.actor import as_system
from memory_hub.common.errors import TooLarge
from memory_hub.common.ids import uuid7
from memory_hub.runs.masking import mask_json
from memory_hub.runs.models import Run, RunInput
from memory_hub.runs.values import UploadedInput

MAX_FILES = 20
_MAX_NAME_CHARACTERS = 120
_MAX_NAME_BYTES = 255
_CHUNK = 1024 * 1024
# Never for others. For the group where the umask lets it: the services of a container have a user each (Dockerfile);
# bin/start's umask keeps files to their owner.
_FILE_MODE, _FOLDER_MODE = 0o660, 0o770


def name_problem(names: Sequence[str]) -> str | None:
    """Say what is wrong with the names of a run's files, or None. They become /inputs/<name> and stand in a prompt."""
    if len(names) > MAX_FILES:
        return f"A run takes at most {MAX_FILES} files."
    for name in names:
        if not name or name != name.strip() or name.startswith((".", "-")):
            return f"“{name}” is no name for a file: begin it with a letter or digit."
        if len(name) > _MAX_NAME_CHARACTERS or len(name.encode("utf-8", "replace")) > _MAX_NAME_BYTES:
            return f"The name “{name[:40]}…” is too long; {_MAX_NAME_CHARACTERS} characters are possible."
        # Other, separators but the space: control characters, line ends, invisible and direction marks, surrogates.
        if any(
            letter in "/\\" or (unicodedata.category(letter)[0] in "CZ" and letter != " ") for letter in name
        ):
            return f"The name “{ascii(name)[1:-1]}” has a character that no file name of a run may have."
    if len({name.casefold() for name in names}) < len(names):
        return "Two files have the same name."
    return None


def inputs_store(*, run: Run, uploads: Sequence[UploadedInput]) -> list[RunInput]:
    """Write the files of a run that is being started. Names have been checked by name_problem.

    Raises TooLarge for a file over MAX_UPLOAD_BYTES. What a failure here leaves is removed at once; what a rollback
    later leaves, the sweep removes (files_sweep).
    """
    if not uploads:
        return []
    folder = run_folder(run.id)
    try:
        folder.mkdir(parents=True, mode=_FOLDER_MODE)
        rows = [_store(run, folder, upload) for upload in uploads]
        for place in (folder, folder.parent, folder.parent.parent):
            _sync_folder(place)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return rows


def input_profile_set(*, run_input: RunInput, profile: Mapping[str, Any]) -> None:
    """Keep what a worker found out about a file: its format, columns and types, never its values."""
    with as_system():
        RunInput.objects.filter(id=run_input.id).update(profile=mask_json(dict(profile)))


def input_path(run_input: RunInput) -> Path:
    """Return where the file is on this machine."""
    return Path(settings.MEDIA_ROOT) / run_input.path


def run_folder(run_id: UUID) -> Path:
    """Return the folder of a run's files, made of ids only."""
    return Path(settings.MEDIA_ROOT) / "runs" / str(run_id)


def _store(run: Run, folder: Path, upload: UploadedInput) -> RunInput:
    row = RunInput(id=uuid7(), team_id=run.team_id, project_id=run.project_id, run=run, name=upload.name)
    row.path = f"runs/{run.id}/{row.id}"
    digest, size = hashlib.sha256(), 0
    descriptor = os.open(
        folder / str(row.id), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, _FILE_MODE
    )
    with os.fdopen(descriptor, "wb") as file:
        for chunk in _chunks(upload.content):
            size += len(chunk)
            if size > settings.MAX_UPLOAD_BYTES:
                message = f"“{upload.name}” is larger than {settings.MAX_UPLOAD_BYTES // 1024**2} MB."
                raise TooLarge(message, fields={"inputs": message})
            digest.update(chunk)
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    row.size, row.sha256 = size, digest.hexdigest()
    row.save(force_insert=True)
    return row


def _chunks(content: bytes | IO[bytes]) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    content.seek(0)
    while chunk := content.read(_CHUNK):
        yield chunk


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

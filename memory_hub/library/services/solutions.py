"""Solutions: proposed, changed, archived, deleted, read."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project
from memory_hub.library.drafts import CheckFile, NewSolution, Proposed
from memory_hub.library.models import Solution
from memory_hub.runs.models import Run


def solution_propose(
    *,
    actor: Actor,
    project: Project,
    draft: NewSolution,
    run: Run | None = None,
    check_inputs: Sequence[CheckFile] = (),
) -> Proposed:
    """Add a solution with its first revision, a candidate. Author: the actor's person, and the run.

    Identical code for the same problem in the project adds nothing. Raises SecretFound (captured work is to be
    masked before), InvalidInput (NUL, entry point, syntax), TooLarge.
    """
    raise NotImplementedError


def solution_change(
    *, actor: Actor, solution: Solution, changes: Mapping[str, Any], seen_at: datetime | None = None
) -> Solution:
    """Change title, problem, kind, applies_when, edge_cases or tags. Raises Conflict where it was changed since."""
    raise NotImplementedError


def solution_archive(*, actor: Actor, solution: Solution) -> Solution:
    """Take a solution out of recall and the default list, without deleting anything."""
    raise NotImplementedError


def solution_unarchive(*, actor: Actor, solution: Solution) -> Solution:
    """Bring an archived solution back."""
    raise NotImplementedError


def solution_delete(*, actor: Actor, solution: Solution, with_lessons: bool = False) -> None:
    """Remove the solution, its revisions, index, evidence, reviews and check files; with_lessons also its lessons."""
    raise NotImplementedError


def solution_note_read(*, actor: Actor, solution: Solution) -> None:
    """Say in the audit trail that the actor read the code; at most once in ten minutes for the same two."""
    raise NotImplementedError

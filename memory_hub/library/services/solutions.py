"""Solutions: proposed, changed, archived, deleted, read."""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.db.models import F, Q

from memory_hub.access.actor import Actor, ActorKind
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can, require
from memory_hub.audit.events import Event
from memory_hub.common.clock import now
from memory_hub.common.errors import Conflict, NotFound
from memory_hub.common.nudge import nudge
from memory_hub.library.cleaning import clean_changes, revision_values, solution_values, texts_of
from memory_hub.library.code_facts import content_hash, require_storable_code
from memory_hub.library.code_identity import ast_hash, problem_hash
from memory_hub.library.drafts import CheckFile, NewSolution, Proposed
from memory_hub.library.models import MergeProposal, Revision, Solution
from memory_hub.library.secret_scan import refuse_secrets, text_of
from memory_hub.library.signals import tell_code_deleted
from memory_hub.runs.models import Run

from .check_inputs import check_inputs_keep, check_inputs_remove
from .found_again import found_again
from .identities import one_at_a_time
from .links import called_helpers, links_after_proposal, links_to_helpers, links_undo_merge
from .rows import lock_solution, record_about

logger = logging.getLogger(__name__)

_READ_NOTED_SECONDS = 600


def solution_propose(
    *,
    actor: Actor,
    project: Project,
    draft: NewSolution,
    run: Run | None = None,
    check_inputs: Sequence[CheckFile] = (),
) -> Proposed:
    """Add a solution with its first revision, a candidate. Author: the actor's person, and the run.

    The same program (code_identity.ast_hash) for the same problem in the project adds no solution; that somebody
    found it again is kept as evidence. The same program for another problem, and another program for the same, are
    kept and linked. Raises SecretFound (captured work is to be
    masked before), InvalidInput (NUL, entry point, syntax), TooLarge. Of a captured run nothing is lost for an entry
    point that cannot be found again: it is then kept as a script that says so.
    """
    require(actor, Permission.SOLUTION_PROPOSE, project)
    run_id = _run_id(actor, project, run)
    require_storable_code(draft.code)
    values = solution_values(draft)
    code_values = revision_values(
        draft, {file.name: file.sha256 for file in check_inputs}, captured=run is not None
    )
    refuse_secrets(texts_of(draft))

    same_code = {"content_hash": content_hash(draft.code), "ast_hash": ast_hash(draft.code)}
    problem = problem_hash(values["problem"])
    one_at_a_time(project_id=project.id, problem_hashes=[problem])
    if same := _same_in_project(project, same_code, problem):
        standing = found_again(actor=actor, revision=same, draft=draft, run_id=run_id)
        return Proposed(solution=same.solution, revision=same, deduplicated=True, duplicate_of=standing)

    ids = {"team_id": project.team_id, "project_id": project.id}
    helpers = called_helpers(project_id=project.id, code=draft.code, author_id=actor.user_id)
    names = [*code_values["depends_on"], *(helper.entry_point for helper in helpers)]
    code_values["depends_on"] = list(dict.fromkeys(names))
    solution = Solution.objects.create(
        **ids, author_id=actor.user_id, run_id=run_id, problem_hash=problem, **values
    )
    revision = Revision.objects.create(
        **ids,
        solution=solution,
        number=1,
        author_id=actor.user_id,
        author_run_id=run_id,
        **same_code,
        **code_values,
    )
    solution.latest_revision = revision
    solution.save(update_fields=["latest_revision"])
    links_after_proposal(solution=solution, revision=revision)
    links_to_helpers(solution=solution, helpers=helpers)
    check_inputs_keep(solution=solution, files=check_inputs)
    about = {"revision": str(revision.id), "run": str(run_id) if run_id else None}
    record_about(actor, Event.SOLUTION_PROPOSED, solution, about)
    nudge("recall.index_solution", solution.id)
    if revision.needs_verification:
        nudge("agents_runner.verify_revision", revision.id)
    return Proposed(solution=solution, revision=revision, deduplicated=False)


def solution_change(
    *, actor: Actor, solution: Solution, changes: Mapping[str, Any], seen_at: datetime | None = None
) -> Solution:
    """Change title, problem, kind, applies_when, edge_cases or tags; the code is changed by a revision.

    What has an approved revision is changed only by those who may approve. Raises Conflict (code stale) where the
    solution was changed after `seen_at`.
    """
    require(actor, Permission.SOLUTION_EDIT, solution)
    solution = lock_solution(solution.id)
    if solution.approved_revision_id:
        require(actor, Permission.REVISION_REVIEW, solution)
    if seen_at is not None and solution.updated_at != seen_at:
        raise Conflict("Somebody changed this solution since you opened it. Open it again.", code="stale")
    wanted = clean_changes(changes)
    refuse_secrets({name: text_of(value) for name, value in wanted.items()})
    changed = {
        name: {"before": getattr(solution, name), "after": value}
        for name, value in wanted.items()
        if value != getattr(solution, name)
    }
    if not changed:
        return solution
    for name, change in changed.items():
        setattr(solution, name, change["after"])
    solution.problem_hash = problem_hash(solution.problem)
    solution.needs_index = True
    solution.save(update_fields=[*changed, "problem_hash", "needs_index", "updated_at"])
    record_about(actor, Event.SOLUTION_CHANGED, solution, changed)
    nudge("recall.index_solution", solution.id)
    return solution


def solution_archive(*, actor: Actor, solution: Solution) -> Solution:
    """Take a solution out of recall and the default list, without deleting anything.

    Reviewers may; so may the author while nothing is approved.
    """
    return _set_archived(actor, solution, archive=True)


def solution_unarchive(*, actor: Actor, solution: Solution) -> Solution:
    """Bring an archived solution back; one that had been merged stands for itself again."""
    return _set_archived(actor, solution, archive=False)


def may_archive(actor: Actor, solution: Solution) -> bool:
    """Say whether the actor may archive and unarchive the solution."""
    if can(actor, Permission.REVISION_REVIEW, solution):
        return True
    own = actor.user_id is not None and solution.author_id == actor.user_id
    return own and not solution.approved_revision_id and can(actor, Permission.SOLUTION_EDIT, solution)


def solution_delete(*, actor: Actor, solution: Solution, with_lessons: bool = False) -> None:
    """Remove the solution, its revisions, index, evidence, reviews and check files; with_lessons also its lessons."""
    require(actor, Permission.SOLUTION_DELETE, solution)
    solution = lock_solution(solution.id, to_delete=True)
    solution_id = solution.id
    lesson_ids = list(solution.lessons.values_list("id", flat=True)) if with_lessons else []
    tell_code_deleted(code_of(solution, with_lessons=with_lessons))
    if lesson_ids:
        solution.lessons.all().delete()
    # Without a label: what was deleted is not to be read in its own record.
    record_about(
        actor, Event.SOLUTION_DELETED, solution, {"lessons": [str(item) for item in lesson_ids]}, label=""
    )
    solution.delete()
    check_inputs_remove(solution_id=solution_id)


def code_of(solution: Solution, *, with_lessons: bool) -> list[str]:
    """Return every text of a solution that pages show as code."""
    texts = [text for row in solution.revisions.values_list("code", "usage_example") for text in row]
    texts += [item.get(part, "") for item in solution.failed_alternatives for part in ("code", "diff")]
    if with_lessons:
        texts += [text for row in solution.lessons.values_list("failing_code", "fixing_code") for text in row]
    return texts


def solution_note_read(*, actor: Actor, solution: Solution) -> None:
    """Say in the audit trail that the actor read the code; at most once in ten minutes for the same two."""
    who = actor.through_id or actor.user_id
    key = f"library:read:{who}:{solution.id}"
    try:
        if cache.get(key):
            return
    except OSError:  # no cache, no saving: the entry is what counts
        logger.warning("the cache does not answer; every reading is recorded")
    record_about(actor, Event.CODE_READ, solution, {})
    transaction.on_commit(lambda: _remember_read(key), robust=True)


def _remember_read(key: str) -> None:
    cache.set(key, 1, _READ_NOTED_SECONDS)


def _set_archived(actor: Actor, solution: Solution, *, archive: bool) -> Solution:
    solution = lock_solution(solution.id)
    if not may_archive(actor, solution):
        require(actor, Permission.REVISION_REVIEW, solution)
    if bool(solution.archived_at) == archive:
        state = "archived already" if archive else "not archived"
        raise Conflict(f"This solution is {state}.", code="archived" if archive else "not_archived")
    if not archive and links_undo_merge(merged=solution):
        MergeProposal.objects.filter(Q(one=solution) | Q(two=solution), state="accepted").update(
            state=MergeProposal.State.DECLINED, survivor=None
        )
    solution.archived_at = now() if archive else None
    solution.needs_index = True
    solution.save(update_fields=["archived_at", "needs_index", "updated_at"])
    record_about(actor, Event.SOLUTION_ARCHIVED if archive else Event.SOLUTION_UNARCHIVED, solution, {})
    nudge("recall.index_solution", solution.id)
    return solution


def _run_id(actor: Actor, project: Project, run: Run | None) -> Any:
    if run is not None:
        if run.project_id != project.id:
            raise NotFound("There is no such run in this project.")
        return run.id
    return actor.through_id if actor.kind is ActorKind.RUN else None


def _same_in_project(project: Project, code: Mapping[str, str], problem: str) -> Revision | None:
    """Return the revision with the same program for the same problem: rather one in the library than an archived."""
    same_bytes_or_program = Q(ast_hash=code["ast_hash"]) | Q(content_hash=code["content_hash"])
    rows = (
        # Without a digest: written by a version before them, and not yet filled in.
        Revision.objects.filter(
            same_bytes_or_program, project=project, solution__problem_hash__in=[problem, ""]
        )
        .select_related("solution")
        .order_by(F("solution__archived_at").asc(nulls_first=True), "id")
    )
    return next((row for row in rows if problem_hash(row.solution.problem) == problem), None)

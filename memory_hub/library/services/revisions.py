"""Revisions: refined into new ones; given the check they lack."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from memory_hub.access.actor import Actor, ActorKind
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.audit.events import Event
from memory_hub.common.errors import Conflict, InvalidInput
from memory_hub.common.nudge import nudge
from memory_hub.library.check_spec import clean_check
from memory_hub.library.code_facts import content_hash, require_storable_code, signature_of
from memory_hub.library.code_identity import ast_hash
from memory_hub.library.models import Revision, Solution
from memory_hub.library.secret_scan import refuse_secrets, text_of
from memory_hub.library.texts import prose

from .links import called_helpers, links_to_helpers
from .rows import latest_of, lock_revision, lock_solution, record_about_revision, require_not_archived

# Stands for "the check of the parent".
KEEP_CHECK: Final[Mapping[str, Any]] = {}
SCRIPT_HAS_NO_CHECK = "A check calls the entry point, and a script has none."


def revision_refine(
    *,
    actor: Actor,
    solution: Solution,
    based_on: UUID,
    code: str,
    entry_point: str = "",
    change_note: str = "",
    explanation: str | None = None,
    usage_example: str | None = None,
    check_spec: Mapping[str, Any] | None = KEEP_CHECK,
) -> Revision:
    """Add a revision, a candidate, and have its check run again. The approved one is served meanwhile.

    `based_on` is the id of the revision that the actor changed. Raises Conflict (code stale_revision) where it is
    no longer the latest, InvalidInput where the code does not parse, lacks the entry point, or nothing changed.
    None leaves explanation and usage example as they are.
    """
    require(actor, Permission.REVISION_REFINE, solution)
    solution = lock_solution(solution.id)
    require_not_archived(solution)
    parent = Revision.objects.get(solution=solution, id=latest_of(solution))
    if parent.id != based_on:
        raise Conflict(
            f"Revision {parent.number} was added since you began. Compare it with yours, then change that one.",
            code="stale_revision",
            latest=str(parent.id),
            number=parent.number,
        )
    require_storable_code(code)
    signature = signature_of(code, entry_point)
    check, missing = _check(parent, entry_point, check_spec, _inputs(solution))
    values = {
        "code": code,
        "entry_point": entry_point,
        "signature": signature,
        "explanation": parent.explanation if explanation is None else prose(explanation, "explanation"),
        "usage_example": parent.usage_example
        if usage_example is None
        else prose(usage_example, "usage_example"),
        "check_spec": check,
    }
    if all(getattr(parent, name) == value for name, value in values.items() if name != "signature"):
        raise InvalidInput("Nothing was changed.", code="unchanged", fields={"code": "Nothing was changed."})
    note = prose(change_note, "change_note", limit=2_000)
    texts = {name: text_of(value) for name, value in values.items()}
    refuse_secrets({**texts, "change_note": note})
    helpers = called_helpers(
        project_id=solution.project_id, code=code, author_id=actor.user_id, besides=solution.id
    )
    names = dict.fromkeys([*parent.depends_on, *(helper.entry_point for helper in helpers)])
    revision = Revision.objects.create(
        team_id=solution.team_id,
        project_id=solution.project_id,
        solution=solution,
        number=parent.number + 1,
        parent=parent,
        author_id=actor.user_id,
        author_run_id=actor.through_id if actor.kind is ActorKind.RUN else None,
        content_hash=content_hash(code),
        ast_hash=ast_hash(code),
        change_note=note,
        check_missing=missing,
        depends_on=list(names),
        needs_verification=check is not None,
        **values,
    )
    links_to_helpers(solution=solution, helpers=helpers)
    solution.latest_revision = revision
    solution.needs_index = True
    solution.save(update_fields=["latest_revision", "needs_index", "updated_at"])
    record_about_revision(actor, Event.REVISION_REFINED, revision, {"parent": str(parent.id), "note": note})
    nudge("recall.index_solution", solution.id)
    if revision.needs_verification:
        nudge("agents_runner.verify_revision", revision.id)
    return revision


def check_change(*, actor: Actor, revision: Revision, check_spec: Mapping[str, Any]) -> Revision:
    """Give a revision that has no check one, once; later ones come with a refinement. It is run at once."""
    require(actor, Permission.REVISION_REFINE, revision)
    revision = lock_revision(revision)
    require_not_archived(revision.solution)
    if revision.check_spec is not None:
        raise Conflict(
            "This revision has a check already. Another check needs another revision.", code="has_check"
        )
    if revision.is_script:
        raise InvalidInput(SCRIPT_HAS_NO_CHECK, fields={"check_spec": SCRIPT_HAS_NO_CHECK})
    check = clean_check(check_spec, _inputs(revision.solution))
    refuse_secrets({"check_spec": text_of(check)})
    revision.check_spec = check
    revision.check_missing = ""
    revision.needs_verification = True
    revision.verification_attempts = 0
    revision.save(
        update_fields=["check_spec", "check_missing", "needs_verification", "verification_attempts"]
    )
    record_about_revision(actor, Event.CHECK_CHANGED, revision)
    nudge("agents_runner.verify_revision", revision.id)
    return revision


def _check(
    parent: Revision, entry_point: str, wanted: Mapping[str, Any] | None, inputs: Mapping[str, str]
) -> tuple[dict[str, Any] | None, str]:
    """Return the check of a refinement, and why there is none where there is none."""
    if wanted is KEEP_CHECK:
        if parent.check_spec is None:
            return None, parent.check_missing
        return (parent.check_spec, "") if entry_point else (None, SCRIPT_HAS_NO_CHECK)
    if wanted is None:
        return None, "Its author gave none."
    if not entry_point:
        raise InvalidInput(SCRIPT_HAS_NO_CHECK, fields={"check_spec": SCRIPT_HAS_NO_CHECK})
    return clean_check(wanted, inputs), ""


def _inputs(solution: Solution) -> dict[str, str]:
    return dict(solution.check_inputs.values_list("name", "sha256"))

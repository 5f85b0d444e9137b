"""What is kept of a proposal that is in the library already: that somebody came to the same program again."""

from uuid import UUID

from memory_hub.access.actor import Actor
from memory_hub.audit.events import Event
from memory_hub.library.drafts import NewSolution
from memory_hub.library.models import Evidence, Revision
from memory_hub.library.selectors import survivors
from memory_hub.runs.models import Run

from .evidence import evidence_record
from .rows import record_about_revision


def found_again(*, actor: Actor, revision: Revision, draft: NewSolution, run_id: UUID | None) -> UUID:
    """Add evidence (kind reported) that the revision was found again; returns the solution that stands for it.

    A run that succeeded speaks for it. Any other run, and a person or program without one, says nothing of whether
    it works (not applicable) and is noted. Once per run, else once per person; nothing from who made the revision,
    nor from a run that used it from memory, whose use is evidence by itself. What the library does not have of the
    proposal, its title and the bytes of its code, is kept in the detail.
    """
    run = Run.objects.filter(id=run_id).first() if run_id else None
    if not _is_known(actor, revision, run):
        worked = run is not None and run.state == Run.State.SUCCEEDED
        evidence_record(
            actor=actor,
            revision=revision,
            kind=Evidence.Kind.REPORTED,
            outcome=Evidence.Outcome.SUCCESS if worked else Evidence.Outcome.NOT_APPLICABLE,
            sandbox=run.sandbox_used if run else "",
            run=run,
            detail=_detail(revision, draft),
        )
        record_about_revision(
            actor, Event.SOLUTION_FOUND_AGAIN, revision, {"run": str(run_id) if run_id else None}
        )
    standing = survivors(actor, [revision.solution_id]).get(revision.solution_id)
    return standing.id if standing else revision.solution_id


def _is_known(actor: Actor, revision: Revision, run: Run | None) -> bool:
    noted = Evidence.objects.filter(
        revision=revision, kind=Evidence.Kind.REPORTED, detail__found_again=True, run=run
    )
    if run is not None:
        used = run.memory_use.get("used") or []
        return revision.author_run_id == run.id or str(revision.id) in map(str, used) or noted.exists()
    return revision.author_id == actor.user_id or noted.filter(user=actor.user_id).exists()


def _detail(revision: Revision, draft: NewSolution) -> dict[str, object]:
    detail: dict[str, object] = {"found_again": True}
    if draft.title != revision.solution.title:
        detail["title"] = draft.title
    if draft.code != revision.code:
        detail["code"] = draft.code
    return detail

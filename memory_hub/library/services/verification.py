"""Verification: asked for, claimed by one worker, recorded."""

from datetime import timedelta
from uuid import UUID

from memory_hub.access.actor import SYSTEM, Actor
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.audit.events import Event
from memory_hub.common.clock import now
from memory_hub.common.errors import InvalidInput, PermissionDenied
from memory_hub.common.nudge import nudge
from memory_hub.common.text import shorten, storable
from memory_hub.library.models import Evidence, Revision

from .evidence import evidence_record
from .rows import lock_revision, record_about_revision, require_not_archived

# Longer than a replay may take in a sandbox, including its start.
LEASE = timedelta(minutes=3)
MAX_ATTEMPTS = 5
MAX_DETAIL = 8_000


def verification_request(*, actor: Actor, revision: Revision) -> Revision:
    """Ask for the check to be run again. Raises InvalidInput (code no_check) where there is none.

    Where it is waiting already, nothing is added.
    """
    require(actor, Permission.REVISION_VERIFY, revision)
    revision = lock_revision(revision)
    require_not_archived(revision.solution)
    if revision.check_spec is None:
        raise InvalidInput("This revision has no check to run. Give it one first.", code="no_check")
    if revision.needs_verification:
        return revision
    revision.needs_verification = True
    revision.verification_attempts = 0
    revision.save(update_fields=["needs_verification", "verification_attempts"])
    record_about_revision(actor, Event.VERIFICATION_REQUESTED, revision)
    nudge("agents_runner.verify_revision", revision.id)
    return revision


def verification_claim(*, revision_id: UUID) -> Revision | None:
    """Let one worker take a waiting revision; None where it is gone, not waiting, taken, or tried too often.

    The claim lapses by itself after LEASE. To be called as the system, in a short transaction of its own.
    """
    revision = (
        Revision.objects.select_for_update(of=("self",), skip_locked=True)
        .select_related("solution", "project__team")
        .filter(id=revision_id, needs_verification=True)
        .first()
    )
    if revision is None or (revision.verification_lease_until and revision.verification_lease_until > now()):
        return None
    if revision.verification_attempts >= MAX_ATTEMPTS:
        _give_up(revision, f"The check was started {MAX_ATTEMPTS} times and never came to an end.")
        return None
    revision.verification_attempts += 1
    revision.verification_lease_until = now() + LEASE
    revision.save(update_fields=["verification_attempts", "verification_lease_until"])
    return revision


def verification_record(
    *,
    actor: Actor,
    revision: Revision,
    passed: bool,
    sandbox: str,
    detail: str = "",
    seconds: float | None = None,
) -> Revision:
    """Record what a replay of the check found; only the hub itself may.

    Adds evidence of kind verified, which takes the place of the one from the same sandbox: running a check a
    hundred times says no more than running it once.
    """
    if not actor.is_system:
        raise PermissionDenied("Only the hub itself records what a check has found.")
    revision = lock_revision(revision)
    revision.verification = Revision.Verification.PASSED if passed else Revision.Verification.FAILED
    revision.verification_detail = shorten(storable(detail), MAX_DETAIL)
    revision.verified_in = sandbox
    revision.verified_at = now()
    _settle(revision, "verification", "verification_detail", "verified_in", "verified_at")
    earlier = revision.evidence.filter(
        kind=Evidence.Kind.VERIFIED, sandbox=sandbox, lesson=None, superseded_by=None
    ).first()
    evidence_record(
        actor=actor,
        revision=revision,
        kind=Evidence.Kind.VERIFIED,
        outcome=Evidence.Outcome.SUCCESS if passed else Evidence.Outcome.FAILURE,
        sandbox=sandbox,
        detail={"seconds": seconds} if seconds is not None else {},
        supersedes=earlier,
    )
    record_about_revision(actor, Event.REVISION_VERIFIED, revision, {"passed": passed, "sandbox": sandbox})
    solution = revision.solution
    solution.needs_index = True
    solution.save(update_fields=["needs_index"])
    nudge("recall.index_solution", solution.id)
    return revision


def verification_release(*, revision_id: UUID, reason: str) -> None:
    """Give a claim back where the check could not be run (no sandbox). The sweep tries again, a few times.

    To be called as the system. The reason is shown where the result would stand.
    """
    revision = (
        Revision.objects.select_for_update(of=("self",))
        .select_related("solution")
        .filter(id=revision_id, needs_verification=True)
        .first()
    )
    if revision is None:
        return
    if revision.verification_attempts >= MAX_ATTEMPTS:
        _give_up(revision, reason)
        return
    revision.verification_detail = shorten(storable(reason), MAX_DETAIL)
    revision.verification_lease_until = None
    revision.save(update_fields=["verification_detail", "verification_lease_until"])


def _give_up(revision: Revision, reason: str) -> None:
    revision.verification_detail = shorten(storable(reason), MAX_DETAIL)
    _settle(revision, "verification_detail")
    record_about_revision(SYSTEM, Event.REVISION_VERIFIED, revision, {"passed": None, "reason": reason})


def _settle(revision: Revision, *fields: str) -> None:
    revision.needs_verification = False
    revision.verification_lease_until = None
    revision.verification_attempts = 0
    revision.save(
        update_fields=[*fields, "needs_verification", "verification_lease_until", "verification_attempts"]
    )

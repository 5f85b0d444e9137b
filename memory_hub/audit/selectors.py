"""Reading the audit trail, and checking that nobody has changed it."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from .models import AuditDetail, AuditEntry, AuditSeal
from .services import GENESIS, detail_digest, entry_digest


@dataclass(frozen=True)
class Fault:
    """One place where a chain does not hold."""

    chain: UUID
    sequence: int
    entry_id: UUID
    problem: str


def entries_of_projects(project_ids: list[UUID]) -> QuerySet[AuditEntry]:
    """Return the entries of these projects, newest first, with their readable detail."""
    return AuditEntry.objects.filter(project_id__in=project_ids).select_related("detail")


def entries_of_team(team_id: UUID) -> QuerySet[AuditEntry]:
    """Return all entries of a team, newest first, with their readable detail."""
    return AuditEntry.objects.filter(team_id=team_id).select_related("detail")


def verify_chains() -> list[Fault]:
    """Walk every chain and return each entry that was changed, removed, inserted or reordered."""
    faults: list[Fault] = []
    for chain in AuditSeal.objects.order_by().values_list("chain", flat=True).distinct():
        previous, expected = GENESIS, 1
        for seal in AuditSeal.objects.filter(chain=chain).order_by("sequence").iterator():
            problem = _problem(seal, previous, expected)
            if problem:
                faults.append(Fault(chain, seal.sequence, seal.entry_id, problem))
            previous, expected = seal.digest, seal.sequence + 1
    return faults


def _problem(seal: AuditSeal, previous: str, expected: int) -> str:
    if seal.sequence != expected:
        return f"seals {expected} to {seal.sequence - 1} are missing"
    entry = AuditEntry.objects.filter(id=seal.entry_id).first()
    if entry is None:
        return "the entry was removed"
    if entry_digest(previous, entry) != seal.digest:
        return "the entry or its place in the chain was changed"
    detail = AuditDetail.objects.filter(entry=entry).first()
    if detail is not None:  # erased details are allowed to be gone, never to be different
        readable = {
            "actor_label": detail.actor_label,
            "object_label": detail.object_label,
            "data": detail.data,
        }
        if detail_digest(detail.salt, readable) != entry.detail_digest:
            return "the readable detail was changed"
    return ""

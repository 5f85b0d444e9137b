"""Writing the audit trail: record one entry; seal entries into hash chains."""

import hashlib
import json
import secrets
from typing import Any, Protocol
from uuid import UUID

from django.db import connection, transaction

from memory_hub.common.clock import now
from memory_hub.common.request_id import current_request_id
from memory_hub.common.text import shorten

from .events import Event
from .models import AuditDetail, AuditEntry, AuditSeal

NO_TEAM = UUID(int=0)
GENESIS = "0" * 64
_SEAL_BATCH = 5_000


class AuditedActor(Protocol):
    """What the trail needs to know of an actor; the access room's Actor fits."""

    @property
    def kind(self) -> str: ...
    @property
    def user_id(self) -> UUID | None: ...
    @property
    def through_id(self) -> UUID | None: ...
    @property
    def label(self) -> str: ...


def record(
    *,
    actor: AuditedActor,
    event: Event,
    object_kind: str,
    object_id: UUID | None,
    object_label: str = "",
    team_id: UUID | None = None,
    project_id: UUID | None = None,
    data: dict[str, Any] | None = None,
) -> AuditEntry:
    """Add one entry in the caller's transaction, so that the deed and its record stand or fall together.

    `data` holds the readable before and after; it must be JSON and must never hold a secret.
    """
    salt = secrets.token_hex(16)
    detail = {
        "actor_label": shorten(actor.label, 200),
        "object_label": shorten(object_label, 200),
        "data": data or {},
    }
    entry = AuditEntry.objects.create(
        team_id=team_id,
        project_id=project_id,
        event=event.value,
        actor_kind=actor.kind,
        actor_id=actor.user_id,
        through_id=actor.through_id,
        object_kind=object_kind,
        object_id=object_id,
        request_id=current_request_id(),
        at=now(),
        detail_digest=detail_digest(salt, detail),
    )
    AuditDetail.objects.create(entry=entry, team_id=team_id, project_id=project_id, salt=salt, **detail)
    return entry


def detail_digest(salt: str, detail: dict[str, Any]) -> str:
    """Return SHA-256 over the salt and the detail as canonical JSON."""
    return hashlib.sha256((salt + _canonical(detail)).encode()).hexdigest()


def entry_digest(previous: str, entry: AuditEntry) -> str:
    """Return the digest of a chain's next link."""
    sealed = {
        "id": str(entry.id),
        "team": str(entry.team_id),
        "project": str(entry.project_id),
        "event": entry.event,
        "actor_kind": entry.actor_kind,
        "actor": str(entry.actor_id),
        "through": str(entry.through_id),
        "object_kind": entry.object_kind,
        "object": str(entry.object_id),
        "request": entry.request_id,
        "at": entry.at.isoformat(),
        "detail": entry.detail_digest,
    }
    return hashlib.sha256((previous + _canonical(sealed)).encode()).hexdigest()


def seal_entries() -> int:
    """Append every entry that has no seal yet to its team's chain; return how many were sealed.

    One sealer at a time (an advisory lock); order within a chain is the order of sealing, which the chain fixes.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('audit-seal'))")
        sealed = AuditSeal.objects.values("entry_id")
        waiting = list(AuditEntry.objects.exclude(id__in=sealed).order_by("id")[:_SEAL_BATCH])
        tips: dict[UUID, tuple[int, str]] = {}
        seals = []
        for entry in waiting:
            chain = entry.team_id or NO_TEAM
            sequence, previous = tips.get(chain) or _tip(chain)
            digest = entry_digest(previous, entry)
            tips[chain] = (sequence + 1, digest)
            seals.append(
                AuditSeal(
                    chain=chain, sequence=sequence + 1, entry_id=entry.id, digest=digest, sealed_at=now()
                )
            )
        AuditSeal.objects.bulk_create(seals)
    return len(seals)


def _tip(chain: UUID) -> tuple[int, str]:
    last = AuditSeal.objects.filter(chain=chain).order_by("-sequence").first()
    return (last.sequence, last.digest) if last else (0, GENESIS)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

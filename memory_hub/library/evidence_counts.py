"""Evidence on revisions or lessons as a few sums each. SQL by hand, since it is on the way of every recall and list."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from uuid import UUID

from django.db import connection

from memory_hub.access.actor import Actor
from memory_hub.common.clock import now

from .quality import PERIOD, Observations

_COUNTS = """
SELECT e.{subject}_id, e.kind, floor(extract(epoch FROM %(now)s - e.created_at) / %(period)s)::integer AS periods,
       count(*) FILTER (WHERE newer.id IS NULL AND e.outcome = 'success'),
       count(*) FILTER (WHERE newer.id IS NULL AND e.outcome = 'failure'),
       count(*) FILTER (WHERE newer.id IS NULL AND e.outcome = 'not_applicable'),
       -- A check that failed since takes the place of one that passed, and does not undo that it passed.
       max(e.created_at) FILTER (WHERE e.kind = 'verified' AND e.outcome = 'success'),
       max(e.created_at) FILTER (
           WHERE newer.id IS NULL AND e.kind = 'reused' AND e.outcome IN ('success', 'failure'))
FROM library_evidence e LEFT JOIN library_evidence newer ON newer.supersedes_id = e.id
WHERE e.{subject}_id = ANY (%(ids)s) AND (%(is_system)s OR e.project_id = ANY (%(projects)s))
  -- The author's own stars are shown, and count for nothing.
  AND NOT (e.kind = 'rated' AND coalesce(e.detail -> 'own_work' = 'true', false))
GROUP BY e.{subject}_id, e.kind, periods
"""
_SUBJECTS = ("revision", "lesson")


def observations(
    actor: Actor, subject: str, counts_for: Mapping[UUID, UUID]
) -> Mapping[UUID, Collection[Observations]]:
    """Return what was observed of each revision or lesson (`subject`) that counts, in one query.

    counts_for: each one whose evidence is read, with the one for which it counts.
    """
    if subject not in _SUBJECTS:
        raise ValueError(subject)
    found: dict[UUID, list[Observations]] = defaultdict(list)
    if not counts_for:
        return found
    with connection.cursor() as cursor:
        cursor.execute(
            _COUNTS.format(subject=subject),
            {
                "now": now(),
                "period": PERIOD.total_seconds(),
                "ids": list(counts_for),
                "is_system": actor.is_system,
                "projects": actor.project_ids,
            },
        )
        for one, kind, periods, success, failure, not_applicable, verified, used in cursor.fetchall():
            seen = Observations(kind, success, failure, not_applicable, periods, verified, used)
            found[counts_for[one]].append(seen)
    return found

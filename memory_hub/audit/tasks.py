"""Housekeeping of the audit trail."""

from celery import shared_task

from .services import seal_entries


@shared_task(name="housekeeping.seal_audit")
def seal_audit() -> None:
    """Seal new entries into their chains. Runs on the housekeeping queue, as hub_owner."""
    seal_entries()

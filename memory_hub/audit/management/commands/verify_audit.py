"""bin/manage verify_audit: find a changed, removed, inserted or reordered entry, and name it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memory_hub.audit.selectors import verify_chains


class Command(BaseCommand):
    help = "Walk every audit chain; exit 1 and name each entry that does not hold."

    def handle(self, *args: Any, **options: Any) -> None:
        faults = verify_chains()
        for fault in faults:
            self.stdout.write(f"{fault.chain} #{fault.sequence} {fault.entry_id}: {fault.problem}")
        if faults:
            raise CommandError(f"{len(faults)} place(s) of the audit trail do not hold.")
        self.stdout.write("The audit trail holds.")

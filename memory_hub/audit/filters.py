"""The filters of the audit trail, the same for its page and its API."""

import django_filters

from .events import Event
from .models import AuditEntry


class AuditFilter(django_filters.FilterSet):
    """Entries by what happened and who did it."""

    event = django_filters.ChoiceFilter(
        label="Event", choices=[(event.value, event.label) for event in Event]
    )
    actor = django_filters.UUIDFilter(label="Person", field_name="actor_id")

    class Meta:
        model = AuditEntry
        fields: list[str] = []

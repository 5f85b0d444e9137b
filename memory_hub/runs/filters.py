"""The filters of the runs, the same for their page and their API."""

from typing import Any

import django_filters
from django.db.models import QuerySet

from .models import Run

_UNDER_WAY = "under_way"  # queued or running


class RunFilter(django_filters.FilterSet):
    """Runs by how far they are and who started them."""

    state = django_filters.ChoiceFilter(
        label="State", choices=[(_UNDER_WAY, "Under way"), *Run.State.choices], method="by_state"
    )
    starter = django_filters.UUIDFilter(label="Started by", field_name="starter_id")

    class Meta:
        model = Run
        fields: list[str] = []

    def by_state(self, queryset: "QuerySet[Any]", name: str, value: str) -> "QuerySet[Any]":
        states = (Run.State.QUEUED, Run.State.RUNNING) if value == _UNDER_WAY else (value,)
        return queryset.filter(state__in=states)

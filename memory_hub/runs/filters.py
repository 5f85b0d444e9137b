"""The filters of the runs, the same for their page and their API."""

import django_filters

from .models import Run


class RunFilter(django_filters.FilterSet):
    """Runs by how far they are and who started them."""

    state = django_filters.ChoiceFilter(label="State", choices=Run.State.choices)
    starter = django_filters.UUIDFilter(label="Started by", field_name="starter_id")

    class Meta:
        model = Run
        fields: list[str] = []

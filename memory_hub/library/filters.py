"""The filters of the library, the same for its page and its API."""

from typing import Any

import django_filters
from django.db.models import Q, QuerySet

from .models import Lesson, Solution


class SolutionStatus:
    """What a list calls the status of a solution, from its revisions and whether it is put away."""

    CHOICES = (
        ("approved", "Approved"),
        ("candidate", "Waiting for review"),
        ("rejected", "Rejected"),
        ("deprecated", "Deprecated"),
        ("archived", "Archived"),
    )


class SolutionFilter(django_filters.FilterSet):
    """Archived solutions are shown only when asked for."""

    status = django_filters.ChoiceFilter(label="Status", choices=SolutionStatus.CHOICES, method="by_status")
    verification = django_filters.ChoiceFilter(
        label="Check",
        choices=[
            ("passed", "Check passed"),
            ("failed", "Check failed"),
            ("unverified", "Unverified"),
            ("stale", "Check stale"),
        ],
        method="by_verification",
    )
    kind = django_filters.ChoiceFilter(label="Kind", choices=Solution.Kind.choices)
    tag = django_filters.CharFilter(label="Tag", method="by_tag")
    author = django_filters.UUIDFilter(label="Author", field_name="author_id")

    class Meta:
        model = Solution
        fields: list[str] = []

    def filter_queryset(self, queryset: "QuerySet[Any]") -> "QuerySet[Any]":
        if self.form.cleaned_data.get("status") != "archived":
            queryset = queryset.filter(archived_at=None)
        return super().filter_queryset(queryset)

    def by_status(self, queryset: "QuerySet[Any]", name: str, value: str) -> "QuerySet[Any]":
        if value == "archived":
            return queryset.exclude(archived_at=None)
        if value == "approved":
            return queryset.exclude(approved_revision=None)
        if value == "candidate":  # also a refinement of what is approved
            return queryset.filter(latest_revision__status=value)
        return queryset.filter(approved_revision=None, latest_revision__status=value)

    def by_verification(self, queryset: "QuerySet[Any]", name: str, value: str) -> "QuerySet[Any]":
        served = Q(approved_revision__verification=value)
        return queryset.filter(served | Q(approved_revision=None, latest_revision__verification=value))

    def by_tag(self, queryset: "QuerySet[Any]", name: str, value: str) -> "QuerySet[Any]":
        return queryset.filter(tags__contains=[value.strip().lower()])


class LessonFilter(django_filters.FilterSet):
    """Lessons by what went wrong and whether a fix is known."""

    exception = django_filters.CharFilter(label="Exception", method="by_exception")
    state = django_filters.ChoiceFilter(
        label="Fix", choices=[("fixed", "Fix known"), ("open", "No fix yet")], method="by_state"
    )
    solution = django_filters.UUIDFilter(label="Solution", field_name="solution_id")

    class Meta:
        model = Lesson
        fields: list[str] = []

    def by_exception(self, queryset: "QuerySet[Any]", name: str, value: str) -> "QuerySet[Any]":
        return queryset.filter(exception_type__iendswith=value.strip())

    def by_state(self, queryset: "QuerySet[Any]", name: str, value: str) -> "QuerySet[Any]":
        return queryset.filter(is_open=value == "open")

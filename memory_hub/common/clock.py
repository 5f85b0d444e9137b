"""The one place that tells the time, so that tests can move it."""

from datetime import datetime

from django.utils import timezone


def now() -> datetime:
    """Return the current time, aware, in UTC."""
    return timezone.now()

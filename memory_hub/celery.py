"""The Celery application: three queues, and the beat schedule in code.

Messages carry ids only and are nudges: whatever they ask for can be derived again from row state,
and the sweeps below re-send it, so Redis may be wiped at any time.
"""

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_hub.settings")

app = Celery("memory_hub")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(
    lambda: [
        "memory_hub.audit",
        "memory_hub.runs",
        "memory_hub.library",
        "memory_hub.recall",
        "agents_runner",
    ]
)
app.conf.task_routes = {
    "agents_runner.execute_run": {"queue": "runs"},
    "agents_runner.*": {"queue": "memory"},
    "recall.*": {"queue": "memory"},
    "library.*": {"queue": "memory"},
    "housekeeping.*": {"queue": "housekeeping"},
}
app.conf.beat_schedule = {
    "sweep-runs": {"task": "housekeeping.sweep_runs", "schedule": 15.0},
    "sweep-run-files": {"task": "housekeeping.sweep_run_files", "schedule": 3600.0},
    "sweep-library": {"task": "library.sweep", "schedule": 15.0},
    "count-terms": {"task": "recall.count_terms", "schedule": 60.0},
    "fill-embeddings": {"task": "recall.fill_embeddings", "schedule": 60.0},
    "seal-audit": {"task": "housekeeping.seal_audit", "schedule": 60.0},
}


@setup_logging.connect
def _use_django_logging(**_: Any) -> None:
    """Keep one logging configuration: Django's."""
    from logging.config import dictConfig

    from django.conf import settings

    dictConfig(settings.LOGGING)

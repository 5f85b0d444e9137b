"""Housekeeping of the runs room."""

from celery import shared_task

from .services import files_sweep, runs_sweep


@shared_task(name="housekeeping.sweep_runs")
def sweep_runs() -> None:
    """Keep runs moving when a message or a worker was lost."""
    runs_sweep()


@shared_task(name="housekeeping.sweep_run_files")
def sweep_run_files() -> None:
    """Remove files that belong to no run."""
    files_sweep()

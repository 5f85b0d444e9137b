"""Runs agents: the engine, its sandboxes, and what a run leaves behind. Started by Celery, imported by no page."""

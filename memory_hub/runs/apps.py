from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "memory_hub.runs"
    label = "runs"

from django.apps import AppConfig


class RecallConfig(AppConfig):
    name = "memory_hub.recall"
    label = "recall"

from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "memory_hub.api"
    label = "api"

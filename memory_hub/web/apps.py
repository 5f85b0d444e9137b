from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "memory_hub.web"
    label = "web"

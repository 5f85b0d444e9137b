from django.apps import AppConfig


class ReviewConfig(AppConfig):
    name = "memory_hub.review"
    label = "review"

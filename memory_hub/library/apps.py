from django.apps import AppConfig


class LibraryConfig(AppConfig):
    name = "memory_hub.library"
    label = "library"

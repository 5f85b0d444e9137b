from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "memory_hub.audit"
    label = "audit"

"""ASGI entry point: pages, REST and live streams in one process."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_hub.settings")
application = get_asgi_application()

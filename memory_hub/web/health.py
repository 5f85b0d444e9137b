"""Is the process alive; can it do its work."""

from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.db.utils import Error
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError


@require_safe
def livez(request: HttpRequest) -> JsonResponse:
    """Answer without touching anything else: the process serves requests."""
    return JsonResponse({"status": "alive"})


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Answer 200 when the database and Redis answer, else 503 and which of them does not."""
    parts = {"database": _database(), "redis": _redis()}
    ready = all(parts.values())
    return JsonResponse({"status": "ready" if ready else "not ready", **parts}, status=200 if ready else 503)


def _database() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return False
    return True


def _redis() -> bool:
    try:
        cache.get("readyz")
    except (RedisError, OSError):
        return False
    return bool(settings.REDIS_URL)

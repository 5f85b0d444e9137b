"""All routes: pages by room, REST under /api/v1/, health. tests/web/matrix.py has a row for each."""

from django.urls import include, path

from memory_hub.web import errors, health

urlpatterns = [
    path("livez", health.livez, name="livez"),
    path("readyz", health.readyz, name="readyz"),
    path("api/", include("memory_hub.api.urls")),
    path("", include("memory_hub.web.urls")),
]

handler400 = errors.bad_request
handler403 = errors.forbidden
handler404 = errors.not_found
handler429 = errors.too_many_requests
handler500 = errors.server_error

"""Routes of the REST API, one list per room."""

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from . import access, graph, library, merges, recall, review, runs, search

v1 = [
    *access.urlpatterns,
    *runs.urlpatterns,
    *library.urlpatterns,
    *graph.urlpatterns,
    *review.urlpatterns,
    *merges.urlpatterns,
    *recall.urlpatterns,
    *search.urlpatterns,
]

urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="api-schema"), name="api-docs"),
    path("v1/", include(v1)),
]

"""Routes of the pages, one list per room. A project's pages stand under /<team>/<project>/."""

from django.urls import include, path

from . import access, account, home, joining, library, merges, recall, review, runs

project_pages = [
    *home.project_urlpatterns,
    *library.urlpatterns,
    *review.urlpatterns,
    *merges.urlpatterns,
    *runs.urlpatterns,
    *recall.project_urlpatterns,
    *access.urlpatterns,
]

urlpatterns = [
    *home.urlpatterns,
    *account.urlpatterns,
    *joining.urlpatterns,
    *recall.urlpatterns,
    path("p/<slug:team>/<slug:project>/", include(project_pages)),
]

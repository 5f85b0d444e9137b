"""Pages as {count, next, previous, results}; streams that grow (steps, events, audit) use cursors."""

from rest_framework.pagination import CursorPagination, PageNumberPagination


class HubPagination(PageNumberPagination):
    """`?page=` and `?page_size=` (at most 200)."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200


class NewestFirst(CursorPagination):
    """A stable cursor over UUIDv7 ids, newest first."""

    ordering = "-id"
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200


class BySequence(CursorPagination):
    """A stable cursor over the sequence numbers of one run, oldest first."""

    ordering = "sequence"
    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 200

"""What every API view shares: the actor's transaction, undone where the answer is a refusal, and safe retries."""

import hashlib
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, cast

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django_filters import FilterSet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from memory_hub.access.actor import Actor, acting_as
from memory_hub.access.models import Project
from memory_hub.access.selectors import project_get
from memory_hub.common.errors import Conflict, HubError, InvalidInput, TooLarge
from memory_hub.common.pagination import HubPagination

from .models import IdempotentAnswer

RETRY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="A retry with the same key changes nothing twice.",
)


class HubView(APIView):
    """One operation or two on one thing. Inside a handler, `self.actor` acts and a transaction is open."""

    actor: Actor

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)  # authentication, in a transaction of its own
        _read_body(request)
        self.actor = cast("Actor", request.auth)
        self._transaction = ExitStack()
        self._transaction.enter_context(acting_as(self.actor))

    def handle_exception(self, exc: Exception) -> Response:
        self._leave(failed=True)
        return super().handle_exception(exc)

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        try:
            self._leave(failed=response.status_code >= 400)  # commits: only then may 201 be said
        except Exception as error:  # noqa: BLE001 - whatever it is, it is no success any more
            response = self.handle_exception(error)
        response.headers.setdefault(
            "Cache-Control", "no-store"
        )  # rights and rows may have changed by the next call
        return super().finalize_response(request, response, *args, **kwargs)

    def _leave(self, *, failed: bool) -> None:
        stack: ExitStack | None = self.__dict__.pop("_transaction", None)
        if stack is None:
            return
        if failed:
            transaction.set_rollback(True)
        stack.close()

    def project(self) -> Project:
        """Return the project of the path, or raise NotFound."""
        return project_get(self.actor, self.kwargs["team"], self.kwargs["project"])

    def paged(self, rows: QuerySet[Any], show: Callable[[list[Any]], Any]) -> Response:
        """Return one page of the rows as {count, next, previous, results}; `show` renders the rows of the page."""
        paginator = HubPagination()
        page = paginator.paginate_queryset(rows, self.request, view=self)
        return paginator.get_paginated_response(show(list(page or [])))

    def input(self, serializer: type[Serializer[Any]], **options: Any) -> Any:
        """Return the validated body of the request, or raise InvalidInput with its fields."""
        shaped = serializer(data=self.request.data, **options)
        shaped.is_valid(raise_exception=True)
        return shaped.validated_data


def filtered(filters: type[FilterSet], request: Request, rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return the rows that the query string asks for. Raises InvalidInput for values that a filter does not know."""
    found = filters(request.query_params, queryset=rows, request=request)
    if not found.is_valid():
        raise InvalidInput("The filters are not valid: see `fields`.", fields=found.errors)
    return found.qs


def filter_parameters(filters: type[FilterSet], *, by_cursor: bool = False) -> list[OpenApiParameter]:
    """Return the filters, and the page or cursor, as OpenAPI shows them."""
    shown = [
        OpenApiParameter(
            name,
            str,
            description=found.label or "",
            enum=[value for value, _ in found.extra.get("choices", [])] or None,
        )
        for name, found in filters.base_filters.items()
    ]
    place = OpenApiParameter("cursor", str) if by_cursor else OpenApiParameter("page", int)
    return [*shown, place, OpenApiParameter("page_size", int)]


def _read_body(request: Request) -> None:
    """Read the body as it came, before anybody parses it. Raises TooLarge: DRF itself reads without a limit."""
    if (request.content_type or "").startswith("multipart/"):
        return  # uploads go to disk, each with its own limit
    try:
        request._request.body  # noqa: B018 - kept by Django
    except RequestDataTooBig:
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        raise TooLarge(f"A request may take at most {limit:,} bytes.") from None


def idempotent(request: Request, actor: Actor, project: Project) -> "IdempotentAnswer | Response | None":
    """Begin a write that may be retried with the same Idempotency-Key.

    Returns None without the header, a Response to repeat where the write was done before, else the row to complete
    with `remember`. Raises Conflict where the same key came with another request or its first try is still going on.
    """
    key = request.headers.get("Idempotency-Key")
    if not key:
        return None
    if len(key) > 128:
        raise InvalidInput("Idempotency-Key may be at most 128 characters.")
    as_json = (request.content_type or "").partition(";")[0].strip() == "application/json"
    body = request._request.body if as_json else b""
    said = f"{request.method} {request.path}\n".encode() + body
    digest = hashlib.sha256(said).hexdigest()
    actor_id = actor.through_id or actor.user_id
    if actor_id is None:
        return None
    try:
        with transaction.atomic():  # waits for a first try that is still going on
            return IdempotentAnswer.objects.create(
                team_id=project.team_id, project=project, actor_id=actor_id, key=key, request_digest=digest
            )
    except IntegrityError:
        earlier = IdempotentAnswer.objects.filter(actor_id=actor_id, key=key).first()
    if earlier is None or earlier.request_digest != digest:
        raise Conflict("This Idempotency-Key was used for another request.", code="idempotency_key_reused")
    return Response(earlier.body, status=earlier.status or 200, headers={"Idempotent-Replay": "true"})


def remember(answer: "IdempotentAnswer | None", response: Response) -> Response:
    """Keep the answer of a write for its retries; returns it."""
    if answer is not None:
        import json

        from django.core.serializers.json import DjangoJSONEncoder

        answer.body = json.loads(json.dumps(response.data, cls=DjangoJSONEncoder))
        answer.status = response.status_code
        answer.save(update_fields=["body", "status"])
    return response


__all__ = ["RETRY", "HubError", "HubView", "filter_parameters", "filtered", "idempotent", "remember"]

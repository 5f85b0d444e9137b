"""Every refusal of the API as RFC 9457 problem+json."""

import logging
from typing import Any

from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response

from memory_hub.common import errors
from memory_hub.common.errors import HubError
from memory_hub.common.problems import problem_of
from memory_hub.common.request_id import current_request_id

logger = logging.getLogger(__name__)


def problem_handler(exception: Exception, context: dict[str, Any]) -> Response | None:
    """Turn what a view raised into a problem; None for what we did not expect, which Django then logs as a 500."""
    error = _as_hub_error(exception)
    if error is None:
        return None
    body = problem_of(error, instance=context["request"].path, request_id=current_request_id())
    response = Response(body, status=error.status, content_type="application/problem+json")
    if error.status == 401:
        response["WWW-Authenticate"] = 'Bearer realm="Memory Hub"'
    wait = getattr(exception, "wait", None)
    if wait is not None:
        response["Retry-After"] = str(int(wait) + 1)
    return response


def _as_hub_error(exception: Exception) -> HubError | None:
    match exception:
        case HubError():
            return exception
        case exceptions.ValidationError():
            return errors.InvalidInput("The input is not valid: see `fields`.", fields=exception.detail)
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return errors.NotSignedIn("Send an API key (Authorization: Bearer …) or sign in.")
        case exceptions.PermissionDenied() | DjangoPermissionDenied():
            return errors.PermissionDenied("This is not allowed.")
        case exceptions.NotFound() | Http404():
            return errors.NotFound()
        case exceptions.APIException():
            code = str(exception.default_code)
            error = HubError(str(exception.detail), code=code)
            error.status = exception.status_code
            return error
    return None

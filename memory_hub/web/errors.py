"""Pages for what went wrong outside of a view's own refusals."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from memory_hub.common.errors import HubError, NotFound, PermissionDenied
from memory_hub.common.request_id import current_request_id


class ServerFault(HubError):
    """Something we did not expect. What it was is in the log, under the request id."""

    status = 500
    code = "server_fault"


class TooManyRequests(HubError):
    """More tries than the limits of django-allauth allow (sign-in, password change)."""

    status = 429
    code = "too_many_requests"


def _answer(request: HttpRequest, error: HubError) -> HttpResponse:
    if request.path.startswith("/api/"):
        from memory_hub.common.problems import problem_of

        body = problem_of(error, instance=request.path, request_id=current_request_id())
        return JsonResponse(body, status=error.status, content_type="application/problem+json")
    template = "errors/partial.html" if request.headers.get("HX-Request") else "errors/refused.html"
    return render(request, template, {"error": error}, status=error.status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, HubError("The request could not be understood."))


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, PermissionDenied("This is not allowed."))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, NotFound())


def server_error(request: HttpRequest) -> HttpResponse:
    return _answer(request, ServerFault("Something went wrong on our side. It has been logged."))


def too_many_requests(request: HttpRequest) -> HttpResponse:
    """Called by django-allauth, which looks for handler429 in the root URL configuration."""
    return _answer(
        request, TooManyRequests("Too many tries in a short time. Wait a few minutes, then try again.")
    )

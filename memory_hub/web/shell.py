"""What every page shares: the signed-in actor, the transaction, and how refusals are shown."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers

from memory_hub.access.actor import ANONYMOUS, Actor, acting_as
from memory_hub.access.models import Project, User
from memory_hub.access.policy import actor_for_user
from memory_hub.access.selectors import project_get
from memory_hub.common.errors import HubError

View = Callable[..., HttpResponseBase]


class HubRequest(HttpRequest):
    """A request whose actor is known. `project` is set on the pages of a project."""

    actor: Actor
    user: User  # signed in wherever the view is a page(); else see actor
    project: Project | None


def page(view: View) -> View:
    """Run a page for a signed-in person inside acting_as; show a HubError as a page or a 422 partial.

    The response is rendered before the transaction ends, so that a template may read rows, and a failed commit
    is never shown as success. A refusal undoes everything that the view did.
    """
    return _page(view, needs_person=True)


def public_page(view: View) -> View:
    """Like page(), for people who may not be signed in (sign-in, invitations)."""
    return _page(view, needs_person=False)


def project_page(view: View) -> View:
    """Like page(), for /<team>/<project>/…: the view gets `project`, or the person gets a 404."""

    @wraps(view)
    def with_project(request: HubRequest, team: str, project: str, **kwargs: Any) -> HttpResponseBase:
        request.project = project_get(request.actor, team, project)
        return view(request, project=request.project, **kwargs)

    return page(with_project)


def _page(view: View, *, needs_person: bool) -> View:
    @wraps(view)
    def wrapped(request: HubRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        request.actor, request.project = ANONYMOUS, None
        if request.user.is_authenticated:
            request.actor = actor_for_user(request.user)
        elif needs_person:
            return redirect_to_login(request.get_full_path())
        try:
            with acting_as(request.actor):
                response = view(request, *args, **kwargs)
                if hasattr(response, "render") and callable(response.render):
                    response = response.render()
            add_never_cache_headers(response)  # nothing private behind the back button once signed out
            return response
        except HubError as error:
            with acting_as(request.actor):  # the shell reads the person's projects
                return refusal(request, error)

    return wrapped


def refusal(request: HttpRequest, error: HubError) -> HttpResponse:
    """Return an expected refusal as a whole page, or as the partial that htmx puts into the page."""
    template = "errors/partial.html" if request.headers.get("HX-Request") else "errors/refused.html"
    return render(request, template, {"error": error}, status=error.status)


def undo() -> None:
    """Let a view that shows its form again with errors leave nothing of its work behind."""
    transaction.set_rollback(True)

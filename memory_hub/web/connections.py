"""Pages of model connections: the list, adding, changing, retiring. A stored key is never shown."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_GET, require_http_methods

from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can, require
from memory_hub.common.errors import Conflict, InvalidInput
from memory_hub.runs import selectors
from memory_hub.runs.services import connection_change, connection_create, connection_retire

from .answers import shown_again, tell, url_in
from .run_forms import ConnectionForm
from .shell import HubRequest, project_page


@project_page
@require_GET
def connections(request: HubRequest, project: Project) -> HttpResponse:
    """List the connections in use."""
    context = {
        "connections": selectors.connections(request.actor, project),
        "may_manage": can(request.actor, Permission.CONNECTION_MANAGE, project),
    }
    return render(request, "runs/connections.html", context)


@project_page
@require_http_methods(["GET", "POST"])
def connection_new(request: HubRequest, project: Project) -> HttpResponse:
    """Add a connection."""
    require(request.actor, Permission.CONNECTION_MANAGE, project)
    form = ConnectionForm(request.POST or None, initial={"kind": "openai"})
    if request.method != "POST":
        return render(request, "runs/connection_form.html", {"form": form})
    if not form.is_valid():
        return shown_again(request, "runs/connection_form.html", {"form": form})
    data = form.cleaned_data
    try:
        connection = connection_create(
            actor=request.actor, project=project, name=data["name"], kind=data["kind"], base_url=data["base_url"],
            model_id=data["model_id"], secret=form.given_secret() or "", options=form.options(),
        )  # fmt: skip
    except (InvalidInput, Conflict) as error:
        tell(form, error)
        return shown_again(request, "runs/connection_form.html", {"form": form}, error)
    messages.success(request, f"“{connection.name}” can be chosen for runs now.")
    return redirect(url_in(project, "connections"))


@project_page
@require_http_methods(["GET", "POST"])
def connection_edit(request: HubRequest, project: Project, connection: UUID) -> HttpResponse:
    """Change a connection."""
    found = selectors.connection_get(request.actor, connection, project=project)
    require(request.actor, Permission.CONNECTION_MANAGE, found)
    if request.method != "POST":
        form = ConnectionForm(connection=found, initial=ConnectionForm.initial_of(found))
        return render(request, "runs/connection_form.html", {"form": form, "connection": found})
    form = ConnectionForm(request.POST, connection=found)
    context = {"form": form, "connection": found}
    if not form.is_valid():
        return shown_again(request, "runs/connection_form.html", context)
    data = form.cleaned_data
    try:
        connection_change(
            actor=request.actor, connection=found, name=data["name"], base_url=data.get("base_url"),
            model_id=data.get("model_id"), secret=form.given_secret(), options=form.options(),
        )  # fmt: skip
    except (InvalidInput, Conflict) as error:
        tell(form, error)
        return shown_again(request, "runs/connection_form.html", context, error)
    messages.success(request, "Saved.")
    return redirect(url_in(project, "connections"))


@project_page
@require_http_methods(["GET", "POST"])
def connection_retire_view(request: HubRequest, project: Project, connection: UUID) -> HttpResponse:
    """Ask, then take a connection out of use."""
    found = selectors.connection_get(request.actor, connection, project=project)
    require(request.actor, Permission.CONNECTION_MANAGE, found)
    if request.method != "POST":
        return render(request, "runs/connection_retire.html", {"connection": found})
    connection_retire(actor=request.actor, connection=found)
    messages.success(request, f"“{found.name}” is out of use, and its key is deleted.")
    return redirect(url_in(project, "connections"))


urlpatterns = [
    path("connections/", connections, name="connections"),
    path("connections/new/", connection_new, name="connection_new"),
    path("connections/<uuid:connection>/", connection_edit, name="connection_edit"),
    path("connections/<uuid:connection>/retire/", connection_retire_view, name="connection_retire"),
]

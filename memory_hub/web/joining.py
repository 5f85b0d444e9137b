"""The page behind an invitation's link, and the making of a project."""

from django.contrib import messages
from django.contrib.auth import login
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods

from memory_hub.access.models import Team
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require_in_team
from memory_hub.access.selectors import team_get
from memory_hub.access.services.invitations import (
    invitation_accept,
    invitation_accept_as_new,
    invitation_find,
)
from memory_hub.access.services.projects import project_create
from memory_hub.common.errors import HubError

from .access_forms import JoinForm, ProjectForm
from .answers import shown_again, tell, url_in
from .shell import HubRequest, page, public_page

_BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


@public_page
@require_http_methods(["GET", "POST"])
def invitation(request: HubRequest, token: str) -> HttpResponse:
    """Join as the signed-in person, or with a new account."""
    found = invitation_find(token)
    signed_in = request.actor.user_id is not None
    form = None if signed_in else JoinForm(request.POST or None, initial={"email": found.email})
    context = {"invitation": found, "form": form, "token": token}
    if request.method != "POST":
        return render(request, "access/invitation.html", context)
    if form is None:
        invitation_accept(token=token, user=request.user)
    else:
        if not form.is_valid():
            return shown_again(request, "access/invitation.html", context)
        try:
            user = invitation_accept_as_new(token=token, **form.cleaned_data)
        except HubError as error:
            tell(form, error)
            return shown_again(request, "access/invitation.html", context, error)
        login(request, user, backend=_BACKEND)
    messages.success(request, f"Welcome to {found.project.name}.")
    return redirect(url_in(found.project, "project"))


@page
@require_http_methods(["GET", "POST"])
def project_new(request: HubRequest, team: str) -> HttpResponse:
    """Make a project in a team one administers."""
    found: Team = team_get(request.actor, team)
    require_in_team(request.actor, Permission.TEAM_MANAGE, found.id)
    form = ProjectForm(request.POST or None)
    context = {"form": form, "team": found}
    if request.method != "POST":
        return render(request, "access/project_new.html", context)
    if not form.is_valid():
        return shown_again(request, "access/project_new.html", context)
    try:
        made = project_create(actor=request.actor, team=found, creator=request.user, **form.cleaned_data)
    except HubError as error:
        tell(form, error)
        return shown_again(request, "access/project_new.html", context, error)
    messages.success(request, f"{made.name} is ready.")
    return redirect("project", team=found.slug, project=made.slug)


urlpatterns = [
    path("invitations/<str:token>/", invitation, name="invitation"),
    path("teams/<slug:team>/projects/new/", project_new, name="project_new"),
]

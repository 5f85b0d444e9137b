"""Pages of members, invitations, keys, the audit trail and the settings of a project."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from memory_hub.access import selectors
from memory_hub.access.models import Project, RecallPolicy
from memory_hub.access.permissions import PROJECT_PERMISSIONS, Permission, Role
from memory_hub.access.policy import can, require, role_in
from memory_hub.access.services.invitations import invitation_create, invitation_revoke
from memory_hub.access.services.keys import key_create, key_revoke
from memory_hub.access.services.projects import member_change, member_remove, project_change
from memory_hub.audit.events import Event
from memory_hub.audit.filters import AuditFilter
from memory_hub.audit.models import AuditDetail, AuditEntry
from memory_hub.common.errors import HubError, InvalidInput

from .access_forms import InvitationForm, KeyForm, MemberForm, SettingsForm
from .answers import attach_snippet, shown_again, tell, url_in
from .shell import HubRequest, project_page

_AUDIT_PAGE = 50


@project_page
@require_http_methods(["GET", "POST"])
def members(request: HubRequest, project: Project) -> HttpResponse:
    """Who is in the project with which role; POST makes an invitation, whose link is shown this one time."""
    form = InvitationForm(request.POST or None)
    context = {
        "form": form,
        "members": selectors.members(request.actor, project),
        "may_manage": can(request.actor, Permission.MEMBERS_MANAGE, project),
        "roles": list(Role),
        "matrix": [
            (permission.value, [role.rank >= least.rank for role in Role])
            for permission, (least, _) in PROJECT_PERMISSIONS.items()
        ],
    }
    if context["may_manage"]:
        context["invitations"] = selectors.invitations(request.actor, project)
    if request.method != "POST":
        return render(request, "access/members.html", context)
    if not form.is_valid():
        return shown_again(request, "access/members.html", context)
    invitation, token = invitation_create(
        actor=request.actor,
        project=project,
        role=Role(form.cleaned_data["role"]),
        email=form.cleaned_data["email"],
    )
    context["link"] = request.build_absolute_uri(reverse("invitation", args=[token]))
    context |= {"invited": invitation, "form": InvitationForm()}
    return render(request, "access/members.html", context, status=201)


@project_page
@require_POST
def member_edit(request: HubRequest, project: Project, membership: UUID) -> HttpResponse:
    """Give a member another role, or take them out."""
    found = selectors.member_get(request.actor, project, membership)
    if "remove" in request.POST:
        member_remove(actor=request.actor, membership=found)
        messages.success(request, f"{found.user.name} is no longer in the project.")
        return redirect("home" if found.user_id == request.actor.user_id else url_in(project, "members"))
    form = MemberForm(request.POST)
    if not form.is_valid():
        raise InvalidInput("Choose one of the roles.")
    member_change(actor=request.actor, membership=found, role=Role(form.cleaned_data["role"]))
    messages.success(request, f"{found.user.name} is {form.cleaned_data['role']} now.")
    return redirect(url_in(project, "members"))


@project_page
@require_POST
def invitation_end(request: HubRequest, project: Project, invitation: UUID) -> HttpResponse:
    """Make a pending link useless."""
    invitation_revoke(
        actor=request.actor, invitation=selectors.invitation_get(request.actor, project, invitation)
    )
    messages.success(request, "The link no longer works.")
    return redirect(url_in(project, "members"))


@project_page
@require_http_methods(["GET", "POST"])
def keys(request: HubRequest, project: Project) -> HttpResponse:
    """The keys one may see; POST makes one, which is shown this one time."""
    require(request.actor, Permission.KEYS_MANAGE, project)
    held = role_in(request.actor, project) or Role.VIEWER
    form = KeyForm(request.POST or None, held=held)
    context = {"form": form, "keys": selectors.keys(request.actor, project)}
    if request.method != "POST":
        return render(request, "access/keys.html", context)
    if not form.is_valid():
        return shown_again(request, "access/keys.html", context)
    try:
        key, secret = key_create(actor=request.actor, project=project, **form.values())
    except HubError as error:
        tell(form, error)
        return shown_again(request, "access/keys.html", context, error)
    context |= {
        "form": KeyForm(held=held),
        "made": key,
        "secret": secret,
        "snippet": attach_snippet(request, project, secret),
    }
    return render(request, "access/keys.html", context, status=201)


@project_page
@require_POST
def key_end(request: HubRequest, project: Project, key: UUID) -> HttpResponse:
    """Stop a key at once."""
    found = selectors.key_get(request.actor, project, key)
    key_revoke(actor=request.actor, key=found)
    messages.success(request, f"“{found.name}” is revoked.")
    return redirect(url_in(project, "keys"))


@project_page
@require_GET
def audit(request: HubRequest, project: Project) -> HttpResponse:
    """Who did what, newest first; `?event=` and `?actor=` narrow, `?before=` an entry goes on from there.

    A cursor, not page numbers: entries are added while somebody reads, and a long trail is never counted.
    """
    everything = selectors.audit_trail(request.actor, project)
    found = AuditFilter(request.GET, queryset=everything)
    before = _entry_id(request.GET.get("before", ""))
    valid = found.is_valid() and before is not None
    entries = found.qs if valid else everything.none()
    if before:
        entries = entries.filter(id__lt=before)
    shown = list(entries[: _AUDIT_PAGE + 1])
    context = {
        "filter": found,
        "entries": [_audit_row(entry) for entry in shown[:_AUDIT_PAGE]],
        "older": shown[_AUDIT_PAGE - 1].id if len(shown) > _AUDIT_PAGE else None,
        "is_continued": bool(before),
        "is_filtered": bool(request.GET.get("event") or request.GET.get("actor")),
        "valid": valid,
    }
    return render(request, "access/audit.html", context, status=200 if valid else 422)


def _audit_row(entry: AuditEntry) -> dict[str, Any]:
    detail: AuditDetail | None = getattr(entry, "detail", None)  # erasure may have removed it
    data = detail.data.items() if detail else ()
    return {
        "entry": entry,
        "sentence": Event(entry.event).sentence,
        "data": [(name.replace("_", " ").capitalize(), _in_words(value)) for name, value in data],
    }


def _in_words(value: Any) -> str:
    """Return a value of an entry's data as text: a change as before → after, a list with commas."""
    match value:
        case {"before": before, "after": after}:
            return f"{_in_words(before)} → {_in_words(after)}"
        case list():
            return ", ".join(map(_in_words, value)) or "none"
        case bool():
            return "yes" if value else "no"
        case None | "":
            return "nothing"
    return str(value)


def _entry_id(text: str) -> UUID | str | None:
    """Return the id, "" for none, or None for what is no id."""
    try:
        return UUID(text) if text else ""
    except ValueError:
        return None


@project_page
@require_http_methods(["GET", "POST"])
def project_settings(request: HubRequest, project: Project) -> HttpResponse:
    """How the project works."""
    require(request.actor, Permission.PROJECT_MANAGE, project)
    fields = ("name", "description", "recall_policy", "allow_self_approval")
    if request.method != "POST":
        form = SettingsForm(initial={name: getattr(project, name) for name in fields})
        return render(request, "access/settings.html", {"form": form})
    form = SettingsForm(request.POST)
    if not form.is_valid():
        return shown_again(request, "access/settings.html", {"form": form})
    data = form.cleaned_data
    try:
        project_change(
            actor=request.actor,
            project=project,
            name=data["name"],
            description=data["description"],
            recall_policy=RecallPolicy(data["recall_policy"]),
            allow_self_approval=data["allow_self_approval"],
        )
    except HubError as error:
        tell(form, error)
        return shown_again(request, "access/settings.html", {"form": form}, error)
    messages.success(request, "Saved.")
    return redirect(url_in(project, "project_settings"))


urlpatterns = [
    path("members/", members, name="members"),
    path("members/<uuid:membership>/", member_edit, name="member_edit"),
    path("invitations/<uuid:invitation>/revoke/", invitation_end, name="invitation_revoke"),
    path("keys/", keys, name="keys"),
    path("keys/<uuid:key>/revoke/", key_end, name="key_revoke"),
    path("audit/", audit, name="audit"),
    path("settings/", project_settings, name="project_settings"),
]

"""What base.html needs on every page."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from memory_hub.access.actor import ANONYMOUS, Actor
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can, role_in
from memory_hub.access.selectors import my_projects
from memory_hub.common.request_id import current_request_id
from memory_hub.review.selectors import waiting_count

# (label, url name, icon, permission to see it)
_NAVIGATION = (
    ("Overview", "project", "home", Permission.PROJECT_READ),
    ("Library", "library", "book", Permission.LIBRARY_READ),
    ("Lessons", "lessons", "lightbulb", Permission.LIBRARY_READ),
    ("Review", "review_queue", "check", Permission.LIBRARY_READ),
    ("Runs", "runs", "play", Permission.RUN_READ),
    ("Connections", "connections", "plug", Permission.RUN_READ),
    ("Members", "members", "users", Permission.MEMBERS_READ),
    ("Keys", "keys", "key", Permission.KEYS_MANAGE),
    ("Audit", "audit", "shield", Permission.AUDIT_READ),
    ("Settings", "project_settings", "settings", Permission.PROJECT_MANAGE),
)


def shell(request: HttpRequest) -> dict[str, Any]:
    """Return the person, their projects, and the navigation of the project they are in."""
    actor: Actor = getattr(request, "actor", ANONYMOUS)
    project: Project | None = getattr(request, "project", None)
    user = getattr(request, "user", None)
    signed_in = actor.user_id is not None
    role = role_in(actor, project) if project else None
    return {
        "actor": actor,
        "request_id": current_request_id(),
        "actor_user": user if signed_in else None,
        "my_projects": list(my_projects(actor)) if signed_in else [],
        "current_project": project,
        "current_team": project.team if project else None,
        "role_label": role.label if role else "",
        "nav": _navigation(request, actor, project) if project else [],
    }


def _navigation(request: HttpRequest, actor: Actor, project: Project) -> list[dict[str, Any]]:
    items = []
    for label, name, icon, permission in _NAVIGATION:
        if not can(actor, permission, project):
            continue
        url = reverse(name, args=[project.team.slug, project.slug])
        active = request.path == url if name == "project" else request.path.startswith(url)
        count = waiting_count(actor, project) if name == "review_queue" else None
        items.append({"label": label, "url": url, "icon": icon, "active": active, "count": count})
    return items

"""Answers that several pages give: a form shown again with what was wrong, and the addresses of a project."""

from collections.abc import Mapping
from typing import Any

from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from memory_hub.access.models import Project
from memory_hub.common.errors import HubError

from .shell import HubRequest, undo


def shown_again(
    request: HubRequest, template: str, context: Mapping[str, Any], error: HubError | None = None
) -> HttpResponse:
    """Render a form that was refused; nothing that the view did is kept. Rendered first: the shell reads rows."""
    response = render(request, template, dict(context), status=error.status if error else 422)
    undo()
    return response


def tell(form: Form, error: HubError, renamed: Mapping[str, str] | None = None) -> None:
    """Put what a service refused at the fields it names; `renamed` maps its field names to those of the form."""
    fields = error.extra.get("fields") or {}
    told = False
    for name, message in fields.items():
        field = (renamed or {}).get(name, name)
        if field in form.fields:
            form.add_error(field, message)
            told = True
    if not told:
        form.add_error(None, error.message)


def url_in(project: Project, name: str, *args: object) -> str:
    """Return the address of a page of the project."""
    return reverse(name, args=[project.team.slug, project.slug, *args])


def attach_snippet(request: HubRequest, project: Project, key: str = "mh_…") -> str:
    """Return the lines that give a smolagents agent a project's memory."""
    site = request.build_absolute_uri("/").rstrip("/")
    return (
        "from memory_hub_client import HttpHub, attach\n\n"
        f'attach(agent, HttpHub("{site}", key="{key}", project="{project.path}"))\n'
    )

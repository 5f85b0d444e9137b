"""Pages of runs: the list, a new one, one run with its log, live and at rest."""

import logging
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth import get_user
from django.core.cache import cache
from django.core.paginator import Paginator
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from redis import RedisError

from memory_hub.access.actor import acting_as
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import actor_for_user, can, require
from memory_hub.access.selectors import project_get
from memory_hub.common.errors import Conflict, HubError, InvalidInput, NotFound, TooLarge
from memory_hub.common.sse import last_event_id, sse_response
from memory_hub.runs import selectors
from memory_hub.runs.feed import follow, release_connection, require_room
from memory_hub.runs.filters import RunFilter
from memory_hub.runs.models import Run
from memory_hub.runs.samples import Sample, sample_get, samples
from memory_hub.runs.services import run_cancel, run_start

from . import connections
from .answers import shown_again, tell, url_in
from .run_context import event_html, run_page, run_row
from .run_forms import RunForm
from .shell import HubRequest, project_page

logger = logging.getLogger(__name__)

PAGE_SIZE = 25
# What workers say of the sandboxes on their machine: {name: why it does not work, or ""}.
SANDBOXES_KEY = "sandboxes"


@project_page
@require_GET
def runs(request: HubRequest, project: Project) -> HttpResponse:
    """List the runs that the address asks for."""
    everything = selectors.runs(request.actor, project)
    found = RunFilter(request.GET, queryset=everything)
    valid = found.is_valid()
    page = Paginator(found.qs if valid else everything.none(), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "filter": found,
        "page": page,
        "rows": [run_row(project, run) for run in page.object_list],
        "starters": selectors.starters(request.actor, project),
        "is_filtered": bool(request.GET.get("state") or request.GET.get("starter")),
        "may_start": can(request.actor, Permission.RUN_START, project),
    }
    return render(request, "runs/list.html", context, status=200 if valid else 422)


@project_page
@require_http_methods(["GET", "POST"])
def run_new(request: HubRequest, project: Project) -> HttpResponse:
    """Start a run: of a task of one's own, of a sample, or like one that was."""
    require(request.actor, Permission.RUN_START, project)
    sample = sample_get(request.POST.get("sample") or request.GET.get("sample") or "")
    connections_ = selectors.connections(request.actor, project)
    options: dict[str, Any] = {"connections": connections_, "sandboxes": _sandboxes()}
    if request.method != "POST":
        form = RunForm(initial=_initial(request, project, sample), **options)
        return render(request, "runs/new.html", _form_page(form, sample))
    form = RunForm(request.POST, request.FILES, **options)
    if not form.is_valid():
        return shown_again(request, "runs/new.html", _form_page(form, sample))
    values = {name: form.cleaned_data[name] for name in form.cleaned_data if name not in ("sample", "inputs")}
    try:
        run = run_start(
            actor=request.actor,
            project=project,
            inputs=[*(sample.uploads() if sample else []), *form.uploads()],
            origin=Run.Origin.SAMPLE if sample else Run.Origin.DASHBOARD,
            **values,
        )
    except (InvalidInput, TooLarge) as error:
        tell(form, error)
        return shown_again(request, "runs/new.html", _form_page(form, sample), error)
    return redirect(url_in(project, "run", run.id))


@project_page
@require_GET
def run(request: HubRequest, project: Project, run: UUID) -> HttpResponse:
    """Show a run with its whole log; while it goes on, the log grows by itself."""
    found = selectors.run_get(request.actor, run, project=project)
    return render(request, "runs/run.html", run_page(request.actor, project, found))


@project_page
@require_POST
def run_cancel_view(request: HubRequest, project: Project, run: UUID) -> HttpResponse:
    """Cancel a run."""
    found = selectors.run_get(request.actor, run, project=project)
    try:
        cancelled = run_cancel(actor=request.actor, run=found)
    except Conflict as error:
        messages.info(request, error.message)
    else:
        messages.success(request, "Cancelled." if cancelled.has_ended else "The run is asked to end.")
    return redirect(url_in(project, "run", run))


@require_GET
def run_stream(request: HubRequest, team: str, project: str, run: UUID) -> HttpResponseBase:
    """Follow the log of a run: each message is a piece of the page, with the sequence of its event as id.

    Refusals are bare: htmx shows its own words, and a browser that was signed out must not be sent to a form.
    """
    if not request.user.is_authenticated:
        return HttpResponse(status=401)
    actor = actor_for_user(request.user)
    assert actor.user_id is not None
    try:
        with acting_as(actor):
            found = selectors.run_get(actor, run, project=project_get(actor, team, project))
        require_room(actor.user_id)
    except HubError as error:
        return HttpResponse(error.message, status=error.status, content_type="text/plain")
    release_connection()
    return sse_response(
        follow(
            found.id,
            after=last_event_id(request.headers.get("Last-Event-ID"), request.GET.get("after")),
            person_id=actor.user_id,
            render=partial(event_html, team_slug=team, project_slug=project),
            shown_as="html",
            event_name=lambda _: "",
            still_allowed=lambda: _is_signed_in(request) and selectors.still_sees(actor, found.id),
        )
    )


def _is_signed_in(request: HubRequest) -> bool:
    """Read the session again: whoever signed out, or changed the password elsewhere, is no longer the person."""
    request.session = type(request.session)(request.session.session_key)
    return get_user(request).is_authenticated


def _initial(request: HubRequest, project: Project, sample: Sample | None) -> dict[str, Any]:
    if sample:
        rehearsal = selectors.connections(request.actor, project).filter(kind="rehearsal").first()
        return {
            "sample": sample.key,
            "task": sample.task,
            **({"connection": rehearsal.id} if rehearsal else {}),
        }
    try:
        like = selectors.run_get(request.actor, UUID(request.GET.get("like", "")), project=project)
    except (ValueError, NotFound):
        return {}
    names = ("task", "connection", "sandbox", "memory_on", "max_steps", "time_limit_seconds")
    return {name: getattr(like, name) for name in names}


def _form_page(form: RunForm, sample: Sample | None) -> dict[str, Any]:
    return {
        "form": form,
        "sample": sample,
        "samples": samples(),
        "has_connections": form.fields["connection"].queryset.exists(),  # type: ignore[attr-defined]
    }


def _sandboxes() -> dict[str, str]:
    """Return a word on each sandbox that workers have tried; none where nobody has said anything."""
    try:
        said = cache.get(SANDBOXES_KEY)
    except (RedisError, OSError):
        logger.warning("What workers say of the sandboxes cannot be read now")
        return {}
    if not isinstance(said, dict):
        return {}
    return {name: f"Does not work here: {why}" if why else "Works here." for name, why in said.items()}


urlpatterns = [
    path("runs/", runs, name="runs"),
    path("runs/new/", run_new, name="run_new"),
    path("runs/<uuid:run>/", run, name="run"),
    path("runs/<uuid:run>/stream/", run_stream, name="run_stream"),
    path("runs/<uuid:run>/cancel/", run_cancel_view, name="run_cancel"),
    *connections.urlpatterns,
]

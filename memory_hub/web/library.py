"""Pages of the library: the list, a solution, and what may be done with it."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can, require
from memory_hub.common.errors import Conflict, InvalidInput
from memory_hub.library import selectors
from memory_hub.library.code_facts import guess_entry_point
from memory_hub.library.drafts import NewSolution
from memory_hub.library.filters import SolutionFilter
from memory_hub.library.models import Solution
from memory_hub.library.services.solutions import (
    solution_archive,
    solution_change,
    solution_delete,
    solution_note_read,
    solution_propose,
    solution_unarchive,
)
from memory_hub.library.texts import with_line_ends_of

from . import lessons, revisions
from .answers import shown_again, tell, url_in
from .library_context import rows_of, solution_of, solution_page
from .library_forms import EditForm, NewSolutionForm
from .shell import HubRequest, project_page

PAGE_SIZE = 25
TAGS_SHOWN = 15
CHECK_FIELD = {"check_spec": "check_result"}


@project_page
@require_GET
def library(request: HubRequest, project: Project) -> HttpResponse:
    """List the solutions that the address asks for."""
    everything = selectors.solutions(request.actor, project)
    found = SolutionFilter(request.GET, queryset=everything)
    valid = found.is_valid()
    page = Paginator(found.qs if valid else everything.none(), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "filter": found,
        "chips": _chips(request, found),
        "page": page,
        "rows": rows_of(request.actor, project, list(page.object_list)),
        "tags": selectors.tag_counts(request.actor, project)[:TAGS_SHOWN],
        "is_empty": not page.paginator.count and not everything.exists(),
        "client_snippet": _client_snippet(request, project),
        "may_propose": can(request.actor, Permission.SOLUTION_PROPOSE, project),
        "may_run": can(request.actor, Permission.RUN_START, project),
    }
    return render(request, "library/list.html", context, status=200 if valid else 422)


@project_page
@require_GET
def solution(request: HubRequest, project: Project, solution: UUID) -> HttpResponse:
    """Show a solution with the revision that stands for it."""
    found = solution_of(request.actor, project, solution)
    solution_note_read(actor=request.actor, solution=found)
    return render(request, "library/solution.html", solution_page(request.actor, found))


@project_page
@require_http_methods(["GET", "POST"])
def solution_new(request: HubRequest, project: Project) -> HttpResponse:
    """Propose a solution written by hand."""
    require(request.actor, Permission.SOLUTION_PROPOSE, project)
    form = NewSolutionForm(request.POST or None)
    if request.method != "POST":
        return render(request, "library/new.html", {"form": form})
    if not form.is_valid():
        return shown_again(request, "library/new.html", {"form": form})
    data = form.cleaned_data
    code = with_line_ends_of("", data["code"])
    try:
        draft = NewSolution(
            **form.words(),
            code=code,
            entry_point=data["entry_point"].strip() or guess_entry_point(code),
            usage_example=with_line_ends_of("", data["usage_example"]),
            explanation=data["explanation"],
            check_spec=form.check_spec(),
        )
        proposed = solution_propose(actor=request.actor, project=project, draft=draft)
    except InvalidInput as error:
        tell(form, error, CHECK_FIELD)
        return shown_again(request, "library/new.html", {"form": form}, error)
    if proposed.deduplicated:
        messages.info(request, "This code for this problem is in the library already. Nothing was added.")
    else:
        messages.success(request, "The solution waits for review now.")
    return redirect(url_in(project, "solution", proposed.solution.id))


@project_page
@require_http_methods(["GET", "POST"])
def solution_edit(request: HubRequest, project: Project, solution: UUID) -> HttpResponse:
    """Change the words of a solution."""
    found = solution_of(request.actor, project, solution)
    require(request.actor, Permission.SOLUTION_EDIT, found)
    if request.method != "POST":
        form = EditForm(initial=_words_of(found))
        return render(request, "library/edit.html", {"form": form, "solution": found})
    form = EditForm(request.POST)
    context = {"form": form, "solution": found}
    if not form.is_valid():
        return shown_again(request, "library/edit.html", context)
    try:
        solution_change(
            actor=request.actor, solution=found, changes=form.words(), seen_at=form.cleaned_data["seen_at"]
        )
    except (InvalidInput, Conflict) as error:
        tell(form, error)
        return shown_again(request, "library/edit.html", context, error)
    messages.success(request, "Saved.")
    return redirect(url_in(project, "solution", found.id))


@project_page
@require_POST
def archive(request: HubRequest, project: Project, solution: UUID) -> HttpResponse:
    """Put a solution away, or bring it back."""
    found = solution_of(request.actor, project, solution)
    if request.POST.get("undo"):
        solution_unarchive(actor=request.actor, solution=found)
        messages.success(request, "The solution is back in the library.")
    else:
        solution_archive(actor=request.actor, solution=found)
        messages.success(request, "The solution is archived: agents are not offered it any more.")
    return redirect(url_in(project, "solution", found.id))


@project_page
@require_http_methods(["GET", "POST"])
def delete(request: HubRequest, project: Project, solution: UUID) -> HttpResponse:
    """Ask what to delete along, then delete for good."""
    found = solution_of(request.actor, project, solution)
    require(request.actor, Permission.SOLUTION_DELETE, found)
    if request.method == "POST":
        solution_delete(
            actor=request.actor, solution=found, with_lessons=request.POST.get("with_lessons") == "on"
        )
        messages.success(request, "The solution is deleted.")
        return redirect(url_in(project, "library"))
    context = {
        "solution": found,
        "revision_count": selectors.revisions(request.actor, found).count(),
        "lesson_count": selectors.lessons_of(request.actor, found).count(),
        "file_count": selectors.check_files(request.actor, found).count(),
    }
    return render(request, "library/delete.html", context)


def _words_of(found: Solution) -> dict[str, Any]:
    return {
        "title": found.title,
        "problem": found.problem,
        "kind": found.kind,
        "tags": ", ".join(found.tags),
        "applies_when": found.applies_when,
        "edge_cases": "\n".join(found.edge_cases),
        "seen_at": found.updated_at.isoformat(),
    }


def _client_snippet(request: HubRequest, project: Project) -> str:
    """Return the lines that attach an agent to this project, ready to be copied."""
    hub = request.build_absolute_uri("/").rstrip("/")
    return (
        "from memory_hub_client import HttpHub, attach\n\n"
        f'attach(agent, HttpHub("{hub}", key="mh_…", project="{project.path}"))\n'
    )


def _chips(request: HubRequest, found: SolutionFilter) -> list[dict[str, str]]:
    """Return the filters in force, each with the address without it."""
    chips = []
    for name in found.base_filters:
        value = request.GET.get(name, "")
        if not value:
            continue
        choices = dict(found.base_filters[name].extra.get("choices", []))
        rest = [(key, item) for key, item in request.GET.items() if key not in (name, "page") and item]
        label = found.base_filters[name].label or name
        chips.append({"text": f"{label}: {choices.get(value, value)}", "url": f"?{urlencode(rest)}"})
    return chips


urlpatterns = [
    path("library/", library, name="library"),
    path("library/new/", solution_new, name="solution_new"),
    path("library/<uuid:solution>/", solution, name="solution"),
    path("library/<uuid:solution>/edit/", solution_edit, name="solution_edit"),
    path("library/<uuid:solution>/archive/", archive, name="solution_archive"),
    path("library/<uuid:solution>/delete/", delete, name="solution_delete"),
    *revisions.urlpatterns,
    *lessons.urlpatterns,
]

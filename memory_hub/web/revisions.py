"""Pages of a revision: its code and check, its difference to another, and the next one made from it."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.common.errors import Conflict, InvalidInput
from memory_hub.common.text import slugify
from memory_hub.library import selectors
from memory_hub.library.models import Revision
from memory_hub.library.services.revisions import KEEP_CHECK, check_change, revision_refine
from memory_hub.library.services.solutions import solution_note_read
from memory_hub.library.services.verification import verification_request
from memory_hub.library.texts import with_line_ends_of

from .answers import shown_again, tell, url_in
from .library_context import check_of, revision_page, solution_of
from .library_forms import CheckForm, RefineForm
from .shell import HubRequest, project_page

CHECK_FIELD = {"check_spec": "check_result"}
# What a comparison shows beside the code: (field, heading, language).
_COMPARED = (
    ("entry_point", "Entry point", "python"),
    ("usage_example", "Usage example", "python"),
    ("explanation", "Explanation", "text"),
)


@project_page
@require_GET
def revision(request: HubRequest, project: Project, solution: UUID, number: int) -> HttpResponse:
    """Show one revision, what it changes, its check, and the decision on it."""
    found = solution_of(request.actor, project, solution)
    shown = selectors.revision_numbered(request.actor, found, number)
    solution_note_read(actor=request.actor, solution=found)
    return render(request, "library/revision.html", page_of_revision(request, found, shown))


def page_of_revision(request: HubRequest, solution: Any, shown: Revision) -> dict[str, Any]:
    """Return the context of library/revision.html."""
    before = shown.parent if shown.parent_id else None
    if solution.approved_revision and solution.approved_revision.id not in (shown.id, shown.parent_id):
        before = solution.approved_revision  # what it would replace says more than what it was made from
    return {**revision_page(request.actor, solution, shown), "before": before}


@project_page
@require_GET
def raw(request: HubRequest, project: Project, solution: UUID, number: int) -> HttpResponse:
    """Return the code exactly as it is stored, as a file."""
    found = solution_of(request.actor, project, solution)
    shown = selectors.revision_numbered(request.actor, found, number)
    solution_note_read(actor=request.actor, solution=found)
    name = slugify(shown.entry_point or found.title)[:60] or "solution"
    response = HttpResponse(shown.code.encode(), content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}-r{shown.number}.py"'
    return response


@project_page
@require_http_methods(["GET", "POST"])
def refine(request: HubRequest, project: Project, solution: UUID) -> HttpResponse:
    """Change the code of the latest revision into a new one."""
    found = solution_of(request.actor, project, solution)
    require(request.actor, Permission.REVISION_REFINE, found)
    latest = selectors.revision_numbered(request.actor, found, _number_of_latest(found))
    if request.method != "POST":
        solution_note_read(actor=request.actor, solution=found)
        form = RefineForm(initial=RefineForm.initial_of(latest))
        return render(request, "library/refine.html", {"form": form, "solution": found, "latest": latest})
    form = RefineForm(request.POST)
    context = {"form": form, "solution": found, "latest": latest}
    if not form.is_valid():
        return shown_again(request, "library/refine.html", context)
    data = form.cleaned_data
    try:
        base = selectors.revision_in(request.actor, found.id, data["based_on"])
        code = with_line_ends_of(base.code, data["code"])
        new = revision_refine(
            actor=request.actor,
            solution=found,
            based_on=base.id,
            code=code,
            entry_point=data["entry_point"].strip(),
            change_note=data["change_note"],
            explanation=data["explanation"],
            usage_example=with_line_ends_of(base.usage_example, data["usage_example"]),
            check_spec=_check_of_form(form, base),
        )
    except Conflict as error:
        return _overtaken(request, context, error)
    except InvalidInput as error:
        tell(form, error, CHECK_FIELD)
        return shown_again(request, "library/refine.html", context, error)
    running = " Its check is being run." if new.needs_verification else ""
    messages.success(request, f"Revision {new.number} is a candidate and waits for review.{running}")
    return redirect(url_in(project, "revision", found.id, new.number))


def _overtaken(request: HubRequest, context: Mapping[str, Any], error: Conflict) -> HttpResponse:
    """Show the form again with what the person wrote, beside what somebody else saved meanwhile.

    Saving once more is then a decision made in knowledge of it: the form is based on the new revision.
    """
    form, latest = context["form"], context["latest"]
    written = with_line_ends_of(latest.code, form.cleaned_data["code"])
    again = RefineForm(initial={**form.cleaned_data, "code": written, "based_on": latest.id})
    overtaken = {**context, "form": again, "overtaken": error.code == "stale_revision", "written": written}
    return shown_again(request, "library/refine.html", {**overtaken, "refusal": error.message}, error)


def _check_of_form(form: RefineForm, base: Revision) -> Mapping[str, Any] | None:
    """Return the check that was written, or KEEP_CHECK where it is that of the base."""
    spec = form.check_spec()
    kept = base.check_spec
    if spec is None:
        return KEEP_CHECK if kept is None else None
    if kept is not None and all(spec.get(part) == kept[part] for part in ("args", "kwargs", "result")):
        return KEEP_CHECK
    return spec


@project_page
@require_GET
def difference(request: HubRequest, project: Project, solution: UUID, old: int, new: int) -> HttpResponse:
    """Compare two revisions of a solution."""
    found = solution_of(request.actor, project, solution)
    before = selectors.revision_numbered(request.actor, found, old)
    after = selectors.revision_numbered(request.actor, found, new)
    solution_note_read(actor=request.actor, solution=found)
    texts = [
        {"heading": heading, "old": getattr(before, name), "new": getattr(after, name), "language": language}
        for name, heading, language in _COMPARED
        if getattr(before, name) != getattr(after, name)
    ]
    checks = [_check_text(item) for item in (before, after)]
    if checks[0] != checks[1]:
        texts.append({"heading": "Check", "old": checks[0], "new": checks[1], "language": "text"})
    context = {
        "solution": found,
        "before": before,
        "after": after,
        "texts": texts,
        "view": "split" if request.GET.get("view") == "split" else "unified",
        "revisions": list(selectors.revisions(request.actor, found)),
    }
    return render(request, "library/diff.html", context)


def _check_text(shown: Revision) -> str:
    check = check_of(shown)
    return f"{check['call']}\nreturns\n{check['result']}\n" if check else ""


@project_page
@require_GET
def check(request: HubRequest, project: Project, solution: UUID, number: int) -> HttpResponse:
    """Return the check and its result as the part of a page that asks again while it is being run."""
    found = solution_of(request.actor, project, solution)
    shown = selectors.revision_numbered(request.actor, found, number)
    return _check_part(request, found, shown)


def _check_part(request: HubRequest, solution: Any, shown: Revision) -> HttpResponse:
    context = {
        **revision_page(request.actor, solution, shown),
        "polled": True,
        "listed": "listed" in request.GET,
    }
    return render(request, "library/parts/check.html", context)


@project_page
@require_POST
def verify(request: HubRequest, project: Project, solution: UUID, number: int) -> HttpResponse:
    """Ask for the check to be run again."""
    found = solution_of(request.actor, project, solution)
    shown = selectors.revision_numbered(request.actor, found, number)
    verification_request(actor=request.actor, revision=shown)
    if request.headers.get("HX-Request"):
        shown = selectors.revision_numbered(request.actor, found, number)
        return _check_part(request, found, shown)
    messages.success(request, "The check is being run.")
    return redirect(url_in(project, "revision", found.id, number) + "#check")


@project_page
@require_http_methods(["GET", "POST"])
def check_set(request: HubRequest, project: Project, solution: UUID, number: int) -> HttpResponse:
    """Give a revision the check that it lacks."""
    found = solution_of(request.actor, project, solution)
    shown = selectors.revision_numbered(request.actor, found, number)
    require(request.actor, Permission.REVISION_REFINE, found)
    form = CheckForm(request.POST or None)
    files = list(selectors.check_files(request.actor, found))
    context = {"form": form, "solution": found, "revision": shown, "files": files}
    if request.method != "POST":
        return render(request, "library/check.html", context)
    if not form.is_valid():
        return shown_again(request, "library/check.html", context)
    try:
        check_change(actor=request.actor, revision=shown, check_spec=form.check_spec() or {})
    except (InvalidInput, Conflict) as error:
        tell(form, error, CHECK_FIELD)
        return shown_again(request, "library/check.html", context, error)
    messages.success(request, "The check is saved and being run.")
    return redirect(url_in(project, "revision", found.id, number) + "#check")


def _number_of_latest(solution: Any) -> int:
    return solution.latest_revision.number if solution.latest_revision else 1


_REVISION = "library/<uuid:solution>/revisions/<int:number>"
urlpatterns = [
    path("library/<uuid:solution>/refine/", refine, name="revision_refine"),
    path("library/<uuid:solution>/diff/<int:old>/<int:new>/", difference, name="revision_diff"),
    path(f"{_REVISION}/", revision, name="revision"),
    path(f"{_REVISION}/raw/", raw, name="revision_raw"),
    path(f"{_REVISION}/check/", check, name="revision_check"),
    path(f"{_REVISION}/check/set/", check_set, name="check_set"),
    path(f"{_REVISION}/verify/", verify, name="revision_verify"),
]

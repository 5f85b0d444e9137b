"""Pages of gaps: what was asked in a project and had no answer, recorded from the search page, and how each is settled."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods

from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can, require
from memory_hub.common.errors import Conflict, InvalidInput, NotFound
from memory_hub.library import selectors as library
from memory_hub.recall import gaps as selectors
from memory_hub.recall.browse import search_solutions
from memory_hub.recall.models import Gap
from memory_hub.recall.query_words import Filters, pairs_of, parse, word_of
from memory_hub.recall.services import gap_close, gap_dismiss, gap_record

from .answers import shown_again, tell, url_in
from .library_context import solution_of
from .search_context import address, run_new_url
from .shell import HubRequest, project_page

_PAGE_SIZE = 25
_UNANSWERED = 15
_NEWEST = 100
_STATES = (("open", "Open"), ("closed", "Closed"), ("dismissed", "Dismissed"))


def as_asked(words: str, filters: Filters) -> str:
    """Return a question with its filters in one text, as query_words.parse takes it apart again."""
    return " ".join([words, *(word_of(name, value) for name, value in pairs_of(filters))]).strip()


class GapForm(forms.Form):
    """With which solution a gap is closed; or that it is dismissed."""

    decision = forms.ChoiceField(choices=[("close", "Close it"), ("dismiss", "Dismiss it")])
    solution = forms.TypedChoiceField(
        label="The solution that answers it",
        required=False,
        help_text="Needed to close it, not to dismiss it.",
    )
    note = forms.CharField(
        label="Note", required=False, max_length=2_000, widget=forms.Textarea(attrs={"rows": 2})
    )

    def __init__(self, choices: list[Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["solution"]
        assert isinstance(field, forms.TypedChoiceField)
        field.choices = [("", "Choose a solution"), *choices]
        field.coerce, field.empty_value = UUID, None

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("decision") == "close" and not data.get("solution") and "solution" not in self.errors:
            self.add_error("solution", "Choose the solution that answers it.")
        return data


@project_page
@require_http_methods(["GET", "POST"])
def gaps(request: HubRequest, project: Project) -> HttpResponse:
    """List the gaps; on POST record what was asked as one."""
    if request.method == "POST":
        asked = parse(request.POST.get("q", ""))
        gap = gap_record(actor=request.actor, project=project, asked=asked)
        said = "Recorded as a gap." if gap.times == 1 else f"This gap was there: asked {gap.times} times now."
        messages.success(request, said)
        return redirect(url_in(project, "gap", gap.id))
    state = request.GET.get("state", "open")
    state = state if state in Gap.State.values else "open"
    everything = selectors.gaps(request.actor, project)
    page = Paginator(everything.filter(state=state), _PAGE_SIZE).get_page(request.GET.get("page"))
    url = url_in(project, "gaps")
    context = {
        "states": [
            {"label": label, "url": f"{url}?state={value}", "is_current": value == state}
            for value, label in _STATES
        ],
        "state": state,
        "page": page,
        "rows": [{"gap": gap, "url": url_in(project, "gap", gap.id)} for gap in page.object_list],
        "unanswered": selectors.unanswered_recalls(request.actor, project, limit=_UNANSWERED)
        if state == "open"
        else [],
        "may_record": can(request.actor, Permission.GAP_RECORD, project),
        "search_url": url_in(project, "project_search"),
    }
    return render(request, "recall/gaps.html", context)


@project_page
@require_http_methods(["GET", "POST"])
def gap(request: HubRequest, project: Project, gap: UUID) -> HttpResponse:
    """Show a gap and what comes nearest to an answer now; on POST close or dismiss it."""
    row = selectors.gap_get(request.actor, gap)
    if row.project_id != project.id:
        raise NotFound
    if request.method != "POST":
        return render(request, "recall/gap.html", _page_of(request, project, row))
    require(request.actor, Permission.GAP_CLOSE, row)
    form = GapForm(_choices(request, project, row), request.POST)
    if not form.is_valid():
        return shown_again(request, "recall/gap.html", _page_of(request, project, row, form))
    data = form.cleaned_data
    try:
        if data["decision"] == "close":
            solution = solution_of(request.actor, project, data["solution"])
            gap_close(actor=request.actor, gap=row, solution=solution, note=data["note"])
            messages.success(request, f"Closed with “{solution.title}”.")
        else:
            gap_dismiss(actor=request.actor, gap=row, note=data["note"])
            messages.success(request, "Dismissed.")
    except (InvalidInput, Conflict) as error:
        tell(form, error)
        return shown_again(request, "recall/gap.html", _page_of(request, project, row, form), error)
    return redirect(url_in(project, "gaps"))


def _page_of(request: HubRequest, project: Project, row: Gap, form: GapForm | None = None) -> dict[str, Any]:
    asked = selectors.asked_of(row)
    may_close = can(request.actor, Permission.GAP_CLOSE, row) and row.state == Gap.State.OPEN
    if may_close and form is None:
        form = GapForm(_choices(request, project, row))
    return {
        "gap": row,
        "words": [word_of(name, value) for name, value in pairs_of(asked.filters)],
        "form": form if may_close else None,
        "search_url": address(url_in(project, "project_search"), asked.words, asked.filters),
        "solution_url": url_in(project, "solution", row.solution_id) if row.solution_id else "",
        "run_new_url": run_new_url(request.actor, project),
    }


def _choices(request: HubRequest, project: Project, row: Gap) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the solutions that may answer a gap: those nearest to the question first, then the newest."""
    near = []
    if row.question:
        found = search_solutions(request.actor, [project], row.question)
        near = [item.solution for item in (*found.fitting[:10], *found.nearest)]
    known = [solution.id for solution in near]
    newest = library.solutions(request.actor, project).filter(archived_at=None).exclude(id__in=known)
    groups = (("Nearest to the question", near), ("The newest in the library", list(newest[:_NEWEST])))
    return [(name, [(str(item.id), item.title) for item in rows]) for name, rows in groups if rows]


urlpatterns = [
    path("gaps/", gaps, name="gaps"),
    path("gaps/<uuid:gap>/", gap, name="gap"),
]

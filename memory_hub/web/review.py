"""Pages of review: what waits, deciding on a revision, and stars."""

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_GET, require_POST

from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can
from memory_hub.common.errors import Conflict, InvalidInput
from memory_hub.library import selectors as library
from memory_hub.library.models import Revision
from memory_hub.review import selectors
from memory_hub.review.models import Review
from memory_hub.review.services import revision_approve, revision_deprecate, revision_reject, solution_rate

from .answers import shown_again, tell, url_in
from .library_context import solution_of
from .library_forms import DecisionForm, RatingForm
from .revisions import page_of_revision
from .shell import HubRequest, project_page

PAGE_SIZE = 25
PAIRS_SHOWN = 20
_SAID = {
    "approve": "Revision {number} is approved: agents are offered it from now on.",
    "reject": "Revision {number} is rejected.",
    "deprecate": "Revision {number} is deprecated: agents are not offered it any more.",
}


@project_page
@require_GET
def queue(request: HubRequest, project: Project) -> HttpResponse:
    """List what waits, oldest first: on the first page pairs to merge or keep apart, then candidates."""
    page = Paginator(selectors.queue(request.actor, project), PAGE_SIZE).get_page(request.GET.get("page"))
    rows = [
        {
            "revision": row,
            "url": url_in(project, "revision", row.solution_id, row.number),
            "reasons": selectors.why_it_waits(row),
            "decision": selectors.may_decide(request.actor, row),
        }
        for row in page.object_list
    ]
    pairs = selectors.merge_proposals(request.actor, project, "open")
    context = {
        "page": page,
        "rows": rows,
        "pairs": [
            {
                "proposal": pair,
                "url": url_in(project, "merge_proposal", pair.id),
                "reason": selectors.why_proposed(pair),
            }
            for pair in (pairs[:PAIRS_SHOWN] if page.number == 1 else [])
        ],
        "pair_count": pairs.count(),
        "may_review": can(request.actor, Permission.REVISION_REVIEW, project),
        "may_run": can(request.actor, Permission.RUN_START, project),
    }
    return render(request, "review/queue.html", context)


@project_page
@require_POST
def decide(request: HubRequest, project: Project, solution: UUID, number: int) -> HttpResponse:
    """Approve, reject or deprecate a revision; a refusal is shown beside what was written."""
    found = solution_of(request.actor, project, solution)
    revision = library.revision_numbered(request.actor, found, number)
    form = DecisionForm(request.POST)
    try:
        if not form.is_valid():
            raise InvalidInput("The decision could not be read. Choose again.")
        review = _decide(request, revision, form)
    except (InvalidInput, Conflict) as error:
        tell(form, error)
        context = page_of_revision(request, found, library.revision_numbered(request.actor, found, number))
        return shown_again(request, "library/revision.html", {**context, "decision_form": form}, error)
    messages.success(request, _SAID[review.decision].format(number=number))
    return redirect(url_in(project, "solution", found.id))


def _decide(request: HubRequest, revision: Revision, form: DecisionForm) -> Review:
    data = form.cleaned_data
    seen = {"expected_latest": data["expected_latest"]}
    if data["decision"] == Review.Decision.DEPRECATE:
        return revision_deprecate(actor=request.actor, revision=revision, note=data["note"], **seen)
    decision = revision_approve if data["decision"] == Review.Decision.APPROVE else revision_reject
    return decision(
        actor=request.actor,
        revision=revision,
        note=data["note"],
        expected_status=data["expected_status"],
        **seen,
    )


@project_page
@require_POST
def rate(request: HubRequest, project: Project, solution: UUID) -> HttpResponse:
    """Give stars, or change them."""
    found = solution_of(request.actor, project, solution)
    form = RatingForm(request.POST)
    if form.is_valid():
        try:
            solution_rate(actor=request.actor, solution=found, **form.cleaned_data)
            messages.success(request, "Your rating is saved.")
        except InvalidInput as error:
            messages.error(request, error.message)
    else:
        messages.error(request, "Choose one to five stars.")
    return redirect(url_in(project, "solution", found.id) + "#rating")


urlpatterns = [
    path("review/", queue, name="review_queue"),
    path("library/<uuid:solution>/revisions/<int:number>/decide/", decide, name="revision_decide"),
    path("library/<uuid:solution>/rate/", rate, name="solution_rate"),
]

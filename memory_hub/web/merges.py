"""Pages of the memory graph and of merging: what surrounds a solution, two solutions side by side, asking for a merge."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_GET, require_http_methods

from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can, require
from memory_hub.common.errors import Conflict, InvalidInput, NotFound
from memory_hub.library import selectors as library
from memory_hub.library.graph import MAX_HOPS, Neighbourhood, Node, neighbourhood
from memory_hub.library.models import MergeProposal, Solution
from memory_hub.library.services.merge_proposals import merge_propose
from memory_hub.library.services.solutions import solution_note_read
from memory_hub.recall.selectors import shown_status
from memory_hub.review import selectors
from memory_hub.review.merges import merge_accept, merge_decline

from .answers import shown_again, tell, url_in
from .library_context import solution_of
from .merge_forms import MergeDecisionForm, MergeProposeForm
from .rendering.graph import Item, draw
from .shell import HubRequest, project_page

GRAPH_LIMIT = 16
# What is compared beside the code: (heading, field of the revision).
_COMPARED = (
    ("Entry point", "entry_point"),
    ("Usage example", "usage_example"),
    ("Explanation", "explanation"),
)


@project_page
@require_GET
def graph(request: HubRequest, project: Project, solution: UUID) -> HttpResponse:
    """Show what a solution is linked to, drawn and as a table."""
    found = solution_of(request.actor, project, solution)
    hops = 2 if request.GET.get("hops") == "2" else 1
    around = neighbourhood(request.actor, found, hops=min(hops, MAX_HOPS), limit=GRAPH_LIMIT)
    items = [Item(node.id, node.hop, node.title, _about(project, node)) for node in around.nodes]
    drawing = draw(items, [(e.source, e.target, e.kind.replace("_", " ")) for e in around.edges])
    context = {
        "solution": found,
        "hops": hops,
        "drawing": drawing,
        "rows": _rows(around, {spot.about["id"]: spot for spot in drawing.spots}),
        "is_cut": around.is_cut,
    }
    return render(request, "library/graph.html", context)


def _about(project: Project, node: Node) -> dict[str, Any]:
    """Return how a node is shown: where it leads, what it is in a word, and its tone."""
    if node.solution is None:
        return {
            "id": node.id, "title": node.title, "word": "lesson", "tone": "lesson",
            "url": url_in(project, "lesson", node.id),
        }  # fmt: skip
    status = shown_status(node.solution)
    url = url_in(project, "solution" if node.hop == 0 else "solution_graph", node.id)
    return {"id": node.id, "title": node.title, "word": status, "tone": status, "url": url}


def _rows(around: Neighbourhood, spots: dict[UUID, Any]) -> list[dict[str, Any]]:
    """Return the links as rows: those of the one in the middle first, then in the order of the drawing's numbers."""
    rows = [
        {"edge": edge, "source": spots[edge.source], "target": spots[edge.target]} for edge in around.edges
    ]
    return sorted(rows, key=lambda row: sorted((row["source"].number, row["target"].number)))


@project_page
@require_http_methods(["GET", "POST"])
def merge_proposal(request: HubRequest, project: Project, merge: UUID) -> HttpResponse:
    """Show two solutions side by side; on POST merge them, or keep them apart."""
    row = _proposal_of(request, project, merge)
    if request.method != "POST":
        for solution in (row.one, row.two):
            solution_note_read(actor=request.actor, solution=solution)
        return render(request, "review/merge.html", _page_of(request, row))
    require(request.actor, Permission.REVISION_REVIEW, row)
    form = MergeDecisionForm(request.POST)
    try:
        if not form.is_valid():
            raise InvalidInput("The decision could not be read. Choose again.")
        _decide(request, row, form)
    except (InvalidInput, Conflict) as error:
        tell(form, error)
        context = _page_of(request, _proposal_of(request, project, merge))
        return shown_again(request, "review/merge.html", {**context, "form": form}, error)
    return redirect(url_in(project, "review_queue"))


def _decide(request: HubRequest, row: MergeProposal, form: MergeDecisionForm) -> None:
    data = form.cleaned_data
    seen = {row.one_id: data["one_latest"], row.two_id: data["two_latest"]}
    said = {"actor": request.actor, "proposal": row, "seen": seen, "note": data["note"]}
    if data["decision"] == "decline":
        merge_decline(**said)
        messages.success(request, "They stay apart.")
        return
    survivor = row.one if data["decision"] == "keep_one" else row.two
    merge_accept(survivor_id=survivor.id, **said)
    messages.success(request, f"Merged: “{survivor.title}” stands for both.")


@project_page
@require_http_methods(["GET", "POST"])
def propose(request: HubRequest, project: Project, solution: UUID) -> HttpResponse:
    """Choose the solution that this one should be merged with."""
    found = solution_of(request.actor, project, solution)
    require(request.actor, Permission.SOLUTION_EDIT, found)
    others = _others(request, project, found)
    form = MergeProposeForm(others, request.POST or None)
    context = {"form": form, "solution": found, "is_alone": not others}
    if request.method != "POST":
        return render(request, "review/merge_propose.html", context)
    if not form.is_valid():
        return shown_again(request, "review/merge_propose.html", context)
    other = solution_of(request.actor, project, form.cleaned_data["other"])
    try:
        row = merge_propose(actor=request.actor, solution=found, other=other, note=form.cleaned_data["note"])
    except (InvalidInput, Conflict) as error:
        tell(form, error)
        return shown_again(request, "review/merge_propose.html", context, error)
    messages.success(request, "The two wait for a reviewer now.")
    return redirect(url_in(project, "merge_proposal", row.id))


def _others(
    request: HubRequest, project: Project, solution: Solution
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the choices: what is linked first, then the newest of the project."""
    near = [
        node.solution for node in neighbourhood(request.actor, solution, hops=1).nodes[1:] if node.solution
    ]
    linked = [row for row in near if row.archived_at is None]
    known = {solution.id, *(row.id for row in linked)}
    newest = library.solutions(request.actor, project).filter(archived_at=None).exclude(id__in=known)[:200]
    groups = (("Linked to it", linked), ("The newest in the library", list(newest)))
    return [(name, [(str(row.id), row.title) for row in rows]) for name, rows in groups if rows]


def _proposal_of(request: HubRequest, project: Project, merge: UUID) -> MergeProposal:
    row = selectors.merge_proposal_get(request.actor, merge)
    if row.project_id != project.id:
        raise NotFound
    return row


def _page_of(request: HubRequest, row: MergeProposal) -> dict[str, Any]:
    """Return the context of review/merge.html."""
    actor = request.actor
    revisions = [library.served_revision(solution) for solution in (row.one, row.two)]
    qualities = library.qualities_of_revisions(actor, [revision.id for revision in revisions])
    sides = [
        {
            "name": name,
            "solution": solution,
            "revision": revision,
            "status": shown_status(solution),
            "quality": qualities[revision.id],
            "evidence": list(library.evidence_of(actor, solution)[:5]),
            "lessons": library.lessons_of(actor, solution).count(),
            "is_survivor": row.survivor_id == solution.id,
        }
        for name, solution, revision in zip("AB", (row.one, row.two), revisions, strict=True)
    ]
    texts = [
        {"heading": heading, "old": getattr(revisions[0], name), "new": getattr(revisions[1], name)}
        for heading, name in _COMPARED
        if getattr(revisions[0], name) != getattr(revisions[1], name)
    ]
    return {
        "proposal": row,
        "reason": selectors.why_proposed(row),
        "sides": sides,
        "texts": texts,
        "view": "split" if request.GET.get("view") == "split" else "unified",
        "may_review": can(actor, Permission.REVISION_REVIEW, row),
        "is_open": row.state == MergeProposal.State.OPEN,
        "is_put_away": any(solution.archived_at for solution in (row.one, row.two)),
    }


urlpatterns = [
    path("library/<uuid:solution>/graph/", graph, name="solution_graph"),
    path("library/<uuid:solution>/merge/", propose, name="merge_propose"),
    path("review/merges/<uuid:merge>/", merge_proposal, name="merge_proposal"),
]

"""What the pages of the library show of a solution, gathered from the rooms below."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can
from memory_hub.common.errors import NotFound
from memory_hub.library import selectors
from memory_hub.library.models import Revision, Solution
from memory_hub.library.quality import Quality
from memory_hub.library.services.solutions import may_archive
from memory_hub.review import selectors as review

from .answers import url_in

_WITHOUT_ROLE = "This needs the role {role} in the project."
# What a table of evidence shows at once; the rest is in the API.
EVIDENCE_SHOWN = 30


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that may be done on a page: allowed, or not with the reason."""

    allowed: bool
    reason: str = ""


def solution_of(actor: Actor, project: Project, solution_id: UUID) -> Solution:
    """Return the solution of an address. Raises NotFound where it belongs to another project."""
    found = selectors.solution_get(actor, solution_id)
    if found.project_id != project.id:
        raise NotFound
    return found


def rows_of(actor: Actor, project: Project, solutions: list[Solution]) -> list[dict[str, Any]]:
    """Return what components/solution_row.html needs of each solution, in three queries however many."""
    qualities = selectors.qualities_of_revisions(
        actor, [selectors.served_revision(row).id for row in solutions]
    )
    ratings = review.rating_summaries(actor, solutions)
    return [_row(project, row, qualities, ratings.get(row.id)) for row in solutions]


def _row(
    project: Project, solution: Solution, qualities: dict[Any, Quality], rating: review.RatingSummary | None
) -> dict[str, Any]:
    served, latest = selectors.served_revision(solution), solution.latest_revision
    quality = qualities[served.id]
    waiting = latest is not None and latest.id != served.id and latest.status == Revision.Status.CANDIDATE
    return {
        "title": solution.title,
        "url": url_in(project, "solution", solution.id),
        "text": solution.problem,
        "status": "archived" if solution.archived_at else served.status,
        "verification": served.verification,
        "kind": solution.get_kind_display(),
        "tags": solution.tags,
        "author": solution.author,
        "when": solution.created_at,
        "reason": f"Revision {latest.number} waits for review" if waiting and latest else "",
        "uses": quality.reuses,
        "success": quality.reuse_share,
        "rating": rating.mean if rating else None,
        "rating_count": rating.count if rating else 0,
    }


def solution_page(actor: Actor, solution: Solution) -> dict[str, Any]:
    """Return what the page of a solution shows beside the revision that stands for it."""
    served = selectors.served_revision(solution)
    evidence = list(selectors.evidence_of(actor, solution)[:EVIDENCE_SHOWN])
    return {
        **revision_page(actor, solution, served),
        "listed": True,
        "revisions": list(selectors.revisions(actor, solution)),
        "lessons": list(selectors.lessons_of(actor, solution)),
        "evidence": evidence,
        "superseded": {row.id for row in evidence if hasattr(row, "superseded_by")},
        "metrics": [row for row in evidence if row.metric_name and not hasattr(row, "superseded_by")],
        "links": list(selectors.links_of(actor, solution)),
        "pairs": list(review.merge_proposals_of(actor, solution)),
        "reviews": list(review.reviews_of(actor, solution)),
        "ratings": list(review.ratings_of(actor, solution)),
        "rating": review.rating_summary(actor, solution),
        "my_rating": review.rating_of(actor, solution),
        "recall": review.recall_use(actor, solution),
        "input_profiles": list(solution.input_profile.items()) if solution.input_profile else [],
    }


def revision_page(actor: Actor, solution: Solution, revision: Revision) -> dict[str, Any]:
    """Return what every page that shows one revision needs."""
    revision.solution, revision.project = solution, solution.project
    quality = selectors.qualities_of_revisions(actor, [revision.id])[revision.id]
    return {
        "solution": solution,
        "revision": revision,
        "survivor": selectors.survivors(actor, [solution.id]).get(solution.id)
        if solution.archived_at
        else None,
        "latest": solution.latest_revision,
        "approved": solution.approved_revision,
        "is_latest": revision.id == solution.latest_revision_id,
        "quality": quality,
        "code_name": f"revision {revision.number}",
        "number_text": str(revision.number),
        "check": check_of(revision),
        "may": deeds(actor, solution, revision),
        "decision": review.may_decide(actor, revision),
        "next_waiting": review.next_waiting(actor, solution),
    }


def check_of(revision: Revision) -> dict[str, str] | None:
    """Return a revision's check as the text of the call and of the result, or None where there is none."""
    spec = revision.check_spec
    if spec is None:
        return None
    named = [f"{name}={_short_json(value)}" for name, value in spec["kwargs"].items()]
    arguments = [*(_short_json(value) for value in spec["args"]), *named]
    call = f"{revision.entry_point}({', '.join(arguments)})"
    if len(call) > 100:
        inner = ",\n".join(f"    {argument}" for argument in arguments)
        call = f"{revision.entry_point}(\n{inner},\n)"
    return {"call": call, "result": json.dumps(spec["result"], ensure_ascii=False, indent=2)}


def deeds(actor: Actor, solution: Solution, revision: Revision) -> dict[str, Deed]:
    """Return what the actor may do with a solution, each with the reason where they may not."""
    archived = solution.archived_at is not None

    def deed(permission: Permission, role: str) -> Deed:
        if not can(actor, permission, solution):
            return Deed(False, _WITHOUT_ROLE.format(role=role))
        return Deed(not archived, "The solution is archived." if archived else "")

    edit = deed(Permission.SOLUTION_EDIT, "contributor")
    if (
        edit.allowed
        and solution.approved_revision_id
        and not can(actor, Permission.REVISION_REVIEW, solution)
    ):
        edit = Deed(False, "A revision is approved: only reviewers change its words now.")
    return {
        "edit": edit,
        "refine": deed(Permission.REVISION_REFINE, "contributor"),
        "verify": deed(Permission.REVISION_VERIFY, "contributor"),
        "rate": deed(Permission.SOLUTION_RATE, "contributor"),
        "archive": Deed(may_archive(actor, solution), _WITHOUT_ROLE.format(role="reviewer")),
        "delete": Deed(
            can(actor, Permission.SOLUTION_DELETE, solution), _WITHOUT_ROLE.format(role="maintainer")
        ),
        "start_run": Deed(can(actor, Permission.RUN_START, solution)),
    }


def _short_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)

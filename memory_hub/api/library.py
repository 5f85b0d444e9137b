"""REST of the library: solutions with their revisions and evidence."""

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from memory_hub.access.models import Project
from memory_hub.common.errors import InvalidInput
from memory_hub.common.text import first_sentence
from memory_hub.library import selectors
from memory_hub.library.code_facts import guess_entry_point
from memory_hub.library.code_identity import problem_hash
from memory_hub.library.drafts import Metric, NewSolution
from memory_hub.library.filters import SolutionFilter
from memory_hub.library.services.evidence import evidence_report
from memory_hub.library.services.identities import one_at_a_time
from memory_hub.library.services.revisions import KEEP_CHECK, check_change, revision_refine
from memory_hub.library.services.rows import latest_of
from memory_hub.library.services.solutions import (
    solution_archive,
    solution_change,
    solution_delete,
    solution_note_read,
    solution_propose,
    solution_unarchive,
)
from memory_hub.library.services.verification import verification_request
from memory_hub.library.unified_diff import unified_diff

from . import lessons
from .base import RETRY, HubView, filter_parameters, filtered, idempotent, remember
from .library_input import CheckIn, EvidenceIn, RevisionIn, SolutionChangeIn, SolutionIn, VerifyIn
from .library_output import (
    DiffOut,
    EvidenceOut,
    LinkOut,
    ProposedOut,
    RevisionOut,
    SolutionOut,
    SolutionRowOut,
    show_revisions,
    show_solution,
    show_solutions,
)

MAX_BATCH = 50
# What a diff shows beside the code.
_COMPARED = ("entry_point", "signature", "usage_example", "explanation", "check_spec", "depends_on")


class SolutionsView(HubView):
    """The solutions of a project."""

    @extend_schema(
        operation_id="solutions_list",
        parameters=filter_parameters(SolutionFilter),
        responses=SolutionRowOut(many=True),
        tags=["solutions"],
    )
    def get(self, request: Request, **_: Any) -> Response:
        """List solutions, newest first. Archived ones only with `status=archived`."""
        rows = filtered(SolutionFilter, request, selectors.solutions(self.actor, self.project()))
        return self.paged(rows, lambda page: show_solutions(self.actor, page))

    @extend_schema(
        operation_id="solutions_propose",
        parameters=[RETRY],
        request=PolymorphicProxySerializer(
            "OneOrManySolutions",
            [SolutionIn, SolutionIn(many=True)],
            resource_type_field_name=None,
            many=False,
        ),
        responses={201: ProposedOut, 200: ProposedOut},
        tags=["solutions"],
    )
    def post(self, request: Request, **_: Any) -> Response:
        """Propose one solution, or a list of at most 50: all of a list are taken, or none.

        201 where something was added; 200 where everything was there before (`duplicate_of` says as what).
        """
        project = self.project()
        answer = idempotent(request, self.actor, project)
        if isinstance(answer, Response):
            return answer
        many = isinstance(request.data, list)
        if many and not 0 < len(request.data) <= MAX_BATCH:
            raise InvalidInput(f"A list holds 1 to {MAX_BATCH} solutions.")
        drafts = self.input(SolutionIn, many=True) if many else [self.input(SolutionIn)]
        problems = [problem_hash(values["problem"]) for values in drafts]
        one_at_a_time(project_id=project.id, problem_hashes=problems)
        said = [
            self._propose(project, values, index if many else None) for index, values in enumerate(drafts)
        ]
        added = any(not item["deduplicated"] for item in said)
        code = status.HTTP_201_CREATED if added else status.HTTP_200_OK
        return remember(answer, Response(said if many else said[0], status=code))

    def _propose(self, project: Project, values: dict[str, Any], index: int | None) -> dict[str, Any]:
        values["title"] = values["title"] or first_sentence(values["problem"])
        if values["entry_point"] is None:
            values["entry_point"] = guess_entry_point(values["code"])
        try:
            proposed = solution_propose(actor=self.actor, project=project, draft=NewSolution(**values))
        except InvalidInput as error:
            if index is not None:
                error.extra["index"] = index
            raise
        return {
            "id": str(proposed.solution.id),
            "revision": str(proposed.revision.id),
            "deduplicated": proposed.deduplicated,
            "duplicate_of": str(proposed.duplicate_of) if proposed.duplicate_of else None,
        }


class SolutionView(HubView):
    """One solution."""

    @extend_schema(operation_id="solutions_get", responses=SolutionOut, tags=["solutions"])
    def get(self, request: Request, solution: UUID) -> Response:
        """Return a solution with the code that stands for it; the reading is audited."""
        found = selectors.solution_get(self.actor, solution)
        solution_note_read(actor=self.actor, solution=found)
        return Response(show_solution(self.actor, found))

    @extend_schema(
        operation_id="solutions_change", request=SolutionChangeIn, responses=SolutionOut, tags=["solutions"]
    )
    def patch(self, request: Request, solution: UUID) -> Response:
        """Change the words of a solution; its code is changed by a new revision."""
        found = selectors.solution_get(self.actor, solution)
        changes = dict(self.input(SolutionChangeIn))
        seen_at = changes.pop("seen_at", None)
        solution_change(actor=self.actor, solution=found, changes=changes, seen_at=seen_at)
        return Response(show_solution(self.actor, selectors.solution_get(self.actor, solution)))

    @extend_schema(
        operation_id="solutions_delete",
        parameters=[OpenApiParameter("with_lessons", bool, description="Delete its lessons, too.")],
        responses={204: None},
        tags=["solutions"],
    )
    def delete(self, request: Request, solution: UUID) -> Response:
        """Remove a solution with everything that belongs to it."""
        found = selectors.solution_get(self.actor, solution)
        with_lessons = request.query_params.get("with_lessons", "").lower() in ("1", "true")
        solution_delete(actor=self.actor, solution=found, with_lessons=with_lessons)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ArchiveView(HubView):
    """Whether a solution is put away."""

    @extend_schema(operation_id="solutions_archive", request=None, responses=SolutionOut, tags=["solutions"])
    def post(self, request: Request, solution: UUID) -> Response:
        """Take a solution out of recall and lists without deleting it."""
        solution_archive(actor=self.actor, solution=selectors.solution_get(self.actor, solution))
        return Response(show_solution(self.actor, selectors.solution_get(self.actor, solution)))

    @extend_schema(operation_id="solutions_unarchive", responses=SolutionOut, tags=["solutions"])
    def delete(self, request: Request, solution: UUID) -> Response:
        """Bring an archived solution back."""
        solution_unarchive(actor=self.actor, solution=selectors.solution_get(self.actor, solution))
        return Response(show_solution(self.actor, selectors.solution_get(self.actor, solution)))


class RevisionsView(HubView):
    """The revisions of a solution."""

    @extend_schema(operation_id="revisions_list", responses=RevisionOut(many=True), tags=["solutions"])
    def get(self, request: Request, solution: UUID) -> Response:
        """List revisions with their code, newest first; the reading is audited."""
        found = selectors.solution_get(self.actor, solution)
        solution_note_read(actor=self.actor, solution=found)
        return self.paged(
            selectors.revisions(self.actor, found), lambda page: show_revisions(self.actor, page)
        )

    @extend_schema(
        operation_id="revisions_refine",
        parameters=[RETRY],
        request=RevisionIn,
        responses={201: RevisionOut},
        tags=["solutions"],
    )
    def post(self, request: Request, solution: UUID) -> Response:
        """Add a revision on top of the latest, a candidate; its check is run again."""
        found = selectors.solution_get(self.actor, solution)
        answer = idempotent(request, self.actor, found.project)
        if isinstance(answer, Response):
            return answer
        values = dict(self.input(RevisionIn))
        values.setdefault("entry_point", found.latest_revision.entry_point if found.latest_revision else "")
        values.setdefault("check_spec", KEEP_CHECK)
        revision = revision_refine(actor=self.actor, solution=found, **values)
        shown = show_revisions(self.actor, [revision])[0]
        return remember(answer, Response(shown, status=status.HTTP_201_CREATED))


class RevisionView(HubView):
    """One revision."""

    @extend_schema(operation_id="revisions_get", responses=RevisionOut, tags=["solutions"])
    def get(self, request: Request, revision: UUID) -> Response:
        """Return a revision with its code; the reading is audited."""
        found = selectors.revision_get(self.actor, revision)
        solution_note_read(actor=self.actor, solution=found.solution)
        return Response(show_revisions(self.actor, [found])[0])


class CheckView(HubView):
    """The check of a revision that has none."""

    @extend_schema(
        operation_id="revisions_set_check", request=CheckIn, responses=RevisionOut, tags=["solutions"]
    )
    def put(self, request: Request, revision: UUID) -> Response:
        """Give a revision the check that it lacks, once; it is run at once."""
        found = selectors.revision_get(self.actor, revision)
        changed = check_change(actor=self.actor, revision=found, check_spec=self.input(CheckIn))
        return Response(show_revisions(self.actor, [changed])[0])


class DiffView(HubView):
    """The difference between two revisions of a solution."""

    @extend_schema(operation_id="revisions_diff", responses=DiffOut, tags=["solutions"])
    def get(self, request: Request, revision: UUID, other: UUID) -> Response:
        """Compare a revision with another of the same solution, from the first to the second."""
        old = selectors.revision_get(self.actor, revision)
        new = selectors.revision_in(self.actor, old.solution_id, other)
        solution_note_read(actor=self.actor, solution=old.solution)
        changed = {
            name: {"old": getattr(old, name), "new": getattr(new, name)}
            for name in _COMPARED
            if getattr(old, name) != getattr(new, name)
        }
        diff = unified_diff(old.code, new.code, f"revision {old.number}", f"revision {new.number}")
        return Response({"old": str(old.id), "new": str(new.id), "diff": diff, "changed": changed})


class VerifyView(HubView):
    """The check of a solution's revision, run again."""

    @extend_schema(
        operation_id="solutions_verify", request=VerifyIn, responses={202: RevisionOut}, tags=["solutions"]
    )
    def post(self, request: Request, solution: UUID) -> Response:
        """Ask for the check to be run again; `check_is_waiting` is true until the result is there."""
        found = selectors.solution_get(self.actor, solution)
        wanted = self.input(VerifyIn).get("revision") or latest_of(found)
        revision = selectors.revision_in(self.actor, found.id, wanted)
        revision = verification_request(actor=self.actor, revision=revision)
        return Response(show_revisions(self.actor, [revision])[0], status=status.HTTP_202_ACCEPTED)


class EvidenceView(HubView):
    """The evidence on a solution."""

    @extend_schema(operation_id="evidence_list", responses=EvidenceOut(many=True), tags=["solutions"])
    def get(self, request: Request, solution: UUID) -> Response:
        """List the evidence on all revisions, newest first; superseded ones say so."""
        found = selectors.solution_get(self.actor, solution)
        return self.paged(
            selectors.evidence_of(self.actor, found), lambda page: EvidenceOut(page, many=True).data
        )

    @extend_schema(
        operation_id="evidence_report",
        parameters=[RETRY],
        request=EvidenceIn,
        responses={201: EvidenceOut},
        tags=["solutions"],
    )
    def post(self, request: Request, solution: UUID) -> Response:
        """Say how a revision worked for you. Without a run, your later report takes the place of the earlier."""
        found = selectors.solution_get(self.actor, solution)
        answer = idempotent(request, self.actor, found.project)
        if isinstance(answer, Response):
            return answer
        values = dict(self.input(EvidenceIn))
        wanted = values.pop("revision", None) or selectors.served_revision(found).id
        metric = values.pop("metric")
        evidence = evidence_report(
            actor=self.actor,
            revision=selectors.revision_in(self.actor, found.id, wanted),
            run=selectors.run_behind(self.actor, values.pop("run")),
            metric=Metric(**metric) if metric else None,
            **values,
        )
        return remember(answer, Response(EvidenceOut(evidence).data, status=status.HTTP_201_CREATED))


class LinksView(HubView):
    """What a solution is linked to."""

    @extend_schema(operation_id="links_list", responses=LinkOut(many=True), tags=["solutions"])
    def get(self, request: Request, solution: UUID) -> Response:
        """List the links that start or end at a solution."""
        found = selectors.solution_get(self.actor, solution)
        return self.paged(selectors.links_of(self.actor, found), lambda page: LinkOut(page, many=True).data)


_PROJECT = "projects/<slug:team>/<slug:project>"
_SOLUTION = "solutions/<uuid:solution>"
urlpatterns = [
    path(f"{_PROJECT}/solutions/", SolutionsView.as_view(), name="api-solutions"),
    path(f"{_SOLUTION}/", SolutionView.as_view(), name="api-solution"),
    path(f"{_SOLUTION}/archive/", ArchiveView.as_view(), name="api-solution-archive"),
    path(f"{_SOLUTION}/revisions/", RevisionsView.as_view(), name="api-revisions"),
    path(f"{_SOLUTION}/evidence/", EvidenceView.as_view(), name="api-evidence"),
    path(f"{_SOLUTION}/links/", LinksView.as_view(), name="api-links"),
    path(f"{_SOLUTION}/verify/", VerifyView.as_view(), name="api-verify"),
    path("revisions/<uuid:revision>/", RevisionView.as_view(), name="api-revision"),
    path("revisions/<uuid:revision>/check/", CheckView.as_view(), name="api-revision-check"),
    path("revisions/<uuid:revision>/diff/<uuid:other>/", DiffView.as_view(), name="api-revision-diff"),
    *lessons.urlpatterns,
]

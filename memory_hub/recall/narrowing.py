"""Which solutions and lessons of an actor's projects pass the filters of a search: as queries, narrowed in the database."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from memory_hub.access.actor import Actor
from memory_hub.library.models import Evidence, Lesson, Link, Solution
from memory_hub.library.selectors import qualities_of_revisions

from .query_words import Filters, only

# What a package is called where it is installed, and as what it is imported.
_IMPORTED_AS = {
    "pd": "pandas",
    "np": "numpy",
    "scikit-learn": "sklearn",
    "beautifulsoup4": "bs4",
    "beautifulsoup": "bs4",
    "pillow": "pil",
    "pyyaml": "yaml",
    "opencv-python": "cv2",
    "python-dateutil": "dateutil",
    "matplotlib.pyplot": "matplotlib",
}
# A lesson is of a project and an author and on an error by itself; all else is asked of its solution.
OF_LESSONS = ("in", "author", "error")


def narrowed(actor: Actor, projects: Sequence[UUID], filters: Filters) -> "QuerySet[Solution]":
    """Return the solutions of these projects that pass the filters, newest first.

    What is asked of code, check and quality is asked of the revision that stands for the solution. Archived ones are
    there only where `status` asks for them.
    """
    rows = (
        Solution.objects.visible_to(actor)
        .filter(project_id__in=list(projects), latest_revision__isnull=False)
        .annotate(standing=Coalesce("approved_revision_id", "latest_revision_id"))
        .filter(_status(filters.get("status", ())))
        .filter(_any(filters, "check", lambda value: _standing(verification=value)))
        .filter(_any(filters, "kind", lambda value: Q(kind=value)))
        .filter(_any(filters, "in", _in_project))
        .filter(_any(filters, "author", lambda value: _by(actor, value)))
        .filter(_any(filters, "error", _met_error))
    )
    for tag in filters.get("tag", ()):
        rows = rows.filter(tags__contains=[tag])
    for library in filters.get("lib", ()):
        rows = rows.filter(index_entry__imports__contains=[_module(library)])
    for sandbox in filters.get("sandbox", ()):
        rows = rows.filter(Exists(_proven_in(sandbox)))
    if "quality" in filters:
        rows = rows.filter(id__in=_good_enough(actor, rows, max(map(float, filters["quality"]))))
    return rows.select_related("approved_revision", "latest_revision", "author", "project__team").order_by(
        "-id"
    )


def narrowed_lessons(actor: Actor, projects: Sequence[UUID], filters: Filters) -> "QuerySet[Lesson]":
    """Return the lessons of these projects that pass the filters, newest first; what is asked of solutions, by the
    solution that they belong to."""
    rows = (
        Lesson.objects.visible_to(actor)
        .filter(project_id__in=list(projects))
        .filter(_any(filters, "in", _in_project))
        .filter(_any(filters, "author", lambda value: _by(actor, value)))
        .filter(_any(filters, "error", _of_type))
    )
    of_solution = only(filters, set(filters) - set(OF_LESSONS))
    if of_solution:
        rows = rows.filter(solution__in=narrowed(actor, projects, of_solution).order_by().values("id"))
    return rows.select_related("project__team").order_by("-id")


def narrows_runs(filters: Filters) -> bool:
    """Say whether a filter asks what no run can have."""
    return bool(only(filters, set(filters) - {"in", "author"}))


def run_condition(actor: Actor, filters: Filters) -> Q:
    """Return the filters of project and author as a condition on runs."""
    return _any(filters, "in", _in_project) & _any(
        filters, "author", lambda value: _by(actor, value, "starter")
    )


def _any(filters: Filters, name: str, condition: Any) -> Q:
    """Return that one of a filter's values holds; no condition where it is not asked."""
    either = Q()
    for value in filters.get(name, ()):
        either |= condition(value)
    return either


def _status(values: Sequence[str]) -> Q:
    """The status that a list shows: archived, or that of the standing revision."""
    if not values:
        return Q(archived_at=None)
    either = Q()
    for value in values:
        either |= (
            Q(archived_at__isnull=False)
            if value == "archived"
            else Q(archived_at=None) & _standing(status=value)
        )
    return either


def _standing(**condition: str) -> Q:
    served = Q(**{f"approved_revision__{name}": value for name, value in condition.items()})
    latest = Q(**{f"latest_revision__{name}": value for name, value in condition.items()})
    return served | (Q(approved_revision=None) & latest)


def _in_project(value: str) -> Q:
    team, _, project = value.rpartition("/")
    where = Q(project__slug=project) | Q(project__name__iexact=project)
    return where & Q(project__team__slug=team) if team else where


def _by(actor: Actor, value: str, field: str = "author") -> Q:
    """By part of the name, by the whole address, or by what stands before its @; "me" is oneself."""
    if value.lower() == "me":
        return Q(**{f"{field}_id": actor.user_id}) & Q(**{f"{field}__isnull": False})
    return (
        Q(**{f"{field}__name__icontains": value})
        | Q(**{f"{field}__email__iexact": value})
        | Q(**{f"{field}__email__istartswith": f"{value}@"})
    )


def _of_type(value: str) -> Q:
    """A class with or without its module."""
    return Q(exception_type__iexact=value) | Q(exception_type__iendswith=f".{value}")


def _met_error(value: str) -> Q:
    """A solution on the way to which the error came: told by its lessons, or among what failed before."""
    lessons = Lesson.objects.filter(_of_type(value), solution=OuterRef("pk"))
    return Q(Exists(lessons)) | Q(failed_alternatives__contains=[{"exception_type": value}])


def _module(library: str) -> str:
    name = _IMPORTED_AS.get(library, library)
    return name.partition(".")[0].replace("-", "_")


def _proven_in(sandbox: str) -> "QuerySet[Evidence]":
    return Evidence.objects.filter(
        revision_id=OuterRef("standing"),
        sandbox__iexact=sandbox,
        outcome=Evidence.Outcome.SUCCESS,
        kind__in=[Evidence.Kind.VERIFIED, Evidence.Kind.REUSED],
        superseded_by=None,
    )


def _good_enough(actor: Actor, rows: "QuerySet[Any]", least: float) -> list[UUID]:
    """Return the ids whose standing revision has at least this quality. Quality is computed from evidence, so only
    those with any are looked at, their own or that of a twin that was merged into them."""
    own = Evidence.objects.filter(revision_id=OuterRef("standing"))
    twins = Link.objects.filter(kind=Link.Kind.DUPLICATE_OF, target=OuterRef("pk"))
    with_evidence = rows.filter(Q(Exists(own)) | Q(Exists(twins))).order_by()
    standing = dict(with_evidence.values_list("id", "standing"))
    qualities = qualities_of_revisions(actor, standing.values())
    return [
        solution_id
        for solution_id, revision_id in standing.items()
        if (score := qualities[revision_id].score) is not None and score >= least
    ]

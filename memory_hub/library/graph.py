"""Reads of the memory graph: what is one step away from some solutions, and what surrounds one of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Q, QuerySet

from memory_hub.access.actor import Actor
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require

from .models import Lesson, Link, Solution

MAX_HOPS = 2


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A solution one step away. `outgoing`: the link starts at the solution that was asked about.

    So for depends_on an outgoing neighbour is a helper that is needed; for supersedes an incoming one is the newer
    successor. `solution` has its approved and latest revision loaded; it may be archived, or not approved.
    """

    kind: str
    outgoing: bool
    solution: Solution
    reason: str


@dataclass(frozen=True, slots=True)
class Node:
    """A solution or a lesson, and how many steps it is from the one in the middle."""

    id: UUID
    hop: int
    solution: Solution | None = None
    lesson: Lesson | None = None

    @property
    def title(self) -> str:
        return str(self.solution or self.lesson)


@dataclass(frozen=True, slots=True)
class Edge:
    """A link between two nodes, from `source` to `target`."""

    kind: str
    source: UUID
    target: UUID
    reason: str


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What surrounds a solution: nodes in the order in which they were met, the one in the middle first."""

    nodes: Sequence[Node]
    edges: Sequence[Edge]
    # More is linked than is shown.
    is_cut: bool = field(default=False)


def neighbours(
    actor: Actor, solution_ids: Iterable[UUID], kinds: Iterable[str]
) -> dict[UUID, list[Neighbour]]:
    """Return what is one step from each of these solutions over links of these kinds, in one query.

    Solutions without any have no entry. Lessons are no neighbours.
    """
    wanted = set(solution_ids)
    links = (
        Link.objects.visible_to(actor)
        .filter(Q(source__in=wanted) | Q(target__in=wanted), kind__in=list(kinds), target__isnull=False)
        .select_related(*(f"{end}__{revision}" for end in ("source", "target") for revision in _REVISIONS))
        .order_by("id")
    )
    found: dict[UUID, list[Neighbour]] = {}
    for link in links:
        assert link.target is not None
        for start, end, outgoing in ((link.source, link.target, True), (link.target, link.source, False)):
            if start.id in wanted:
                neighbour = Neighbour(link.kind, outgoing, end, link.reason)
                found.setdefault(start.id, []).append(neighbour)
    return found


def neighbourhood(actor: Actor, solution: Solution, *, hops: int = 1, limit: int = 24) -> Neighbourhood:
    """Return at most `limit` solutions and lessons within `hops` (1 or 2) steps, and the links among them.

    Two queries per step, however much is linked; what does not fit is left out and said (`is_cut`).
    """
    require(actor, Permission.LIBRARY_READ, solution)
    nodes = {solution.id: Node(solution.id, 0, solution=solution)}
    is_cut = False
    for hop in range(1, min(hops, MAX_HOPS) + 1):
        ring = [node.id for node in nodes.values() if node.hop == hop - 1 and node.solution]
        links = list(_links(actor).filter(Q(source__in=ring) | Q(target__in=ring))[: limit * 4 + 1])
        is_cut = is_cut or len(links) > limit * 4
        for link in links:
            for node in _ends(link, hop):
                if node.id in nodes:
                    continue
                if len(nodes) > limit:
                    is_cut = True
                    break
                nodes[node.id] = node
    among = Link.objects.visible_to(actor).filter(
        Q(target__in=list(nodes)) | Q(target_lesson__in=list(nodes)), source__in=list(nodes)
    )
    edges = [
        Edge(link.kind, link.source_id, end, link.reason)
        for link in among.order_by("id")
        if (end := link.target_id or link.target_lesson_id) is not None
    ]
    return Neighbourhood(list(nodes.values()), edges, is_cut)


_REVISIONS = ("approved_revision", "latest_revision")


def _links(actor: Actor) -> "QuerySet[Link]":
    return (
        Link.objects.visible_to(actor)
        .select_related(
            *(f"{end}__{revision}" for end in ("source", "target") for revision in _REVISIONS),
            "target_lesson",
        )
        .order_by("id")
    )


def _ends(link: Link, hop: int) -> list[Node]:
    ends = [Node(link.source_id, hop, solution=link.source)]
    if link.target is not None:
        ends.append(Node(link.target.id, hop, solution=link.target))
    if link.target_lesson is not None:
        ends.append(Node(link.target_lesson.id, hop, lesson=link.target_lesson))
    return ends

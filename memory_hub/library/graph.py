"""Reads of the memory graph: what is one step away from some solutions, and what surrounds one of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import Q

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
    """Return what is one step from each of these solutions over links of these kinds, in two queries.

    Solutions without any have no entry. Lessons are no neighbours.
    """
    wanted = set(solution_ids)
    links = links_at(actor, wanted, kinds)
    if not links:
        return {}
    solutions = _solutions(actor, (end for link in links for end in (link.source_id, link.target_id)))
    found: dict[UUID, list[Neighbour]] = {}
    for link in links:
        for start, end, outgoing in (
            (link.source_id, link.target_id, True),
            (link.target_id, link.source_id, False),
        ):
            if start in wanted and end in solutions:
                neighbour = Neighbour(link.kind, outgoing, solutions[end], link.reason)
                found.setdefault(start, []).append(neighbour)
    return found


class Linked(NamedTuple):
    """A link between two solutions."""

    kind: str
    source_id: UUID
    target_id: UUID
    reason: str


# By hand, since it is on the way of every recall.
_LINKS_AT = """
SELECT kind, source_id, target_id, reason FROM library_link
WHERE (source_id = ANY (%(ids)s) OR target_id = ANY (%(ids)s)) AND target_id IS NOT NULL AND kind = ANY (%(kinds)s)
  AND (%(is_system)s OR project_id = ANY (%(projects)s))
ORDER BY id
"""


def links_at(actor: Actor, solution_ids: Iterable[UUID], kinds: Iterable[str]) -> list[Linked]:
    """Return the links of these kinds between solutions of which at least one is among these, the oldest first."""
    values: dict[str, Any] = {
        "ids": list(solution_ids),
        "kinds": [str(kind) for kind in kinds],
        "is_system": actor.is_system,
        "projects": actor.project_ids,
    }
    with connection.cursor() as cursor:
        cursor.execute(_LINKS_AT, values)
        return [Linked(*row) for row in cursor.fetchall()]


def _solutions(actor: Actor, ids: Iterable[UUID | None]) -> dict[UUID, Solution]:
    rows = Solution.objects.visible_to(actor).select_related("approved_revision", "latest_revision")
    return rows.in_bulk([item for item in set(ids) if item])


def neighbourhood(actor: Actor, solution: Solution, *, hops: int = 1, limit: int = 24) -> Neighbourhood:
    """Return at most `limit` solutions and lessons within `hops` (1 or 2) steps, and the links among them.

    Three queries per step, however much is linked; what does not fit is left out and said (`is_cut`).
    """
    require(actor, Permission.LIBRARY_READ, solution)
    nodes = {solution.id: Node(solution.id, 0, solution=solution)}
    is_cut = False
    for hop in range(1, min(hops, MAX_HOPS) + 1):
        ring = [node.id for node in nodes.values() if node.hop == hop - 1 and node.solution]
        near = Q(source__in=ring) | Q(target__in=ring)
        links = list(Link.objects.visible_to(actor).filter(near).order_by("id")[: limit * 4 + 1])
        is_cut = is_cut or len(links) > limit * 4
        for node in _ends(actor, links, hop):
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


def _ends(actor: Actor, links: Sequence[Link], hop: int) -> list[Node]:
    """Return both ends of each link in their order, `hop` steps away."""
    solutions = _solutions(actor, (end for link in links for end in (link.source_id, link.target_id)))
    lessons = Lesson.objects.visible_to(actor).in_bulk(
        [link.target_lesson_id for link in links if link.target_lesson_id]
    )
    found = []
    for link in links:
        for end in (link.source_id, link.target_id):
            if end is not None and end in solutions:
                found.append(Node(end, hop, solution=solutions[end]))
        if link.target_lesson_id is not None and link.target_lesson_id in lessons:
            found.append(Node(link.target_lesson_id, hop, lesson=lessons[link.target_lesson_id]))
    return found

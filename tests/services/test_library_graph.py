"""Links that the hub draws from decisions and runs, and reading the graph."""

from typing import Any
from uuid import UUID

import pytest

from memory_hub.access.actor import acting_as, as_system
from memory_hub.common.errors import PermissionDenied
from memory_hub.library.drafts import NewLesson
from memory_hub.library.graph import neighbourhood, neighbours
from memory_hub.library.models import Link, Solution
from memory_hub.library.services.lessons import lesson_record
from memory_hub.library.services.links import link_add, links_after_run
from memory_hub.review.services import revision_deprecate
from tests.cast import Cast
from tests.services.library_support import CODE, again, approve, propose

OTHER = CODE + "x = 1\n"


def ends(kind: str) -> set[tuple[Any, Any]]:
    with as_system():
        return set(Link.objects.filter(kind=kind).values_list("source_id", "target_id"))


def link(cast: Cast, kind: str, source: Solution, target: Solution) -> None:
    with acting_as(cast.actor(cast.bob)) as bob:
        link_add(actor=bob, kind=kind, source=source, target=target)


def deprecate(cast: Cast, proposed: Any) -> None:
    with acting_as(cast.actor(cast.rita)) as rita:
        revision_deprecate(actor=rita, revision=again(proposed.revision))


def several(cast: Cast, count: int) -> list[Solution]:
    """Solutions that nothing links."""
    return [
        propose(
            cast.actor(cast.bob), cast.project, title=f"Number {n}", problem=f"Problem {n}", code=f"x = {n}\n",
            entry_point="", check_spec=None,
        ).solution
        for n in range(count)
    ]  # fmt: skip


# --- drawn by the hub


@pytest.mark.parametrize("approved_first", [True, False])
def test_what_is_approved_in_place_of_a_retired_one_supersedes_it(cast: Cast, approved_first: bool) -> None:
    old = propose(cast.actor(cast.bob), cast.project)
    new = propose(cast.actor(cast.bob), cast.project, code=OTHER)
    approve(cast.rita, old.revision)
    if approved_first:
        approve(cast.rita, new.revision)
    assert ends("supersedes") == set()
    deprecate(cast, old)
    if not approved_first:
        approve(cast.rita, new.revision)
    assert ends("supersedes") == {(new.solution.id, old.solution.id)}


def test_what_is_approved_again_is_not_superseded_any_more(cast: Cast) -> None:
    old = propose(cast.actor(cast.bob), cast.project)
    new = propose(cast.actor(cast.bob), cast.project, code=OTHER)
    approve(cast.rita, old.revision)
    approve(cast.rita, new.revision)
    deprecate(cast, old)
    approve(cast.rita, again(old.revision), expected_status="deprecated")
    assert ends("supersedes") == set()


def test_a_solution_found_in_a_run_is_derived_from_what_the_run_used(cast: Cast) -> None:
    used = propose(cast.actor(cast.bob), cast.project)
    foreign = propose(cast.actor(cast.carol), cast.other_project)
    [found] = several(cast, 1)
    with as_system():
        for _ in range(2):
            links_after_run(solution=found, used_revisions=[used.revision.id, foreign.revision.id])
    assert ends("derived_from") == {(found.id, used.solution.id)}


def test_a_lesson_with_a_fix_is_linked_to_its_solution_an_open_one_is_not(cast: Cast) -> None:
    [solution] = several(cast, 1)
    with acting_as(cast.actor(cast.bob)) as bob:
        for fix in ("", "d.get('x')"):
            lesson = lesson_record(
                actor=bob,
                project=cast.project,
                draft=NewLesson(
                    exception_type="KeyError", message="'x'", failing_code="d['x']", fixing_code=fix
                ),
                solution=solution,
            ).lesson
            with as_system():
                assert Link.objects.filter(target_lesson=lesson).exists() is bool(fix)


# --- read


def test_neighbours_say_the_kind_and_the_direction(cast: Cast) -> None:
    one, helper, newer, other = several(cast, 4)
    link(cast, "depends_on", one, helper)
    link(cast, "supersedes", newer, one)
    link(cast, "related", one, other)
    with acting_as(cast.actor(cast.vera)) as vera:
        found = neighbours(vera, [one.id, other.id], ["depends_on", "supersedes"])
    assert [(item.kind, item.outgoing, item.solution.id) for item in found[one.id]] == [
        ("depends_on", True, helper.id),
        ("supersedes", False, newer.id),
    ]
    assert other.id not in found


def test_neighbours_are_read_in_two_queries_however_many(cast: Cast, django_assert_num_queries: Any) -> None:
    rows = several(cast, 5)
    for target in rows[1:]:
        link(cast, "depends_on", rows[0], target)
    with acting_as(cast.actor(cast.vera)) as vera, django_assert_num_queries(2):
        found = neighbours(vera, [row.id for row in rows], ["depends_on"])
        assert {item.solution.latest_revision.number for item in found[rows[0].id]} == {1}  # type: ignore[union-attr]


def test_other_people_see_no_neighbours(cast: Cast) -> None:
    one, two = several(cast, 2)
    link(cast, "related", one, two)
    with acting_as(cast.actor(cast.mallory)) as mallory:
        assert neighbours(mallory, [one.id], ["related"]) == {}
        with pytest.raises(PermissionDenied):
            neighbourhood(mallory, one)


def around(cast: Cast, solution: Solution, **options: int) -> tuple[dict[UUID, int], int, bool]:
    with acting_as(cast.actor(cast.vera)) as vera:
        found = neighbourhood(vera, solution, **options)
    return {node.id: node.hop for node in found.nodes}, len(found.edges), found.is_cut


def test_the_neighbourhood_goes_one_or_two_steps_and_shows_the_links_among_what_it_shows(cast: Cast) -> None:
    one, two, three, four = several(cast, 4)
    link(cast, "related", one, two)
    link(cast, "related", three, one)
    link(cast, "depends_on", two, three)
    link(cast, "related", three, four)
    assert around(cast, one) == ({one.id: 0, two.id: 1, three.id: 1}, 3, False)
    assert around(cast, one, hops=2) == ({one.id: 0, two.id: 1, three.id: 1, four.id: 2}, 4, False)


def test_lessons_stand_in_the_neighbourhood(cast: Cast) -> None:
    [one] = several(cast, 1)
    with acting_as(cast.actor(cast.bob)) as bob:
        draft = NewLesson(exception_type="KeyError", message="'x'", failing_code="a", fixing_code="b")
        lesson = lesson_record(actor=bob, project=cast.project, draft=draft, solution=one).lesson
    assert around(cast, one) == ({one.id: 0, lesson.id: 1}, 1, False)


def test_more_than_can_be_shown_is_cut_and_said(cast: Cast) -> None:
    rows = several(cast, 6)
    for row in rows[1:]:
        link(cast, "related", rows[0], row)
    nodes, edges, is_cut = around(cast, rows[0], limit=3)
    assert (len(nodes), edges, is_cut) == (4, 3, True)


def test_what_nothing_links_is_alone(cast: Cast) -> None:
    [one] = several(cast, 1)
    assert around(cast, one) == ({one.id: 0}, 0, False)

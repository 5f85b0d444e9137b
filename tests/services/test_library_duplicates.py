"""The same program for the same problem is there once; everything else is kept, linked, and never dropped."""

import threading
from typing import Any

import pytest
from django.db import connection

from memory_hub.access.actor import acting_as, as_system
from memory_hub.audit.models import AuditEntry
from memory_hub.common.clock import now
from memory_hub.library.models import Evidence, Link, Revision, Solution
from memory_hub.library.selectors import helpers_of
from memory_hub.library.services.revisions import revision_refine
from memory_hub.library.services.solutions import solution_change, solution_propose
from memory_hub.library.tasks import sweep
from memory_hub.runs.models import Run
from tests.cast import Cast
from tests.services.library_support import CODE, again, approve, draft, propose, run_actor, start_run

REFORMATTED = "# by somebody else\n" + CODE.replace('"amount"', "'amount'")
OTHER = "def total(rows):\n    result = 0\n    for row in rows:\n        result += row['amount']\n    return result\n"


def links(kind: str) -> set[tuple[Any, Any]]:
    """Return the ends of the links of a kind."""
    with as_system():
        return set(Link.objects.filter(kind=kind).values_list("source_id", "target_id"))


def succeeded(run: Run) -> Run:
    with as_system():
        Run.objects.filter(id=run.id).update(
            state=Run.State.SUCCEEDED, sandbox_used="landlock", ended_at=now()
        )
    return again(run)


# --- collapsing


def test_the_same_program_in_another_form_collapses_and_says_so(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    second = propose(cast.actor(cast.rita), cast.project, code=REFORMATTED)
    assert (second.deduplicated, second.duplicate_of) == (True, first.solution.id)
    assert again(first.revision).code == CODE
    with as_system():
        assert Solution.objects.count() == 1


def test_reworded_problems_are_both_kept_though_their_code_is_the_same(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    second = propose(cast.actor(cast.bob), cast.project, problem="Sum the amounts over all of the rows.")
    assert not second.deduplicated
    assert links("related") == {(second.solution.id, first.solution.id)}
    assert links("alternative_to") == set()


def test_other_code_for_the_same_problem_is_an_alternative(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    second = propose(cast.actor(cast.rita), cast.project, code=OTHER)
    assert not second.deduplicated
    assert links("alternative_to") == {(second.solution.id, first.solution.id)}


def test_a_later_revision_with_the_same_program_is_found_too(cast: Cast) -> None:
    bob = cast.actor(cast.bob)
    first = propose(bob, cast.project)
    with acting_as(bob):
        new = revision_refine(
            actor=bob, solution=first.solution, based_on=first.revision.id, code=OTHER, entry_point="total"
        )
    assert propose(cast.actor(cast.rita), cast.project, code=OTHER).revision.id == new.id


def test_a_problem_that_was_reworded_is_no_longer_the_same(cast: Cast) -> None:
    rita = cast.actor(cast.rita)
    first = propose(rita, cast.project)
    with acting_as(rita):
        solution_change(actor=rita, solution=first.solution, changes={"problem": "Count the rows."})
    assert not propose(rita, cast.project).deduplicated
    assert propose(rita, cast.project, problem="count the rows.").deduplicated


def test_one_problem_solved_very_often_does_not_link_everything_with_everything(cast: Cast) -> None:
    bob = cast.actor(cast.bob)
    for number in range(8):
        propose(bob, cast.project, code=f"x = {number}\n", entry_point="", check_spec=None)
    with as_system():
        last = Solution.objects.order_by("-id").first()
        assert last is not None
        assert last.links.count() == 5


@pytest.mark.django_db(transaction=True)
def test_of_two_proposals_at_the_same_moment_one_wins_and_the_other_is_told(committed_cast: Cast) -> None:
    cast = committed_cast
    barrier = threading.Barrier(2)
    said: list[Any] = []

    def go(person: Any, code: str) -> None:
        try:
            barrier.wait(timeout=10)
            said.append(propose(cast.actor(person), cast.project, code=code))
        finally:
            connection.close()

    threads = [
        threading.Thread(target=go, args=pair) for pair in ((cast.bob, CODE), (cast.rita, REFORMATTED))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert sorted(item.deduplicated for item in said) == [False, True]
    assert len({item.solution.id for item in said}) == 1


# --- nothing is lost


def test_a_run_that_found_it_again_and_succeeded_speaks_for_it_once(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    run = succeeded(start_run(cast.project, cast.rita))
    for _ in range(2):
        with acting_as(run_actor(run)) as actor:
            solution_propose(
                actor=actor, project=cast.project, draft=draft(code=REFORMATTED, title="Sum"), run=run
            )
    with as_system():
        evidence = Evidence.objects.get()
        assert (evidence.kind, evidence.outcome, evidence.run_id) == ("reported", "success", run.id)
        assert (evidence.revision_id, evidence.sandbox) == (first.revision.id, "landlock")
        assert evidence.detail == {"found_again": True, "title": "Sum", "code": REFORMATTED}
        assert AuditEntry.objects.filter(event="solution:found_again").count() == 1


def test_a_run_that_did_not_succeed_says_nothing_of_whether_it_works(cast: Cast) -> None:
    propose(cast.actor(cast.bob), cast.project)
    run = start_run(cast.project, cast.rita)
    propose(run_actor(run), cast.project)
    with as_system():
        assert Evidence.objects.get().outcome == "not_applicable"


def test_a_run_that_used_it_from_memory_is_not_counted_twice(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    run = succeeded(start_run(cast.project, cast.rita))
    with as_system():
        Run.objects.filter(id=run.id).update(memory_use={"used": [str(first.revision.id)]})
    propose(run_actor(again(run)), cast.project)
    with as_system():
        assert not Evidence.objects.exists()


def test_people_are_noted_and_count_for_nothing_authors_not_even_that(cast: Cast) -> None:
    propose(cast.actor(cast.bob), cast.project)
    for person in (cast.bob, cast.rita, cast.rita):
        propose(cast.actor(person), cast.project)
    with as_system():
        assert [(row.user_id, row.outcome) for row in Evidence.objects.all()] == [
            (cast.rita.id, "not_applicable")
        ]


# --- helpers


def test_code_that_calls_an_approved_helper_depends_on_it(cast: Cast) -> None:
    helper = propose(cast.actor(cast.bob), cast.project)
    approve(cast.rita, helper.revision)
    caller = propose(
        cast.actor(cast.rita), cast.project, problem="The mean of the amounts.", entry_point="mean",
        code="def mean(rows):\n    return total(rows) / len(rows)\n", check_spec=None,
    )  # fmt: skip
    assert links("depends_on") == {(caller.solution.id, helper.solution.id)}
    assert again(caller.revision).depends_on == ["total"]
    with as_system():
        assert [item.id for item in helpers_of(again(caller.revision))] == [helper.revision.id]


def test_nobody_elses_unreviewed_code_gets_into_a_program(cast: Cast) -> None:
    propose(cast.actor(cast.bob), cast.project)
    mean = {
        "problem": "Mean.",
        "code": "def mean(rows):\n    return total(rows) / len(rows)\n",
        "check_spec": None,
    }
    propose(cast.actor(cast.rita), cast.project, entry_point="mean", **mean)
    assert links("depends_on") == set()
    own = propose(cast.actor(cast.bob), cast.project, entry_point="mean", **{**mean, "problem": "The mean."})
    assert {source for source, _ in links("depends_on")} == {own.solution.id}


def test_a_name_that_several_could_stand_for_is_left_alone(cast: Cast) -> None:
    for problem in ("One.", "Two."):
        approve(cast.rita, propose(cast.actor(cast.bob), cast.project, problem=problem).revision)
    propose(
        cast.actor(cast.bob),
        cast.project,
        problem="Mean.",
        entry_point="",
        check_spec=None,
        code="total([])\n",
    )
    assert links("depends_on") == set()


def test_a_refinement_that_calls_a_helper_depends_on_it_from_then_on(cast: Cast) -> None:
    bob = cast.actor(cast.bob)
    helper = propose(bob, cast.project)
    approve(cast.rita, helper.revision)
    script = propose(bob, cast.project, problem="Mean.", code="x = 1\n", entry_point="", check_spec=None)
    assert links("depends_on") == set()
    with acting_as(bob):
        revision_refine(actor=bob, solution=script.solution, based_on=script.revision.id, code="total([])\n")
    assert links("depends_on") == {(script.solution.id, helper.solution.id)}


# --- rows of a version before the digests


def test_rows_without_digests_are_filled_in_by_the_sweep(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    digests = (first.solution.problem_hash, first.revision.ast_hash)
    with as_system():
        Solution.objects.update(problem_hash="")
        Revision.objects.update(ast_hash="")
    assert propose(
        cast.actor(cast.rita), cast.project
    ).deduplicated  # byte for byte, it is found without them
    sweep()
    assert (again(first.solution).problem_hash, again(first.revision).ast_hash) == digests

"""Where one solution fails and another on the same problem works, they are linked and queued, once."""

from typing import Any

import pytest

from memory_hub.access.actor import SYSTEM, acting_as, as_system
from memory_hub.audit.models import AuditEntry
from memory_hub.common.errors import Conflict, InvalidInput, NotFound, PermissionDenied
from memory_hub.library.drafts import Proposed
from memory_hub.library.models import Link, MergeProposal
from memory_hub.library.services.evidence import evidence_report
from memory_hub.library.services.merge_proposals import merge_notice, merge_propose
from memory_hub.library.services.solutions import solution_archive
from tests.cast import Cast
from tests.services.library_support import CODE, again, propose, verified

OTHER = CODE.replace("rows:", "lines:").replace("in rows", "in lines").replace("(rows", "(lines")


@pytest.fixture
def pair(cast: Cast) -> tuple[Proposed, Proposed]:
    """Two solutions of one problem with different code."""
    one = propose(cast.actor(cast.bob), cast.project)
    return one, propose(cast.actor(cast.bob), cast.project, code=OTHER)


def proposals() -> list[MergeProposal]:
    with as_system():
        return list(MergeProposal.objects.all())


def conflicts() -> list[tuple[Any, Any]]:
    with as_system():
        return list(Link.objects.filter(kind="conflicts_with").values_list("source_id", "target_id"))


def report(cast: Cast, person: Any, revision: Any, outcome: str) -> None:
    with acting_as(cast.actor(person)) as actor:
        evidence_report(actor=actor, revision=revision, outcome=outcome)


@pytest.mark.parametrize("failure_first", [True, False])
def test_a_check_that_fails_where_another_passes_is_a_conflict(
    pair: tuple[Proposed, Proposed], failure_first: bool
) -> None:
    bad, good = pair
    for passed in (False, True) if failure_first else (True, False):
        verified((good if passed else bad).revision, passed=passed)
    assert conflicts() == [(bad.solution.id, good.solution.id)]
    [row] = proposals()
    assert (row.kind, row.state) == ("conflict", "open")
    assert row.detail == {
        "failing": str(bad.revision.id),
        "working": str(good.revision.id),
        "failing_solution": str(bad.solution.id),
    }
    with as_system():
        assert AuditEntry.objects.filter(event="merge:proposed").count() == 1


def test_a_reported_failure_is_a_conflict_with_what_works(
    cast: Cast, pair: tuple[Proposed, Proposed]
) -> None:
    bad, good = pair
    verified(good.revision)
    verified(bad.revision)
    assert not proposals()
    report(cast, cast.rita, bad.revision, "failure")
    assert conflicts() == [(bad.solution.id, good.solution.id)]


@pytest.mark.parametrize("passed", [True, False])
def test_two_that_fail_alike_and_two_that_work_are_no_conflict(
    pair: tuple[Proposed, Proposed], passed: bool
) -> None:
    for item in pair:
        verified(item.revision, passed=passed)
    assert not proposals()


def test_solutions_of_different_problems_are_never_in_conflict(cast: Cast) -> None:
    bad = propose(cast.actor(cast.bob), cast.project)
    good = propose(cast.actor(cast.bob), cast.project, problem="Count the rows.", code=OTHER)
    verified(bad.revision, passed=False)
    verified(good.revision)
    assert not proposals()


def test_what_is_linked_as_an_alternative_is_the_same_problem_whatever_its_words(cast: Cast) -> None:
    bad = propose(cast.actor(cast.bob), cast.project)
    good = propose(cast.actor(cast.bob), cast.project, problem="Sum all amounts.", code=OTHER)
    with as_system():
        Link.objects.create(
            team_id=bad.solution.team_id, project_id=cast.project.id, kind="alternative_to",
            source=good.solution, target=bad.solution,
        )  # fmt: skip
    verified(good.revision)
    verified(bad.revision, passed=False)
    assert len(proposals()) == 1


def test_a_conflict_is_found_once_and_stays_decided(cast: Cast, pair: tuple[Proposed, Proposed]) -> None:
    bad, good = pair
    verified(good.revision)
    for person in (cast.rita, cast.alice):
        report(cast, person, bad.revision, "failure")
    with as_system():
        MergeProposal.objects.update(state="declined")
    report(cast, cast.rita, bad.revision, "failure")
    assert (len(conflicts()), [row.state for row in proposals()]) == (1, ["declined"])


def test_archived_work_is_in_nobodys_way(cast: Cast, pair: tuple[Proposed, Proposed]) -> None:
    bad, good = pair
    verified(good.revision)
    with acting_as(cast.actor(cast.bob)) as bob:
        solution_archive(actor=bob, solution=again(bad.solution))
    verified(bad.revision, passed=False)
    assert not proposals()


# --- proposals


def notice(pair: tuple[Proposed, Proposed], kind: str, **detail: Any) -> MergeProposal:
    with as_system():
        return merge_notice(
            actor=SYSTEM, first=pair[1].solution, second=pair[0].solution, kind=kind, detail=detail
        )


def test_a_pair_is_proposed_once_whichever_comes_first(pair: tuple[Proposed, Proposed]) -> None:
    first = notice(pair, "near_duplicate", cosine=0.98)
    again_ = notice((pair[1], pair[0]), "near_duplicate", cosine=0.99)
    assert first.id == again_.id
    assert (first.one_id, first.two_id) == (pair[0].solution.id, pair[1].solution.id)
    assert proposals()[0].detail == {"cosine": 0.98}


@pytest.mark.parametrize(
    ("before", "then", "state", "kind"),
    [
        ("near_duplicate", "near_duplicate", "declined", "near_duplicate"),
        ("near_duplicate", "conflict", "open", "conflict"),
        ("conflict", "conflict", "declined", "conflict"),
        ("conflict", "near_duplicate", "declined", "conflict"),
        ("conflict", "asked", "open", "asked"),
    ],
)
def test_what_was_declined_comes_up_again_only_for_news(
    pair: tuple[Proposed, Proposed], before: str, then: str, state: str, kind: str
) -> None:
    notice(pair, before)
    with as_system():
        MergeProposal.objects.update(state="declined")
    notice(pair, then)
    assert [(row.state, row.kind) for row in proposals()] == [(state, kind)]


def test_a_contributor_asks_for_a_merge_with_a_note(cast: Cast, pair: tuple[Proposed, Proposed]) -> None:
    with acting_as(cast.actor(cast.bob)) as bob:
        row = merge_propose(actor=bob, solution=pair[1].solution, other=pair[0].solution, note="The same.")
    assert (row.kind, row.note, row.proposed_by_id) == ("asked", "The same.", cast.bob.id)


def test_a_viewer_asks_for_none_and_nobody_across_projects(
    cast: Cast, pair: tuple[Proposed, Proposed]
) -> None:
    with acting_as(cast.actor(cast.vera)) as vera, pytest.raises(PermissionDenied):
        merge_propose(actor=vera, solution=pair[1].solution, other=pair[0].solution)
    foreign = propose(cast.actor(cast.carol), cast.other_project)
    with acting_as(cast.actor(cast.alice)) as alice:
        with pytest.raises(NotFound):
            merge_propose(actor=alice, solution=pair[1].solution, other=foreign.solution)
        with pytest.raises(InvalidInput, match="itself"):
            merge_propose(actor=alice, solution=pair[1].solution, other=pair[1].solution)


def test_archived_and_merged_work_is_not_proposed(cast: Cast, pair: tuple[Proposed, Proposed]) -> None:
    row = notice(pair, "near_duplicate")
    with as_system():
        MergeProposal.objects.filter(id=row.id).update(state="accepted")
    with acting_as(cast.actor(cast.bob)) as bob, pytest.raises(Conflict, match="merged already"):
        merge_propose(actor=bob, solution=pair[1].solution, other=pair[0].solution)
    with acting_as(cast.actor(cast.bob)) as bob:
        solution_archive(actor=bob, solution=again(pair[0].solution))
        with pytest.raises(Conflict, match="archived"):
            merge_propose(actor=bob, solution=pair[1].solution, other=again(pair[0].solution))

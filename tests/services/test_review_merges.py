"""Merging two solutions: by reviewers, on what they saw, with nothing lost; and keeping them apart."""

from typing import Any

import pytest

from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.models import Project, User
from memory_hub.audit.models import AuditEntry
from memory_hub.common.errors import Conflict, HubError, InvalidInput, NotFound, PermissionDenied, SecretFound
from memory_hub.library.drafts import Proposed
from memory_hub.library.models import Evidence, Link, MergeProposal, Solution
from memory_hub.library.selectors import helpers_of, qualities_of_revisions, survivors
from memory_hub.library.services.evidence import evidence_report
from memory_hub.library.services.merge_proposals import merge_propose
from memory_hub.library.services.revisions import revision_refine
from memory_hub.library.services.solutions import solution_archive, solution_unarchive
from memory_hub.review.merges import merge_accept, merge_decline, solution_merge
from memory_hub.review.models import Rating, Review
from memory_hub.review.selectors import merge_proposal_get, merge_proposals, waiting_count, waiting_counts
from memory_hub.review.services import solution_rate
from tests.cast import Cast
from tests.services.library_support import (
    CODE,
    again,
    approve,
    exists,
    propose,
    run_actor,
    start_run,
    verified,
)

OTHER = CODE.replace("rows:", "lines:").replace("in rows", "in lines").replace("(rows", "(lines")


@pytest.fixture
def pair(cast: Cast) -> tuple[Proposed, Proposed]:
    """Two candidates of bob's on one problem in other words."""
    one = propose(cast.actor(cast.bob), cast.project)
    return one, propose(cast.actor(cast.bob), cast.project, problem="Sum the amounts.", code=OTHER)


@pytest.fixture
def asked(cast: Cast, pair: tuple[Proposed, Proposed]) -> MergeProposal:
    """Bob asks for the two to be merged."""
    with acting_as(cast.actor(cast.bob)) as bob:
        return merge_propose(actor=bob, solution=pair[1].solution, other=pair[0].solution, note="Twins.")


def seen(*proposed: Proposed) -> dict[Any, Any]:
    return {item.solution.id: item.revision.id for item in proposed}


def merge(cast: Cast, person: User, merged: Proposed, into: Proposed, **more: Any) -> MergeProposal:
    with acting_as(cast.actor(person)) as actor:
        return solution_merge(
            actor=actor, solution=merged.solution, into=into.solution, seen=more.pop("seen", seen(merged, into)),
            **more,
        )  # fmt: skip


def decide(cast: Cast, person: User, row: MergeProposal, pair: tuple[Proposed, Proposed], **more: Any) -> Any:
    with acting_as(cast.actor(person)) as actor:
        if survivor := more.pop("survivor", None):
            return merge_accept(actor=actor, proposal=row, survivor_id=survivor, seen=seen(*pair), **more)
        return merge_decline(actor=actor, proposal=row, seen=seen(*pair), **more)


# --- merging


def test_the_merged_one_is_archived_and_leads_to_the_one_that_stays(
    cast: Cast, pair: tuple[Proposed, Proposed]
) -> None:
    stays, goes = pair
    row = merge(cast, cast.rita, goes, stays, note="The same.")
    assert (row.state, row.survivor_id, row.decision_note) == ("accepted", stays.solution.id, "The same.")
    assert again(goes.solution).archived_at is not None
    assert again(goes.solution).needs_index
    assert again(stays.solution).archived_at is None
    with as_system() as hub:
        ends = set(Link.objects.values_list("kind", "source_id", "target_id"))
        assert survivors(hub, [goes.solution.id])[goes.solution.id].id == stays.solution.id
        assert AuditEntry.objects.filter(event="solution:merged", object_id=goes.solution.id).count() == 1
        assert not AuditEntry.objects.filter(event="merge:proposed").exists()
    assert ("duplicate_of", goes.solution.id, stays.solution.id) in ends
    assert ("supersedes", stays.solution.id, goes.solution.id) in ends


def test_nothing_of_either_is_lost(cast: Cast, pair: tuple[Proposed, Proposed]) -> None:
    stays, goes = pair
    verified(goes.revision)
    with acting_as(cast.actor(cast.rita)) as rita:
        solution_rate(actor=rita, solution=goes.solution, stars=4)
        evidence_report(actor=rita, revision=goes.revision, outcome="success", note="Fine")
    approve(cast.rita, goes.revision)
    approve(cast.rita, stays.revision)
    with as_system():
        before = [model.objects.count() for model in (Evidence, Rating, Review)]
    merge(cast, cast.rita, goes, stays)
    with as_system():
        assert [model.objects.count() for model in (Evidence, Rating, Review)] == before
    assert (again(goes.revision).code, again(goes.revision).status) == (OTHER, "approved")


def test_evidence_on_identical_code_counts_for_the_survivor_and_no_other(cast: Cast) -> None:
    bob = cast.actor(cast.bob)
    stays = propose(bob, cast.project)
    same_code = propose(bob, cast.project, problem="Sum the amounts.", code="# twin\n" + CODE)
    other_code = propose(bob, cast.project, problem="Add all amounts.", code=OTHER)
    for item in (same_code, other_code):
        verified(item.revision)
        merge(cast, cast.rita, item, stays)
    with as_system() as hub:
        found = qualities_of_revisions(hub, [stays.revision.id, other_code.revision.id])
    assert found[stays.revision.id].n == 1
    assert found[stays.revision.id].last_verified is not None
    assert found[other_code.revision.id].n == 1


def test_what_was_merged_is_found_again_as_the_one_that_stands_for_it(
    cast: Cast, pair: tuple[Proposed, Proposed]
) -> None:
    stays, goes = pair
    merge(cast, cast.rita, goes, stays)
    said = propose(cast.actor(cast.alice), cast.project, problem="Sum the amounts.", code=OTHER)
    assert (said.deduplicated, said.revision.id) == (True, goes.revision.id)
    assert said.duplicate_of == stays.solution.id


def test_code_that_called_the_merged_one_finds_the_function_where_it_is_now(cast: Cast) -> None:
    bob = cast.actor(cast.bob)
    goes = propose(bob, cast.project)
    stays = propose(bob, cast.project, problem="Sum.", code=OTHER)
    renamed = propose(
        bob, cast.project, problem="Plus.", code=OTHER.replace("total", "add"), entry_point="add"
    )
    approve(cast.rita, goes.revision)
    caller = propose(
        bob, cast.project, problem="Print.", code="print(total([]))\n", entry_point="", check_spec=None
    ).revision
    approve(cast.rita, stays.revision)
    approve(cast.rita, renamed.revision)
    with as_system():
        assert [item.id for item in helpers_of(again(caller))] == [goes.revision.id]
    merge(cast, cast.rita, goes, stays)
    with as_system():
        assert [item.id for item in helpers_of(again(caller))] == [stays.revision.id]
    merge(cast, cast.rita, stays, renamed)
    with as_system():  # of another name: the code that it was written for still runs
        assert [item.id for item in helpers_of(again(caller))] == [goes.revision.id]


def test_bringing_the_merged_one_back_undoes_it(cast: Cast, pair: tuple[Proposed, Proposed]) -> None:
    stays, goes = pair
    merge(cast, cast.rita, goes, stays)
    with acting_as(cast.actor(cast.rita)) as rita:
        solution_unarchive(actor=rita, solution=goes.solution)
    with as_system():
        assert not Link.objects.filter(kind__in=["duplicate_of", "supersedes"]).exists()
        assert MergeProposal.objects.get().state == "declined"
    merge(cast, cast.rita, goes, stays)  # and it can be done again


# --- who may, and on what


def test_a_contributor_merges_nothing_not_even_their_own(cast: Cast, pair: tuple[Proposed, Proposed]) -> None:
    with pytest.raises(PermissionDenied):
        merge(cast, cast.bob, pair[1], pair[0])
    with as_system():
        assert not MergeProposal.objects.exists()


def test_an_agent_run_decides_nothing(
    cast: Cast, asked: MergeProposal, pair: tuple[Proposed, Proposed]
) -> None:
    with acting_as(run_actor(start_run(cast.project, cast.rita))) as run, pytest.raises(PermissionDenied):
        merge_accept(actor=run, proposal=asked, survivor_id=asked.one_id, seen=seen(*pair))


def test_a_merge_stays_within_a_project(cast: Cast, pair: tuple[Proposed, Proposed]) -> None:
    foreign = propose(cast.actor(cast.carol), cast.other_project)
    with pytest.raises(NotFound):
        merge(cast, cast.alice, foreign, pair[0])
    with pytest.raises(InvalidInput, match="itself"):
        merge(cast, cast.alice, pair[0], pair[0])


def test_approved_work_gives_way_only_to_approved_work(cast: Cast, pair: tuple[Proposed, Proposed]) -> None:
    stays, goes = pair
    approve(cast.rita, goes.revision)
    with pytest.raises(Conflict, match="offered neither") as refused:
        merge(cast, cast.rita, goes, stays)
    assert refused.value.code == "survivor_not_approved"
    merge(cast, cast.rita, stays, goes)


def test_nobody_lets_approved_work_of_others_give_way_to_their_own(cast: Cast) -> None:
    goes = propose(cast.actor(cast.bob), cast.project)
    stays = propose(cast.actor(cast.rita), cast.project, problem="Sum the amounts.", code=OTHER)
    approve(cast.rita, goes.revision)
    approve(cast.alice, stays.revision)
    with pytest.raises(PermissionDenied) as refused:
        merge(cast, cast.rita, goes, stays)
    assert refused.value.code == "own_work"
    merge(cast, cast.alice, goes, stays)


def test_a_team_of_one_may_where_the_project_allows_it(cast: Cast) -> None:
    with as_system():
        Project.objects.filter(id=cast.project.id).update(allow_self_approval=True)
    goes = propose(cast.actor(cast.bob), cast.project)
    stays = propose(cast.actor(cast.rita), cast.project, problem="Sum the amounts.", code=OTHER)
    approve(cast.rita, goes.revision)
    approve(cast.rita, stays.revision)
    assert merge(cast, cast.rita, goes, stays).state == "accepted"


@pytest.mark.parametrize("which", [0, 1])
def test_a_decision_on_what_moved_is_refused(
    cast: Cast, asked: MergeProposal, pair: tuple[Proposed, Proposed], which: int
) -> None:
    with acting_as(cast.actor(cast.bob)) as bob:
        new = revision_refine(
            actor=bob, solution=pair[which].solution, based_on=pair[which].revision.id, code=CODE + "x = 1\n",
            entry_point="total",
        )  # fmt: skip
    for more in ({"survivor": asked.one_id}, {"note": "Other."}):
        with pytest.raises(Conflict) as refused:
            decide(cast, cast.rita, asked, pair, **more)
        assert (refused.value.code, refused.value.extra["latest"]) == ("stale_revision", str(new.id))
    assert exists(asked)
    assert again(asked).state == "open"


def test_a_second_decision_finds_that_somebody_was_faster(
    cast: Cast, asked: MergeProposal, pair: tuple[Proposed, Proposed]
) -> None:
    decide(cast, cast.alice, asked, pair, note="They are not.")
    with pytest.raises(Conflict, match="this is declined"):
        decide(cast, cast.rita, asked, pair, survivor=asked.one_id)


def test_an_archived_one_is_not_merged(cast: Cast, pair: tuple[Proposed, Proposed]) -> None:
    with acting_as(cast.actor(cast.bob)) as bob:
        solution_archive(actor=bob, solution=pair[1].solution)
    with pytest.raises(Conflict, match="archived"):
        merge(cast, cast.rita, pair[1], pair[0])


def test_one_of_the_two_stays(cast: Cast, asked: MergeProposal, pair: tuple[Proposed, Proposed]) -> None:
    third = propose(cast.actor(cast.bob), cast.project, problem="A third.")
    with pytest.raises(InvalidInput, match="which of the two"):
        decide(cast, cast.rita, asked, pair, survivor=third.solution.id)


# --- keeping apart


def test_keeping_apart_takes_a_reason_and_changes_nothing(
    cast: Cast, asked: MergeProposal, pair: tuple[Proposed, Proposed]
) -> None:
    with pytest.raises(InvalidInput, match="Say why"):
        decide(cast, cast.rita, asked, pair, note=" ")
    row = decide(cast, cast.rita, asked, pair, note="Other columns.")
    assert (row.state, row.decision_note, row.decided_by_id) == ("declined", "Other columns.", cast.rita.id)
    with as_system():
        assert not Solution.objects.exclude(archived_at=None).exists()
        assert AuditEntry.objects.filter(event="merge:declined").count() == 1


def test_a_secret_in_a_note_is_refused(
    cast: Cast, asked: MergeProposal, pair: tuple[Proposed, Proposed]
) -> None:
    with pytest.raises(SecretFound):
        decide(cast, cast.rita, asked, pair, note="AKIAIOSFODNN7EXAMPLX")


# --- the queue


def test_open_pairs_wait_until_they_are_decided_or_put_away(
    cast: Cast, asked: MergeProposal, pair: tuple[Proposed, Proposed]
) -> None:
    vera = cast.actor(cast.vera)
    with acting_as(vera):
        assert [row.id for row in merge_proposals(vera, cast.project, "open")] == [asked.id]
        assert waiting_count(vera, cast.project) == waiting_counts(vera)[cast.project.id] == 3
    with acting_as(cast.actor(cast.bob)) as bob:
        solution_archive(actor=bob, solution=pair[0].solution)
    with acting_as(vera):
        assert not merge_proposals(vera, cast.project, "open").exists()
        assert merge_proposals(vera, cast.project).count() == 1
        assert waiting_count(vera, cast.project) == 1


def test_a_pair_of_another_project_is_not_there(cast: Cast, asked: MergeProposal) -> None:
    for person in (cast.carol, cast.mallory):
        with acting_as(cast.actor(person)) as actor:
            with pytest.raises(NotFound):
                merge_proposal_get(actor, asked.id)
            with pytest.raises(HubError):
                merge_proposals(actor, cast.project)

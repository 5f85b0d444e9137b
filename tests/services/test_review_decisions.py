"""Decisions are people's, name the revision they were made on, and are never made on one's own work."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections

from memory_hub.access.actor import Actor, acting_as, as_system
from memory_hub.access.models import Project
from memory_hub.access.permissions import Role, Scope
from memory_hub.access.services.projects import member_change
from memory_hub.audit.models import AuditEntry
from memory_hub.common.errors import Conflict, HubError, IllegalTransition, InvalidInput, PermissionDenied
from memory_hub.library.models import Revision, Solution
from memory_hub.library.services.revisions import revision_refine
from memory_hub.library.services.solutions import solution_archive
from memory_hub.review.models import Review
from memory_hub.review.selectors import may_decide, queue, waiting_count, why_it_waits
from memory_hub.review.services import revision_approve, revision_deprecate, revision_reject
from tests.cast import Cast
from tests.services.library_support import CODE, again, approve, propose, run_actor, start_run, verified


def make_reviewer(cast: Cast, person: Any) -> None:
    """Let a contributor become a reviewer."""
    with as_system() as hub:
        member_change(actor=hub, membership=cast.project.memberships.get(user=person), role=Role.REVIEWER)


def refine(cast: Cast, solution: Solution, based_on: Revision, code: str = CODE + "# more\n") -> Revision:
    """Refine as bob."""
    bob = cast.actor(cast.bob)
    with acting_as(bob):
        return revision_refine(
            actor=bob, solution=solution, based_on=based_on.id, code=code, entry_point="total"
        )


def reject(
    cast: Cast, person: Any, revision: Revision, note: str = "Not general enough", **more: Any
) -> Review:
    """Reject as a person."""
    actor = cast.actor(person)
    with acting_as(actor):
        return revision_reject(actor=actor, revision=revision, note=note, **more)


# --- deciding


def test_an_approved_revision_is_the_one_that_is_served(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    review = approve(cast.rita, proposed.revision, note="Works on ours too")
    assert again(proposed.revision).status == "approved"
    solution = again(proposed.solution)
    assert (solution.approved_revision_id, solution.needs_index) == (proposed.revision.id, True)
    assert (review.decision, review.note, review.is_own_work) == ("approve", "Works on ours too", False)
    with as_system():
        entry = AuditEntry.objects.select_related("detail").get(event="revision:approved")
        assert entry.object_id == proposed.revision.id
        assert entry.detail.data["review"] == str(review.id)


def test_a_rejection_needs_a_reason(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    with pytest.raises(InvalidInput, match="Say why"):
        reject(cast, cast.rita, proposed.revision, note="  ")
    reject(cast, cast.rita, proposed.revision)
    assert again(proposed.revision).status == "rejected"
    assert again(proposed.solution).approved_revision_id is None


def test_a_rejection_may_be_taken_back_by_somebody_who_knows_of_it(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    reject(cast, cast.rita, proposed.revision)
    with pytest.raises(Conflict, match="rejected, not candidate"):
        approve(cast.alice, proposed.revision)
    approve(cast.alice, proposed.revision, expected_status="rejected")
    assert again(proposed.solution).approved_revision_id == proposed.revision.id


def test_what_is_deprecated_is_served_no_more_and_nothing_takes_its_place(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    approve(cast.rita, proposed.revision)
    rita = cast.actor(cast.rita)
    with acting_as(rita):
        revision_deprecate(actor=rita, revision=proposed.revision, note="pandas 3 changed this")
    assert again(proposed.revision).status == "deprecated"
    assert again(proposed.solution).approved_revision_id is None


def test_an_older_revision_can_be_put_in_service_again(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    approve(cast.rita, first.revision)
    second = refine(cast, first.solution, first.revision)
    approve(cast.rita, second)
    approve(cast.rita, first.revision, expected_latest=second.id, expected_status="deprecated")
    assert again(first.solution).approved_revision_id == first.revision.id
    assert again(second).status == "deprecated"


@pytest.mark.parametrize(
    ("status", "decide"),
    [
        ("approved", revision_reject),
        ("rejected", revision_reject),
        ("deprecated", revision_reject),
        ("approved", revision_approve),
    ],
)
def test_a_move_that_the_table_does_not_name_is_refused(
    cast: Cast, status: str, decide: Callable[..., Review]
) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    with as_system():
        Revision.objects.update(status=status)
    rita = cast.actor(cast.rita)
    with acting_as(rita), pytest.raises(IllegalTransition):
        decide(actor=rita, revision=proposed.revision, note="x", expected_status=status)


def test_only_what_is_approved_can_be_deprecated(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    rita = cast.actor(cast.rita)
    with acting_as(rita), pytest.raises(Conflict, match="candidate, not approved"):
        revision_deprecate(actor=rita, revision=proposed.revision)


def test_a_decision_on_a_revision_that_has_moved_is_refused(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    second = refine(cast, first.solution, first.revision)
    for more in ({}, {"expected_latest": first.revision.id}):
        with pytest.raises(Conflict) as refused:
            approve(cast.rita, first.revision, **more)
        assert refused.value.code == "stale_revision"
        assert refused.value.extra["latest"] == str(second.id)
    assert again(first.revision).status == "candidate"


def test_nothing_is_decided_on_an_archived_solution(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    rita = cast.actor(cast.rita)
    with acting_as(rita):
        solution_archive(actor=rita, solution=proposed.solution)
    with pytest.raises(Conflict, match="archived"):
        approve(cast.rita, proposed.revision)


# --- by whom


def test_a_contributor_cannot_decide(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.rita), cast.project)
    with pytest.raises(PermissionDenied, match="reviewer"):
        approve(cast.bob, proposed.revision)


def test_a_reviewers_key_decides_only_with_the_scope_for_it(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    without = cast.key_actor(cast.rita, role=Role.REVIEWER, scopes=[Scope.READ, Scope.PROPOSE])
    with acting_as(without), pytest.raises(PermissionDenied, match="review"):
        revision_approve(actor=without, revision=proposed.revision)
    key = cast.key_actor(cast.rita, role=Role.REVIEWER, scopes=[Scope.READ, Scope.REVIEW])
    with acting_as(key):
        revision_approve(actor=key, revision=proposed.revision)
    assert again(proposed.revision).status == "approved"


def through_the_browser(cast: Cast) -> Actor:
    return cast.actor(cast.rita)


def through_a_key(cast: Cast) -> Actor:
    return cast.key_actor(cast.rita, role=Role.REVIEWER)


def through_a_run(cast: Cast) -> Actor:
    return run_actor(start_run(cast.project, cast.rita))


@pytest.mark.parametrize("how", [through_the_browser, through_a_key, through_a_run])
def test_nobody_approves_their_own_work_however_it_was_made(cast: Cast, how: Callable[[Cast], Actor]) -> None:
    proposed = propose(how(cast), cast.project)
    for actor in (cast.actor(cast.rita), through_a_key(cast)):
        with acting_as(actor), pytest.raises(PermissionDenied) as refused:
            revision_approve(actor=actor, revision=proposed.revision)
        assert refused.value.code == "own_work"
    approve(cast.alice, proposed.revision)
    assert again(proposed.revision).status == "approved"


def test_the_starter_of_a_run_stays_its_author_whoever_sent_it_in(cast: Cast) -> None:
    """A client's key of bob records a run that rita started: neither may approve it."""
    make_reviewer(cast, cast.bob)
    run = start_run(cast.project, cast.rita)
    proposed = propose(cast.actor(cast.bob), cast.project)
    with as_system():
        Revision.objects.update(author_run=run)
    for person in (cast.rita, cast.bob):
        with pytest.raises(PermissionDenied, match="own work"):
            approve(person, proposed.revision)


def test_a_refinement_is_the_work_of_who_refined_it(cast: Cast) -> None:
    first = propose(cast.actor(cast.rita), cast.project)
    second = refine(cast, first.solution, first.revision)  # by bob
    approve(cast.rita, second)
    assert again(second).status == "approved"


def test_a_project_may_allow_self_approval_and_each_review_says_so(cast: Cast) -> None:
    with as_system():
        Project.objects.filter(id=cast.project.id).update(allow_self_approval=True)
    proposed = propose(cast.actor(cast.rita), cast.project)
    review = approve(cast.rita, proposed.revision)
    assert review.is_own_work
    with as_system():
        detail = AuditEntry.objects.select_related("detail").get(event="revision:approved").detail
        assert detail.data["own_work"] is True


def test_ones_own_work_may_be_rejected(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.rita), cast.project)
    assert reject(cast, cast.rita, proposed.revision, note="My mistake").is_own_work


def test_an_agent_run_decides_nothing(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    run = start_run(cast.project, cast.rita)
    with as_system():
        run.role, run.scopes = Role.REVIEWER, list(Scope)
        run.save()
    actor = run_actor(run)
    with acting_as(actor), pytest.raises(PermissionDenied, match="person's"):
        revision_approve(actor=actor, revision=proposed.revision)


# --- at once


def test_of_two_approvals_at_once_one_wins(committed_cast: Cast) -> None:
    cast = committed_cast
    first = propose(cast.actor(cast.bob), cast.project)
    actors = [cast.actor(cast.rita), cast.actor(cast.alice)]
    results: list[Review | HubError] = []
    together = threading.Barrier(2)

    def decide(actor: Actor) -> None:
        try:
            together.wait()
            with acting_as(actor):
                results.append(revision_approve(actor=actor, revision=first.revision))
        except HubError as error:
            results.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=decide, args=(actor,)) for actor in actors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert sorted(type(result).__name__ for result in results) == ["Conflict", "Review"]
    with as_system():
        assert Review.objects.count() == 1
        assert AuditEntry.objects.filter(event="revision:approved").count() == 1


def test_a_refinement_and_an_approval_at_once_leave_one_story(committed_cast: Cast) -> None:
    """Either the approval came first and the refinement is a new candidate, or it is refused as stale."""
    cast = committed_cast
    first = propose(cast.actor(cast.bob), cast.project)
    outcome: dict[str, object] = {}
    together = threading.Barrier(2)

    def run(name: str, deed: Callable[[], object]) -> None:
        try:
            together.wait()
            outcome[name] = deed()
        except HubError as error:
            outcome[name] = error.code
        finally:
            connections.close_all()

    threads = [
        threading.Thread(target=run, args=("approve", lambda: approve(cast.rita, first.revision))),
        threading.Thread(target=run, args=("refine", lambda: refine(cast, first.solution, first.revision))),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert isinstance(outcome["refine"], Revision)
    assert outcome["approve"] == "stale_revision" or isinstance(outcome["approve"], Review)
    approved = again(first.solution).approved_revision_id
    assert (approved == first.revision.id) == isinstance(outcome["approve"], Review)


def test_two_proposals_of_the_same_code_at_once_make_one_solution(committed_cast: Cast) -> None:
    cast = committed_cast
    found: list[bool] = []
    together = threading.Barrier(2)

    def run(actor: Actor) -> None:
        try:
            together.wait()
            found.append(propose(actor, cast.project).deduplicated)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(cast.actor(who),)) for who in (cast.bob, cast.rita)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert sorted(found) == [False, True]
    with as_system():
        assert Solution.objects.count() == 1


# --- the queue


def test_the_queue_has_the_latest_candidates_oldest_first(cast: Cast) -> None:
    bob = cast.actor(cast.bob)
    first = propose(bob, cast.project)
    second = propose(
        bob, cast.project, problem="Second", check_spec=None, check_missing="No call was recorded."
    )
    third = propose(bob, cast.project, problem="Third")
    approve(cast.rita, third.revision)
    refined = refine(cast, first.solution, first.revision)
    rita = cast.actor(cast.rita)
    with acting_as(rita):
        assert [row.id for row in queue(rita, cast.project)] == [second.revision.id, refined.id]
        assert waiting_count(rita, cast.project) == 2
        reasons = {row.id: " | ".join(why_it_waits(row)) for row in queue(rita, cast.project)}
    assert "No check. No call was recorded." in reasons[second.revision.id]
    assert "A refinement" in reasons[refined.id]
    assert "being run" in reasons[refined.id]


def test_a_failed_check_is_said_in_the_queue(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    verified(proposed.revision, passed=False)
    rita = cast.actor(cast.rita)
    with acting_as(rita):
        assert "Its check failed" in why_it_waits(queue(rita, cast.project).get())


def test_what_waits_in_other_projects_is_not_counted(cast: Cast) -> None:
    propose(cast.actor(cast.carol), cast.other_project)
    for person in (cast.bob, cast.mallory):
        actor = cast.actor(person)
        with acting_as(actor):
            assert waiting_count(actor, cast.other_project) == 0


def test_the_author_is_told_why_they_cannot_approve(cast: Cast) -> None:
    mine = propose(cast.actor(cast.rita), cast.project).revision
    rita, bob, alice = cast.actor(cast.rita), cast.actor(cast.bob), cast.actor(cast.alice)
    with acting_as(rita):
        said = may_decide(rita, again(mine))
        assert (said.approve, said.reject, said.own_work) == (False, True, True)
        assert "own work" in said.reason
    with acting_as(bob):
        said = may_decide(bob, again(mine))
        assert (said.approve, said.reject) == (False, False)
        assert "reviewer" in said.reason
    with acting_as(alice):
        assert may_decide(alice, again(mine)).approve


def test_a_check_that_ends_during_a_decision_does_not_block_it(committed_cast: Cast) -> None:
    """Both lock the solution before the revision; in opposite orders they would wait for each other for ever."""
    cast = committed_cast
    for number in range(5):
        proposed = propose(cast.actor(cast.bob), cast.project, problem=f"Problem {number}")
        failures: list[BaseException] = []
        together = threading.Barrier(2)

        def run(
            deed: Callable[[], object], together: threading.Barrier = together, failures: list = failures
        ) -> None:
            try:
                together.wait()
                deed()
            except BaseException as error:
                failures.append(error)
            finally:
                connections.close_all()

        threads = [
            threading.Thread(target=run, args=(lambda found=proposed: approve(cast.rita, found.revision),)),
            threading.Thread(target=run, args=(lambda found=proposed: verified(found.revision),)),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=30)
        assert failures == []
        revision = again(proposed.revision)
        assert (revision.status, revision.verification) == ("approved", "passed")

"""A refinement is a new revision, checked again, on top of the latest; a check is run by one worker at a time."""

from datetime import timedelta
from typing import Any

import pytest

from memory_hub.access.actor import acting_as, as_system
from memory_hub.audit.models import AuditEntry
from memory_hub.common import clock
from memory_hub.common.errors import Conflict, InvalidInput, PermissionDenied, SecretFound
from memory_hub.library.models import Evidence, Revision, Solution
from memory_hub.library.selectors import qualities_of_revisions
from memory_hub.library.services import verification as verification_module
from memory_hub.library.services.revisions import check_change, revision_refine
from memory_hub.library.services.verification import (
    LEASE,
    MAX_ATTEMPTS,
    verification_claim,
    verification_record,
    verification_release,
    verification_request,
)
from memory_hub.library.tasks import sweep
from tests.cast import Cast
from tests.services.library_support import (
    CHECK,
    CODE,
    again,
    approve,
    propose,
    run_actor,
    start_run,
    verified,
)

BETTER = 'def total(rows: list[dict]) -> int:\n    return sum(int(row["amount"]) for row in rows)\n'


def refine(
    cast: Cast, solution: Solution, based_on: Revision, *, actor: Any = None, **changes: Any
) -> Revision:
    """Refine as bob, in a transaction of its own."""
    actor = actor or cast.actor(cast.bob)
    values = {"code": BETTER, "entry_point": "total", "change_note": "Take text too", **changes}
    with acting_as(actor):
        return revision_refine(actor=actor, solution=solution, based_on=based_on.id, **values)


# --- refining


def test_a_refinement_is_a_candidate_with_the_check_of_its_parent_to_be_run_again(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    verified(first.revision)
    second = again(refine(cast, first.solution, first.revision, actor=cast.actor(cast.rita)))
    assert (second.number, second.status, second.verification) == (2, "candidate", "unverified")
    assert second.needs_verification
    assert second.check_spec == {**CHECK, "inputs": {}}
    assert second.parent_id == first.revision.id
    assert second.author_id == cast.rita.id
    assert again(first.solution).latest_revision_id == second.id
    assert again(first.revision).code == CODE


def test_the_approved_revision_is_served_until_the_new_one_is_approved(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    approve(cast.rita, first.revision)
    second = refine(cast, first.solution, first.revision)
    assert again(first.solution).approved_revision_id == first.revision.id
    approve(cast.rita, second)
    assert again(first.solution).approved_revision_id == second.id
    assert again(first.revision).status == "deprecated"


def test_a_refinement_on_top_of_an_old_revision_is_refused(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    second = refine(cast, first.solution, first.revision)
    with pytest.raises(Conflict) as refused:
        refine(cast, first.solution, first.revision, code=BETTER + "# mine\n")
    assert refused.value.code == "stale_revision"
    assert refused.value.extra == {"latest": str(second.id), "number": 2}


def test_a_refinement_that_changes_nothing_is_refused(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    with pytest.raises(InvalidInput, match="Nothing was changed"):
        refine(cast, first.solution, first.revision, code=CODE)


def test_code_that_does_not_parse_is_refused_with_its_line(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    with pytest.raises(InvalidInput, match="in line 2"):
        refine(cast, first.solution, first.revision, code="def total(rows):\n    return (\n")


def test_a_secret_in_a_refinement_is_refused(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    with pytest.raises(SecretFound):
        refine(cast, first.solution, first.revision, code=BETTER + "# AKIAIOSFODNN7EXAMPLX\n")


def test_a_script_becomes_a_function_by_refining_it(cast: Cast) -> None:
    script = propose(cast.actor(cast.bob), cast.project, code="print(1)\n", entry_point="", check_spec=None)
    second = refine(cast, script.solution, script.revision, check_spec=CHECK)
    assert (second.entry_point, second.signature) == ("total", "total(rows: list[dict]) -> int")
    assert again(second).needs_verification


def test_a_function_turned_into_a_script_loses_its_check(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    second = refine(cast, first.solution, first.revision, entry_point="")
    assert (second.check_spec, second.needs_verification) == (None, False)
    assert "script" in second.check_missing


def test_a_run_may_refine_in_the_name_of_its_starter(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    run = start_run(cast.project, cast.rita)
    second = refine(cast, first.solution, first.revision, actor=run_actor(run))
    assert (second.author_id, second.author_run_id) == (cast.rita.id, run.id)


def test_a_viewer_cannot_refine(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    with pytest.raises(PermissionDenied, match="contributor"):
        refine(cast, first.solution, first.revision, actor=cast.actor(cast.vera))


def test_an_archived_solution_is_not_refined(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    with as_system():
        Solution.objects.update(archived_at=clock.now())
    with pytest.raises(Conflict, match="archived"):
        refine(cast, first.solution, first.revision)


# --- a check that was missing


def test_a_missing_check_is_given_once_and_run(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project, check_spec=None, check_missing="No call.")
    actor = cast.actor(cast.bob)
    with acting_as(actor):
        check_change(actor=actor, revision=first.revision, check_spec=CHECK)
    assert again(first.revision).needs_verification
    assert again(first.revision).check_missing == ""
    with acting_as(actor), pytest.raises(Conflict, match="another revision"):
        check_change(actor=actor, revision=first.revision, check_spec=CHECK)


def test_a_script_cannot_be_given_a_check(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project, entry_point="", check_spec=None)
    actor = cast.actor(cast.bob)
    with acting_as(actor), pytest.raises(InvalidInput, match="script"):
        check_change(actor=actor, revision=first.revision, check_spec=CHECK)


# --- verification


def claim(revision: Revision) -> Revision | None:
    """Claim as a worker does."""
    with as_system():
        return verification_claim(revision_id=revision.id)


def test_one_worker_takes_a_check_and_a_second_one_gets_nothing(cast: Cast) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    assert claim(revision) is not None
    assert claim(revision) is None


def test_the_claim_of_a_dead_worker_lapses(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    assert claim(revision) is not None
    later = clock.now() + LEASE + timedelta(seconds=1)
    monkeypatch.setattr(verification_module, "now", lambda: later)
    assert claim(revision) is not None


def test_a_check_that_kills_its_worker_again_and_again_is_given_up(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    start = clock.now()
    claims = []
    for attempt in range(MAX_ATTEMPTS + 1):
        moment = start + attempt * (LEASE + timedelta(seconds=1))
        monkeypatch.setattr(verification_module, "now", lambda moment=moment: moment)
        claims.append(claim(revision) is not None)
    assert claims == [True] * MAX_ATTEMPTS + [False]
    given_up = again(revision)
    assert not given_up.needs_verification
    assert given_up.verification == "unverified"
    assert "never came to an end" in given_up.verification_detail


def test_a_passed_check_is_a_fact_and_evidence(cast: Cast) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    claim(revision)
    verified(revision)
    now = again(revision)
    assert (now.verification, now.verified_in, now.needs_verification) == ("passed", "bubblewrap", False)
    assert now.status == "candidate"
    with as_system():
        evidence = Evidence.objects.get()
        assert (evidence.kind, evidence.outcome, evidence.sandbox) == ("verified", "success", "bubblewrap")
        assert AuditEntry.objects.filter(event="revision:verified", actor_kind="system").count() == 1


def test_running_a_check_often_says_no_more_than_running_it_once(cast: Cast) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    for _ in range(3):
        verified(revision)
    verified(revision, sandbox="landlock")
    with as_system() as hub:
        assert Evidence.objects.count() == 4
        assert qualities_of_revisions(hub, [revision.id])[revision.id].n == 2


def test_a_failed_check_takes_the_place_of_a_passed_one(cast: Cast) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    verified(revision)
    verified(revision, passed=False)
    assert again(revision).verification == "failed"
    with as_system() as hub:
        assert qualities_of_revisions(hub, [revision.id])[revision.id].share == 0.0


def test_nobody_but_the_hub_says_that_a_check_passed(cast: Cast) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    for actor in (cast.actor(cast.alice), run_actor(start_run(cast.project, cast.bob))):
        with acting_as(actor), pytest.raises(PermissionDenied):
            verification_record(actor=actor, revision=revision, passed=True, sandbox="bubblewrap")
    assert again(revision).verification == "unverified"


def test_a_check_can_be_asked_for_again(cast: Cast) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    verified(revision)
    actor = cast.actor(cast.bob)
    for _ in range(2):
        with acting_as(actor):
            verification_request(actor=actor, revision=revision)
    assert again(revision).needs_verification
    assert again(revision).verification == "passed"  # until it is known better
    with as_system():
        assert AuditEntry.objects.filter(event="revision:verification_requested").count() == 1


def test_what_has_no_check_cannot_be_verified(cast: Cast) -> None:
    revision = propose(cast.actor(cast.bob), cast.project, check_spec=None).revision
    actor = cast.actor(cast.bob)
    with acting_as(actor), pytest.raises(InvalidInput) as refused:
        verification_request(actor=actor, revision=revision)
    assert refused.value.code == "no_check"


def test_without_a_sandbox_the_claim_is_given_back_with_the_reason(cast: Cast) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    claim(revision)
    with as_system():
        verification_release(revision_id=revision.id, reason="No sandbox works on this machine.")
    waiting = again(revision)
    assert waiting.needs_verification
    assert waiting.verification_lease_until is None
    assert waiting.verification_detail == "No sandbox works on this machine."
    assert claim(revision) is not None


def test_the_sweep_asks_again_for_what_a_lost_message_asked_for(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[tuple[str, Any]] = []
    proposed = propose(cast.actor(cast.bob), cast.project)
    taken = propose(cast.actor(cast.bob), cast.project, problem="Another").revision
    claim(taken)
    monkeypatch.setattr("memory_hub.library.tasks.nudge", lambda task, *ids: sent.append((task, *ids)))
    sweep()
    assert ("agents_runner.verify_revision", proposed.revision.id) in sent
    assert ("agents_runner.verify_revision", taken.id) not in sent  # somebody is at it
    assert ("recall.index_solution", proposed.solution.id) in sent
    with as_system():
        Solution.objects.update(needs_index=False)
        Revision.objects.update(needs_verification=False)
    sent.clear()
    sweep()
    assert sent == []

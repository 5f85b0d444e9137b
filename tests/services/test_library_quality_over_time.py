"""Evidence fades and nothing is hidden by it; checks, uses and reads are different things."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from memory_hub.access.actor import acting_as, as_system
from memory_hub.common import clock
from memory_hub.library.models import Evidence, Revision
from memory_hub.library.quality import HALF_LIFE, Quality
from memory_hub.library.selectors import qualities_of_revisions
from memory_hub.library.services.evidence import evidence_record
from memory_hub.library.services.solutions import solution_note_read
from memory_hub.recall.services import RecallRequest, index_solution, recall_make, recall_outcome
from tests.cast import Cast
from tests.services.library_support import propose, verified

START = datetime(2030, 1, 1, 12, tzinfo=clock.now().tzinfo)


class Clock:
    """The hub's clock, moved by hand."""

    moment = START

    def forward(self, **much: float) -> datetime:
        self.moment += timedelta(**much)
        return self.moment


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Clock:
    moved = Clock()
    monkeypatch.setattr("django.utils.timezone.now", lambda: moved.moment)
    return moved


def quality(revision: Revision) -> Quality:
    with as_system() as hub:
        return qualities_of_revisions(hub, [revision.id])[revision.id]


def use(cast: Cast, revision: Revision, outcome: str = "success") -> None:
    with acting_as(cast.actor(cast.rita)) as rita:
        evidence_record(actor=rita, revision=revision, kind="reused", outcome=outcome)


def test_old_evidence_says_less_and_the_share_stays(cast: Cast, time: Clock) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    for _ in range(4):
        use(cast, revision)
    fresh = quality(revision)
    time.forward(days=HALF_LIFE.days)
    old = quality(revision)
    assert fresh.score is not None
    assert old.score is not None
    assert old.score < fresh.score
    assert (old.share, old.n, old.reuses) == (1.0, 4, 4)


def test_new_evidence_outweighs_old(cast: Cast, time: Clock) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    use(cast, revision)
    time.forward(days=4 * HALF_LIFE.days)
    use(cast, revision, "failure")
    share = quality(revision).share
    assert share is not None
    assert share < 0.1


def test_within_a_month_nothing_fades(cast: Cast, time: Clock) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    use(cast, revision)
    fresh = quality(revision)
    time.forward(days=29)
    assert quality(revision).score == fresh.score


def test_two_years_later_a_verified_solution_is_worth_more_than_one_never_verified_and_is_offered(
    cast: Cast, time: Clock
) -> None:
    bob = cast.actor(cast.bob)
    proved = propose(bob, cast.project)
    verified(proved.revision)
    time.forward(days=730)
    unproved = propose(bob, cast.project, code="def total(rows):\n    return 0\n", check_spec=None)
    failed = propose(bob, cast.project, problem="Count the rows.")
    verified(failed.revision, passed=False)
    worths = [quality(item.revision).worth for item in (proved, unproved, failed)]
    assert worths == sorted(worths, reverse=True)
    assert len(set(worths)) == 3
    with as_system():
        index_solution(solution_id=proved.solution.id)
    with acting_as(bob):
        answer = recall_make(
            actor=bob, project=cast.project, query=RecallRequest(task="Add up the amount of every row.")
        )
    assert [item.solution_id for item in answer.items] == [str(proved.solution.id)]


def test_checked_and_used_are_different_times(cast: Cast, time: Clock) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    assert (quality(revision).last_verified, quality(revision).last_used) == (None, None)
    checked = time.forward(days=1)
    verified(revision)
    used = time.forward(days=1)
    use(cast, revision)
    assert (quality(revision).last_verified, quality(revision).last_used) == (checked, used)
    time.forward(days=1)
    verified(revision, passed=False)
    assert quality(revision).last_verified == checked  # it failed since; that does not undo that it passed


def test_what_did_not_apply_was_no_use(cast: Cast, time: Clock) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    use(cast, revision, "not_applicable")
    assert quality(revision).last_used is None


def test_a_read_and_an_offer_refresh_nothing(cast: Cast, time: Clock) -> None:
    bob = cast.actor(cast.bob)
    proposed = propose(bob, cast.project)
    checked = time.forward(days=1)
    verified(proposed.revision)
    with as_system():
        index_solution(solution_id=proposed.solution.id)
    before = quality(proposed.revision)
    time.forward(days=10)
    with acting_as(bob):
        solution_note_read(actor=bob, solution=proposed.solution)
        answer = recall_make(
            actor=bob, project=cast.project, query=RecallRequest(task="Add up the amount of every row.")
        )
    assert len(answer.items) == 1
    after: Any = quality(proposed.revision)
    assert (after.last_verified, after.last_used, after.n) == (checked, None, before.n)
    with acting_as(bob):
        recall_outcome(actor=bob, recall_id=answer.recall.id, used=[proposed.revision.id], outcome="success")
    assert quality(proposed.revision).last_used == time.moment
    with as_system():
        assert Evidence.objects.filter(kind="reused").count() == 1

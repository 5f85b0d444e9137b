"""What became of a recall is evidence on what was used: once, however often it is told, and the last telling counts."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from memory_hub.access.actor import Actor, acting_as, as_system
from memory_hub.access.permissions import Role, Scope
from memory_hub.audit.events import Event
from memory_hub.audit.models import AuditEntry
from memory_hub.common.errors import InvalidInput, NotFound, PermissionDenied
from memory_hub.library.drafts import Metric
from memory_hub.library.models import Evidence, Revision
from memory_hub.library.selectors import qualities_of_revisions
from memory_hub.recall.models import Recall
from memory_hub.recall.services import ErrorDetails, recall_outcome
from tests.cast import Cast
from tests.services.library_support import CODE, run_actor, start_run
from tests.services.recall_support import ask, learn, remember


@pytest.fixture
def bob(cast: Cast) -> Actor:
    return cast.actor(cast.bob)


@pytest.fixture
def known(cast: Cast, bob: Actor) -> Revision:
    return remember(bob, cast.project)


def tell(actor: Actor, recall: Recall, used: list[UUID], outcome: str = "success", **more: Any) -> Recall:
    with acting_as(actor):
        return recall_outcome(actor=actor, recall_id=recall.id, used=used, outcome=outcome, **more)


def uses(revision: Revision) -> list[Evidence]:
    """Return the uses of a revision that count, that is, those not superseded."""
    with as_system():
        return list(revision.evidence.filter(kind=Evidence.Kind.REUSED, superseded_by=None))


def test_a_use_becomes_evidence(cast: Cast, bob: Actor, known: Revision) -> None:
    run = start_run(cast.project, cast.bob)
    actor = run_actor(run)
    recall = tell(actor, ask(actor, cast.project, run=run).recall, [known.id], sandbox="landlock")
    (evidence,) = uses(known)
    assert (evidence.outcome, evidence.sandbox, evidence.run_id, evidence.user_id) == (
        "success", "landlock", run.id, cast.bob.id,
    )  # fmt: skip
    with as_system():
        item = recall.items.get()
    assert (item.used, item.outcome, recall.outcome) == (True, "success", "success")
    assert recall.outcome_at is not None
    with as_system():
        entry = AuditEntry.objects.get(event=Event.RECALL_OUTCOME)
    assert entry.object_id == recall.id


def test_what_was_offered_and_not_used_says_nothing(cast: Cast, bob: Actor, known: Revision) -> None:
    recall = tell(bob, ask(bob, cast.project).recall, [])
    assert uses(known) == []
    with as_system():
        assert recall.items.get().used is False


def test_a_second_telling_takes_the_place_of_the_first(cast: Cast, bob: Actor, known: Revision) -> None:
    recall = ask(bob, cast.project).recall
    tell(bob, recall, [known.id])
    tell(bob, recall, [known.id], "failure")
    (evidence,) = uses(known)
    assert evidence.outcome == "failure"
    assert evidence.supersedes_id is not None
    with acting_as(bob):
        quality = qualities_of_revisions(bob, [known.id])[known.id]
    assert (quality.reuses, quality.reuse_successes) == (1, 0)


def test_two_recalls_are_two_uses(cast: Cast, bob: Actor, known: Revision) -> None:
    for _ in range(2):
        tell(bob, ask(bob, cast.project).recall, [known.id])
    assert len(uses(known)) == 2


def test_a_use_that_is_taken_back_counts_no_more(cast: Cast, bob: Actor, known: Revision) -> None:
    recall = ask(bob, cast.project).recall
    tell(bob, recall, [known.id])
    for _ in range(2):
        tell(bob, recall, [])
    (evidence,) = uses(known)
    assert evidence.outcome == "not_applicable"
    with acting_as(bob):
        assert qualities_of_revisions(bob, [known.id])[known.id].reuses == 0
    tell(bob, recall, [known.id])
    assert [item.outcome for item in uses(known)] == ["success"]


def test_many_numbers_are_one_use(cast: Cast, bob: Actor, known: Revision) -> None:
    metrics = [Metric("rows", 120.0, "rows", "higher"), Metric("seconds", 0.5, "s", "lower")]
    tell(bob, ask(bob, cast.project).recall, [known.id], metrics=metrics)
    (evidence,) = uses(known)
    assert (evidence.metric_name, evidence.metric_value, evidence.metric_better) == ("rows", 120.0, "higher")
    assert evidence.detail["further_metrics"] == [
        {"name": "seconds", "value": 0.5, "unit": "s", "better": "lower"}
    ]
    with acting_as(bob):
        assert qualities_of_revisions(bob, [known.id])[known.id].reuses == 1


def test_a_viewers_key_reports_with_the_scope_it_recalls_with(cast: Cast, known: Revision) -> None:
    key = cast.key_actor(cast.vera, role=Role.VIEWER, scopes=[Scope.RECALL])
    recall = ask(key, cast.project).recall
    tell(key, recall, [known.id], metrics=[Metric("a", 1.0), Metric("b", 2.0)])
    assert len(uses(known)) == 1
    with pytest.raises(PermissionDenied):
        tell(cast.key_actor(cast.vera, role=Role.VIEWER, scopes=[Scope.READ]), recall, [known.id])


def test_a_revision_that_was_not_offered_is_refused(cast: Cast, bob: Actor, known: Revision) -> None:
    other = remember(bob, cast.project, title="Cake", problem="Bake a cake.", code=CODE + "#\n", passed=None)
    recall = ask(bob, cast.project).recall
    for stranger in (other.id, uuid4()):
        with pytest.raises(InvalidInput) as refused:
            tell(bob, recall, [known.id, stranger])
        assert refused.value.extra["fields"] == {"used": [str(stranger)]}
    assert uses(known) == []


def test_a_recall_that_offered_a_lesson_takes_an_outcome_too(cast: Cast, bob: Actor, known: Revision) -> None:
    learn(bob, cast.project)
    error = ErrorDetails(exception_type="ValueError", message="could not convert string to float: '2,5'")
    tell(bob, ask(bob, cast.project, error=error).recall, [known.id])
    assert len(uses(known)) == 1


@pytest.mark.parametrize(
    "wrong",
    [{"outcome": "splendid"}, {"metrics": [Metric("x", float("nan"))]}, {"metrics": [Metric("x", 1.0)] * 21}],
)
def test_an_outcome_that_makes_no_sense_is_refused(
    cast: Cast, bob: Actor, known: Revision, wrong: dict[str, Any]
) -> None:
    recall = ask(bob, cast.project).recall
    with pytest.raises(InvalidInput):
        tell(bob, recall, [known.id], **wrong)
    assert uses(known) == []


def test_a_recall_that_there_is_not_is_not_found(cast: Cast, bob: Actor) -> None:
    with pytest.raises(NotFound):
        tell(bob, Recall(id=uuid4()), [])

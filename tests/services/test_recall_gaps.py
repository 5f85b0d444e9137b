"""Gaps: what was asked and not answered is kept once and counted, seen by the project alone, and settled once."""

import pytest
from django.db import DatabaseError, transaction

from memory_hub.access.actor import acting_as, as_system
from memory_hub.audit.models import AuditEntry
from memory_hub.common.errors import Conflict, InvalidInput, NotFound, PermissionDenied
from memory_hub.library.services.solutions import solution_archive
from memory_hub.recall import gaps
from memory_hub.recall.models import Gap, GapAsker
from memory_hub.recall.query_words import parse
from memory_hub.recall.services import gap_close, gap_dismiss, gap_record
from tests.cast import Cast
from tests.services.library_support import again
from tests.services.recall_support import OFF_TOPIC, TASK, ask, remember

QUESTION = "Fold a fitted sheet lib:pandas status:approved"


def record(cast: Cast, name: str = "bob", text: str = QUESTION) -> Gap:
    """Record a gap in ledger as the person."""
    actor = cast.actor(getattr(cast, name))
    with acting_as(actor):
        return gap_record(actor=actor, project=cast.project, asked=parse(text))


def events(gap: Gap) -> list[str]:
    with as_system():
        return list(
            AuditEntry.objects.filter(object_id=gap.id).order_by("id").values_list("event", flat=True)
        )


def test_a_gap_keeps_question_filters_and_who_asked(cast: Cast) -> None:
    gap = record(cast, "vera")
    assert (gap.question, gap.state, gap.times) == ("Fold a fitted sheet", "open", 1)
    assert gap.filters == {"status": ["approved"], "lib": ["pandas"]}
    assert gap.asked_by_id == cast.vera.id
    assert events(gap) == ["gap:recorded"]


def test_the_same_question_counts_up_however_it_is_written(cast: Cast) -> None:
    first = record(cast)
    again_ = record(cast, "bob", "status:approved  fold A fitted   sheet lib:pandas")
    by_another = record(cast, "rita")
    assert first.id == again_.id == by_another.id
    assert by_another.times == 3
    with as_system():
        assert set(GapAsker.objects.values_list("user", flat=True)) == {cast.bob.id, cast.rita.id}
    rita = cast.actor(cast.rita)
    with acting_as(rita):
        assert [row.people for row in gaps.gaps(rita, cast.project)] == [2]
    assert record(cast, "bob", "Fold a fitted sheet").id != first.id, "other filters ask something else"


def test_secrets_in_a_question_are_masked(cast: Cast) -> None:
    gap = record(cast, text="Log in with AKIAIOSFODNN7EXAMPLE and password=hunter2hunter2")
    assert "AKIAIOSFODNN7EXAMPLE" not in gap.question


def test_nothing_is_no_gap(cast: Cast) -> None:
    with pytest.raises(InvalidInput):
        record(cast, text="   ")


def test_a_solution_closes_it_once(cast: Cast) -> None:
    gap = record(cast)
    bob = cast.actor(cast.bob)
    solution = remember(bob, cast.project).solution
    with acting_as(bob):
        closed = gap_close(actor=bob, gap=gap, solution=solution, note="That is it.")
    assert (closed.state, closed.solution_id, closed.closed_by_id) == ("closed", solution.id, cast.bob.id)
    assert events(gap) == ["gap:recorded", "gap:closed"]
    with acting_as(bob), pytest.raises(Conflict):
        gap_dismiss(actor=bob, gap=gap)
    asked_again = record(cast)
    assert asked_again.id != gap.id, "asked again after it was closed is a gap of its own"


def test_a_gap_is_dismissed_with_a_note(cast: Cast) -> None:
    gap = record(cast)
    bob = cast.actor(cast.bob)
    with acting_as(bob):
        assert gap_dismiss(actor=bob, gap=gap, note="No household here.").note == "No household here."
    assert events(gap)[-1] == "gap:dismissed"


def test_only_a_standing_solution_of_the_project_closes_it(cast: Cast) -> None:
    gap = record(cast)
    alice = cast.actor(cast.alice)
    elsewhere = remember(cast.actor(cast.carol), cast.other_project).solution
    put_away = remember(alice, cast.project).solution
    with acting_as(alice):
        solution_archive(actor=alice, solution=put_away)
        with pytest.raises(NotFound):
            gap_close(actor=alice, gap=gap, solution=elsewhere)
        with pytest.raises(InvalidInput):
            gap_close(actor=alice, gap=gap, solution=again(put_away))


def test_a_viewer_records_a_gap_and_does_not_settle_it(cast: Cast) -> None:
    gap = record(cast, "vera")
    vera = cast.actor(cast.vera)
    with acting_as(vera), pytest.raises(PermissionDenied):
        gap_dismiss(actor=vera, gap=gap)


@pytest.mark.parametrize("name", ["carol", "mallory"])
def test_others_neither_see_nor_record_nor_settle_it(cast: Cast, name: str) -> None:
    gap = record(cast)
    stranger = cast.actor(getattr(cast, name))
    with acting_as(stranger):
        assert not Gap.objects.exists(), "row security stands behind visible_to"
        assert not GapAsker.objects.exists()
        with pytest.raises(NotFound):
            gaps.gap_get(stranger, gap.id)
        with pytest.raises(PermissionDenied):
            gaps.gaps(stranger, cast.project)
        with pytest.raises(PermissionDenied):
            gap_dismiss(actor=stranger, gap=gap)
        with pytest.raises(DatabaseError), transaction.atomic():
            Gap.objects.create(team=cast.team, project=cast.project, question="x", question_hash="x")
    with pytest.raises(PermissionDenied):
        record(cast, name)


def test_what_agents_asked_in_vain_is_summed_up_by_question(cast: Cast) -> None:
    bob = cast.actor(cast.bob)
    remember(bob, cast.project)
    for text in (OFF_TOPIC, OFF_TOPIC, TASK):
        ask(bob, cast.project, text)
    with acting_as(bob):
        found = gaps.unanswered_recalls(bob, cast.project, limit=5)
    assert [(item.query, item.times) for item in found] == [(OFF_TOPIC, 2)]


def test_a_deleted_solution_leaves_the_gap_closed_without_it(cast: Cast) -> None:
    gap = record(cast)
    bob = cast.actor(cast.bob)
    solution = remember(bob, cast.project).solution
    with acting_as(bob):
        gap_close(actor=bob, gap=gap, solution=solution)
    with as_system():
        solution.delete()
    assert (again(gap).state, again(gap).solution_id) == ("closed", None)

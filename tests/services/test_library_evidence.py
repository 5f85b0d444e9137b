"""Evidence is added, never changed; lessons are there once; links stay within a project."""

from typing import Any

import pytest

from memory_hub.access.actor import acting_as, as_system
from memory_hub.audit.models import AuditEntry
from memory_hub.common.errors import InvalidInput, NotFound, PermissionDenied, SecretFound
from memory_hub.library.drafts import Metric, NewLesson, RecordedLesson
from memory_hub.library.models import Evidence, Lesson, Link
from memory_hub.library.selectors import qualities_of_lessons, qualities_of_revisions
from memory_hub.library.services.evidence import evidence_record, evidence_report
from memory_hub.library.services.lessons import lesson_delete, lesson_record
from memory_hub.library.services.links import link_add
from tests.cast import Cast
from tests.services.library_support import again, exists, propose, run_actor, start_run

SUCCESS, FAILURE = Evidence.Outcome.SUCCESS, Evidence.Outcome.FAILURE


def report(cast: Cast, person: Any, **values: Any) -> Evidence:
    """Report as a person, in a transaction of its own."""
    actor = cast.actor(person)
    with acting_as(actor):
        return evidence_report(actor=actor, **values)


def record_lesson(actor: Any, cast: Cast, **changes: Any) -> RecordedLesson:
    """Record a lesson as the actor, with some fields changed."""
    values = {
        "exception_type": "ValueError",
        "message": "could not convert string to float: '1,5'",
        "failing_code": "float('1,5')",
        "fixing_code": "float('1,5'.replace(',', '.'))",
        "cause": "Decimal commas.",
        **changes,
    }
    with acting_as(actor):
        return lesson_record(actor=actor, project=cast.project, draft=NewLesson(**values))


# --- evidence


def test_a_run_that_reused_a_solution_leaves_evidence(cast: Cast) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    run = start_run(cast.project, cast.rita)
    actor = run_actor(run)
    with acting_as(actor):
        evidence_record(
            actor=actor, revision=revision, kind="reused", outcome=SUCCESS, run=run, sandbox="landlock",
            metric=Metric("rows per second", 1200.0, "1/s", "higher"),
        )  # fmt: skip
    with as_system() as hub:
        kept = Evidence.objects.get()
        assert (kept.run_id, kept.user_id, kept.metric_value, kept.metric_better) == (
            run.id,
            cast.rita.id,
            1200.0,
            "higher",
        )
        assert qualities_of_revisions(hub, [revision.id])[revision.id].reuse_share == 1.0


def test_a_persons_second_report_takes_the_place_of_the_first(cast: Cast) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    first = report(cast, cast.rita, revision=revision, outcome=SUCCESS)
    second = report(cast, cast.rita, revision=revision, outcome=FAILURE, note="Breaks on empty rows")
    other = report(cast, cast.alice, revision=revision, outcome=SUCCESS)
    assert (second.supersedes_id, other.supersedes_id) == (first.id, None)
    with as_system() as hub:
        quality = qualities_of_revisions(hub, [revision.id])[revision.id]
    assert (quality.n, quality.share) == (2, 0.5)


def test_reports_that_name_a_run_stand_for_themselves(cast: Cast) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    for _ in range(2):
        report(cast, cast.rita, revision=revision, outcome=SUCCESS, run=start_run(cast.project, cast.rita))
    with as_system() as hub:
        assert qualities_of_revisions(hub, [revision.id])[revision.id].n == 2


def test_a_run_of_another_project_is_no_evidence_here(cast: Cast) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    with pytest.raises(NotFound):
        report(
            cast, cast.rita, revision=revision, outcome=SUCCESS, run=start_run(cast.other_project, cast.carol)
        )


def test_a_metric_must_be_a_number_that_can_be_compared(cast: Cast) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    for metric in (Metric("time", float("nan")), Metric("time", 1.0, "s", "faster")):
        with pytest.raises(InvalidInput):
            report(cast, cast.rita, revision=revision, outcome=SUCCESS, metric=metric)


def test_a_viewer_cannot_report(cast: Cast) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    with pytest.raises(PermissionDenied):
        report(cast, cast.vera, revision=revision, outcome=SUCCESS)


def test_nobody_adds_evidence_of_a_check_by_hand(cast: Cast) -> None:
    revision = propose(cast.actor(cast.bob), cast.project).revision
    actor = cast.actor(cast.alice)
    with acting_as(actor), pytest.raises(ValueError, match="hub alone"):
        evidence_record(actor=actor, revision=revision, kind="verified", outcome=SUCCESS)


# --- lessons


def test_a_lesson_keeps_the_error_and_its_fix(cast: Cast) -> None:
    run = start_run(cast.project, cast.bob)
    lesson = again(record_lesson(run_actor(run), cast).lesson)
    assert (lesson.author_id, lesson.run_id, lesson.is_open, lesson.needs_index) == (
        cast.bob.id,
        run.id,
        False,
        True,
    )
    assert len(lesson.fingerprint) == 64


def test_the_same_error_with_the_same_code_is_there_once(cast: Cast) -> None:
    bob = cast.actor(cast.bob)
    first = record_lesson(bob, cast)
    second = record_lesson(bob, cast)
    assert (first.deduplicated, second.deduplicated) == (False, True)
    assert first.lesson.id == second.lesson.id
    third = record_lesson(bob, cast, failing_code="float('2,5')")
    assert not third.deduplicated
    assert third.lesson.fingerprint == first.lesson.fingerprint


def test_a_later_fix_closes_an_open_lesson(cast: Cast) -> None:
    bob = cast.actor(cast.bob)
    first = record_lesson(bob, cast, fixing_code="", cause="", is_open=True).lesson
    assert again(first).is_open
    second = record_lesson(bob, cast)
    closed = again(first)
    assert second.lesson.id == first.id
    assert (closed.is_open, closed.cause) == (False, "Decimal commas.")
    assert closed.needs_index


def test_an_open_record_never_reopens_a_lesson(cast: Cast) -> None:
    bob = cast.actor(cast.bob)
    first = record_lesson(bob, cast).lesson
    record_lesson(bob, cast, is_open=True)
    assert not again(first).is_open
    assert again(first).fixing_code


def test_a_fix_in_words_is_a_fix(cast: Cast) -> None:
    lesson = record_lesson(
        cast.actor(cast.bob), cast, fixing_code="", cause="Install the package pyarrow."
    ).lesson
    assert not again(lesson).is_open


def test_a_secret_in_a_lesson_is_refused(cast: Cast) -> None:
    with pytest.raises(SecretFound):
        record_lesson(cast.actor(cast.bob), cast, failing_code="login('AKIAIOSFODNN7EXAMPLX')")


def test_a_deleted_lesson_takes_its_evidence_along(cast: Cast) -> None:
    lesson = record_lesson(cast.actor(cast.bob), cast).lesson
    report(cast, cast.rita, lesson=lesson, outcome=SUCCESS)
    with as_system() as hub:
        assert qualities_of_lessons(hub, [lesson.id])[lesson.id].n == 1
    alice, bob = cast.actor(cast.alice), cast.actor(cast.bob)
    with acting_as(bob), pytest.raises(PermissionDenied):
        lesson_delete(actor=bob, lesson=lesson)
    with acting_as(alice):
        lesson_delete(actor=alice, lesson=lesson)
    assert not exists(lesson)
    with as_system():
        assert not Evidence.objects.exists()
        assert AuditEntry.objects.get(event="lesson:deleted").object_id is not None


# --- links


def test_a_link_is_added_once(cast: Cast) -> None:
    bob = cast.actor(cast.bob)
    first = propose(bob, cast.project).solution
    second = propose(
        bob, cast.project, problem="Another", code="y = 2\n", entry_point="", check_spec=None
    ).solution
    lesson = record_lesson(bob, cast).lesson
    with acting_as(bob):
        for _ in range(2):
            link_add(actor=bob, kind=Link.Kind.DERIVED_FROM, source=second, target=first)
        link_add(actor=bob, kind=Link.Kind.RESOLVES, source=second, target_lesson=lesson)
    with as_system():
        assert Link.objects.count() == 2
        assert AuditEntry.objects.filter(event="link:added").count() == 2


def test_a_link_leads_neither_to_itself_nor_out_of_the_project(cast: Cast) -> None:
    bob = cast.actor(cast.bob)
    mine = propose(bob, cast.project).solution
    other = propose(bob, cast.project, problem="Another").solution
    theirs = propose(cast.actor(cast.carol), cast.other_project).solution
    alice = cast.actor(cast.alice)  # sees both
    with acting_as(alice):
        with pytest.raises(InvalidInput, match="itself"):
            link_add(actor=alice, kind=Link.Kind.RELATED, source=mine, target=mine)
        with pytest.raises(NotFound):
            link_add(actor=alice, kind=Link.Kind.RELATED, source=mine, target=theirs)
        with pytest.raises(InvalidInput, match="kind of link"):
            link_add(actor=alice, kind="likes", source=mine, target=other)


def test_lessons_of_other_teams_stay_unseen(cast: Cast) -> None:
    record_lesson(cast.actor(cast.bob), cast)
    with acting_as(cast.actor(cast.mallory)):
        assert not Lesson.objects.exists()

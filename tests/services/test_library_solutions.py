"""Solutions are kept byte for byte, once, without secrets, and are gone when they are deleted."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.permissions import Role, Scope
from memory_hub.audit.models import AuditEntry
from memory_hub.common.errors import Conflict, InvalidInput, NotFound, PermissionDenied, SecretFound, TooLarge
from memory_hub.library.drafts import CheckFile
from memory_hub.library.models import CheckInput, Evidence, Lesson, Revision, Solution
from memory_hub.library.services.check_inputs import check_input_path
from memory_hub.library.services.solutions import (
    solution_archive,
    solution_change,
    solution_delete,
    solution_note_read,
    solution_propose,
    solution_unarchive,
)
from memory_hub.library.tasks import sweep
from memory_hub.recall.models import IndexEntry
from tests.cast import Cast
from tests.services.library_support import (
    CODE,
    again,
    approve,
    draft,
    exists,
    propose,
    run_actor,
    start_run,
    verified,
)

# --- what is kept


@hypothesis_settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    code=st.text(
        alphabet=st.one_of(
            st.sampled_from("\t\r\n \x0b\x0c\x1c\x85\u2028\ufeff\u202e\u200bé😀"),
            st.characters(exclude_categories=["Cs"], exclude_characters="\x00"),
        ),
        min_size=1,
    ).filter(str.strip)
)
def test_code_comes_back_as_exactly_the_bytes_that_went_in(cast: Cast, code: str) -> None:
    proposed = propose(
        cast.actor(cast.bob), cast.project, code=code, entry_point="", check_spec=None, problem=repr(code)
    )
    assert again(proposed.revision).code.encode() == code.encode()


def test_a_check_comes_back_with_its_keys_in_order_and_its_odd_characters(cast: Cast) -> None:
    columns = {"zip": 1, "a": 2, "middle": 3}
    check = {"args": [columns, "a\x00b", "\u202e", 1e22], "kwargs": {}, "result": {"b": 0.1, "a": -0.0}}
    kept = again(propose(cast.actor(cast.bob), cast.project, check_spec=check).revision).check_spec
    assert kept == {**check, "inputs": {}}
    assert list(kept["args"][0]) == ["zip", "a", "middle"]
    assert list(kept["result"]) == ["b", "a"]
    assert isinstance(kept["args"][3], float)


def test_code_with_nul_is_refused_with_its_line(cast: Cast) -> None:
    with pytest.raises(InvalidInput, match="Line 2 holds a NUL"):
        propose(cast.actor(cast.bob), cast.project, code="x = 1\ny = '\x00'\n", entry_point="")


def test_half_a_surrogate_pair_is_refused_with_its_line(cast: Cast) -> None:
    with pytest.raises(InvalidInput, match="Line 1 holds half of a surrogate"):
        propose(cast.actor(cast.bob), cast.project, code="y = '\ud800'\n", entry_point="")


def test_empty_and_oversized_code_is_refused(cast: Cast) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        propose(cast.actor(cast.bob), cast.project, code=" \n", entry_point="")
    with pytest.raises(TooLarge, match="at most 524,288"):
        propose(cast.actor(cast.bob), cast.project, code="#" * 600_000, entry_point="")


def test_the_entry_point_must_be_in_the_code(cast: Cast) -> None:
    with pytest.raises(InvalidInput, match="no top-level function “sum_up”"):
        propose(cast.actor(cast.bob), cast.project, entry_point="sum_up")


def test_a_new_solution_is_an_unverified_candidate_that_asks_for_its_check_and_its_index(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    solution, revision = again(proposed.solution), again(proposed.revision)
    assert (revision.number, revision.status, revision.verification) == (1, "candidate", "unverified")
    assert revision.signature == "total(rows: list[dict]) -> int"
    assert revision.needs_verification
    assert solution.needs_index
    assert solution.latest_revision_id == revision.id
    assert solution.approved_revision_id is None
    assert solution.tags == ["csv"]


def test_without_a_check_nothing_is_verified_and_the_reason_is_kept(cast: Cast) -> None:
    revision = propose(
        cast.actor(cast.bob), cast.project, check_spec=None, check_missing="No call was recorded."
    ).revision
    assert not again(revision).needs_verification
    assert again(revision).check_missing == "No call was recorded."


def test_a_script_takes_no_check(cast: Cast) -> None:
    with pytest.raises(InvalidInput, match="script"):
        propose(cast.actor(cast.bob), cast.project, entry_point="")


def test_captured_work_belongs_to_the_run_and_to_who_started_it(cast: Cast) -> None:
    run = start_run(cast.project, cast.bob)
    proposed = propose(run_actor(run), cast.project)
    assert again(proposed.solution).author_id == cast.bob.id
    assert again(proposed.solution).run_id == run.id
    assert again(proposed.revision).author_run_id == run.id


def test_a_captured_entry_point_that_is_no_function_is_kept_as_a_script_that_says_so(cast: Cast) -> None:
    run = start_run(cast.project, cast.bob)
    actor = run_actor(run)
    with acting_as(actor):
        odd = draft(code="def f(x): return x\ntotal = print\n")
        revision = solution_propose(actor=actor, project=cast.project, draft=odd, run=run).revision
    assert (revision.entry_point, revision.check_spec) == ("", None)
    assert "no top-level function" in revision.check_missing


def test_a_captured_check_that_cannot_be_kept_is_left_out_with_the_reason(cast: Cast) -> None:
    run = start_run(cast.project, cast.bob)
    actor = run_actor(run)
    odd = draft(check_spec={"args": ["\ud800"], "result": 1})
    with acting_as(actor):
        revision = solution_propose(actor=actor, project=cast.project, draft=odd, run=run).revision
    assert (revision.check_spec, revision.needs_verification) == (None, False)
    assert "plain JSON" in revision.check_missing
    bob = cast.actor(cast.bob)
    with acting_as(bob), pytest.raises(InvalidInput, match="plain JSON"):
        solution_propose(actor=bob, project=cast.project, draft=odd)


def test_a_run_of_another_project_cannot_be_named(cast: Cast) -> None:
    run = start_run(cast.other_project, cast.carol)
    actor = cast.actor(cast.bob)
    with acting_as(actor), pytest.raises(NotFound):
        solution_propose(actor=actor, project=cast.project, draft=draft(), run=run)


# --- once


def test_the_same_code_for_the_same_problem_adds_nothing(cast: Cast) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    second = propose(
        cast.actor(cast.rita), cast.project, title="Other words", problem="add up the amount\nof every row."
    )
    assert second.deduplicated
    assert second.solution.id == first.solution.id
    assert second.revision.id == first.revision.id
    with as_system():
        assert Solution.objects.count() == Revision.objects.count() == 1
        assert AuditEntry.objects.filter(event="solution:proposed").count() == 1


@pytest.mark.parametrize("changes", [{"code": CODE + "x = 1\n"}, {"problem": "Count the rows."}])
def test_other_code_or_another_problem_is_another_solution(cast: Cast, changes: dict[str, str]) -> None:
    first = propose(cast.actor(cast.bob), cast.project)
    second = propose(cast.actor(cast.bob), cast.project, **changes)
    assert not second.deduplicated
    assert second.solution.id != first.solution.id


def test_the_same_code_in_another_project_is_not_a_duplicate(cast: Cast) -> None:
    propose(cast.actor(cast.bob), cast.project)
    assert not propose(cast.actor(cast.carol), cast.other_project).deduplicated


# --- without secrets


@pytest.mark.parametrize(
    "changes",
    [
        {"code": 'def total(rows):\n    key = "AKIAIOSFODNN7EXAMPLX"\n'},
        {"problem": "Log in.\nUse AKIAIOSFODNN7EXAMPLX for it."},
        {"failed_alternatives": [{"code": "key = 'AKIAIOSFODNN7EXAMPLX'"}]},
        {"check_spec": {"args": ["AKIAIOSFODNN7EXAMPLX"], "result": 1}},
        {"usage_example": "total(key='AKIAIOSFODNN7EXAMPLX')"},
    ],
)
def test_a_secret_anywhere_is_refused_and_not_repeated(cast: Cast, changes: dict[str, Any]) -> None:
    with pytest.raises(SecretFound) as refused:
        propose(cast.actor(cast.bob), cast.project, **changes)
    finding = refused.value.extra["findings"][0]
    assert finding["field"] == next(iter(changes))
    assert finding["line"] >= 1
    assert finding["kind"]
    assert "AKIAIOSFODNN7EXAMPLX" not in f"{refused.value.message} {refused.value.extra}"
    with as_system():
        assert not Solution.objects.exists()


# --- by whom


def test_a_viewer_cannot_propose(cast: Cast) -> None:
    with pytest.raises(PermissionDenied, match="contributor"):
        propose(cast.actor(cast.vera), cast.project)


def test_a_key_without_the_scope_cannot_propose(cast: Cast) -> None:
    with pytest.raises(PermissionDenied, match="propose"):
        propose(cast.key_actor(cast.bob, scopes=[Scope.READ]), cast.project)


def test_nobody_proposes_into_a_project_they_cannot_see(cast: Cast) -> None:
    with pytest.raises(PermissionDenied):
        propose(cast.actor(cast.mallory), cast.project)


# --- changed and archived


def test_a_change_of_words_is_audited_with_before_and_after_and_indexed_again(cast: Cast) -> None:
    solution = propose(cast.actor(cast.bob), cast.project).solution
    with as_system():
        Solution.objects.update(needs_index=False)
    actor = cast.actor(cast.bob)
    with acting_as(actor):
        solution_change(
            actor=actor, solution=solution, changes={"title": "Sum", "tags": ["Money", "money", " "]}
        )
    changed = again(solution)
    assert (changed.title, changed.tags, changed.needs_index) == ("Sum", ["money"], True)
    with as_system():
        data = AuditEntry.objects.get(event="solution:changed").detail.data
    assert data["title"] == {"before": "Add up the amounts", "after": "Sum"}


def test_what_did_not_change_is_not_audited(cast: Cast) -> None:
    solution = propose(cast.actor(cast.bob), cast.project).solution
    actor = cast.actor(cast.bob)
    with acting_as(actor):
        solution_change(actor=actor, solution=solution, changes={"title": solution.title})
    with as_system():
        assert not AuditEntry.objects.filter(event="solution:changed").exists()


def test_code_cannot_be_changed_in_place(cast: Cast) -> None:
    solution = propose(cast.actor(cast.bob), cast.project).solution
    actor = cast.actor(cast.bob)
    with acting_as(actor), pytest.raises(InvalidInput, match="new revision"):
        solution_change(actor=actor, solution=solution, changes={"code": "x"})


def test_the_words_of_what_is_approved_are_changed_only_by_those_who_may_approve(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    approve(cast.rita, proposed.revision)
    actor = cast.actor(cast.bob)
    with acting_as(actor), pytest.raises(PermissionDenied, match="reviewer"):
        solution_change(
            actor=actor, solution=proposed.solution, changes={"applies_when": "Always. Trust me."}
        )
    rita = cast.actor(cast.rita)
    with acting_as(rita):
        solution_change(
            actor=rita, solution=proposed.solution, changes={"applies_when": "Amounts are whole numbers."}
        )
    assert again(proposed.solution).applies_when == "Amounts are whole numbers."


def test_a_change_on_top_of_somebody_elses_is_refused(cast: Cast) -> None:
    solution = propose(cast.actor(cast.bob), cast.project).solution
    seen_at = again(solution).updated_at
    bob, rita = cast.actor(cast.bob), cast.actor(cast.rita)
    with acting_as(rita):
        solution_change(actor=rita, solution=solution, changes={"title": "Hers"}, seen_at=seen_at)
    with acting_as(bob), pytest.raises(Conflict):
        solution_change(actor=bob, solution=solution, changes={"title": "His"}, seen_at=seen_at)
    assert again(solution).title == "Hers"


def test_the_author_may_put_away_what_nobody_has_approved(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    bob = cast.actor(cast.bob)
    with acting_as(bob):
        solution_archive(actor=bob, solution=proposed.solution)
    assert again(proposed.solution).archived_at
    with acting_as(bob):
        solution_unarchive(actor=bob, solution=proposed.solution)
    assert again(proposed.solution).archived_at is None


def test_only_reviewers_archive_what_is_approved(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    approve(cast.rita, proposed.revision)
    bob, rita = cast.actor(cast.bob), cast.actor(cast.rita)
    with acting_as(bob), pytest.raises(PermissionDenied):
        solution_archive(actor=bob, solution=proposed.solution)
    with acting_as(rita):
        solution_archive(actor=rita, solution=proposed.solution)
    with acting_as(rita), pytest.raises(Conflict, match="archived already"):
        solution_archive(actor=rita, solution=proposed.solution)


# --- deleted


def csv_file(folder: Path) -> CheckFile:
    """Return a small file as a run would hand it over."""
    path = folder / "sales.csv"
    path.write_bytes(b"amount\r\n1\r\n")
    return CheckFile("sales.csv", path, hashlib.sha256(path.read_bytes()).hexdigest(), 11)


def test_deleting_removes_every_row_the_index_and_the_files(
    cast: Cast, tmp_path: Path, django_capture_on_commit_callbacks: Any
) -> None:
    bob, alice = cast.actor(cast.bob), cast.actor(cast.alice)
    with acting_as(bob):
        proposed = solution_propose(
            actor=bob, project=cast.project, draft=draft(), check_inputs=[csv_file(tmp_path)]
        )
        file = check_input_path(proposed.solution.check_inputs.get())
    verified(proposed.revision)
    with as_system():
        IndexEntry.objects.create(
            team_id=cast.team.id, project=cast.project, solution=proposed.solution, statement="x", words="x",
            indexed_at=proposed.solution.created_at,
        )  # fmt: skip
    assert file.read_bytes() == b"amount\r\n1\r\n"
    with django_capture_on_commit_callbacks(execute=True), acting_as(alice):
        solution_delete(actor=alice, solution=proposed.solution)
    with as_system():
        for model in (Solution, Revision, Evidence, CheckInput, IndexEntry):
            assert not model.objects.exists(), model
        entry = AuditEntry.objects.select_related("detail").get(event="solution:deleted")
    assert entry.object_id == proposed.solution.id
    assert proposed.solution.title not in entry.detail.object_label
    assert not file.exists()
    assert not file.parent.exists()


def test_lessons_stay_unless_they_are_deleted_along(cast: Cast) -> None:
    alice = cast.actor(cast.alice)
    for with_lessons in (False, True):
        solution = propose(cast.actor(cast.bob), cast.project, code=f"{CODE}# {with_lessons}\n").solution
        with as_system():
            lesson = Lesson.objects.create(
                team_id=cast.team.id, project=cast.project, solution=solution, exception_type="KeyError",
                message="'amount'", failing_code="row['amount']", fingerprint="f",
            )  # fmt: skip
        with acting_as(alice):
            solution_delete(actor=alice, solution=solution, with_lessons=with_lessons)
        assert exists(lesson) is not with_lessons


def test_only_a_maintainer_deletes(cast: Cast) -> None:
    solution = propose(cast.actor(cast.bob), cast.project).solution
    for person in (cast.bob, cast.rita):
        actor = cast.actor(person)
        with acting_as(actor), pytest.raises(PermissionDenied, match="maintainer"):
            solution_delete(actor=actor, solution=solution)
    assert exists(solution)


def test_an_input_file_that_changed_since_the_run_is_refused(cast: Cast, tmp_path: Path) -> None:
    file = csv_file(tmp_path)
    file.source.write_bytes(b"other")
    bob = cast.actor(cast.bob)
    with pytest.raises(Conflict, match=r"sales\.csv"), acting_as(bob):
        solution_propose(actor=bob, project=cast.project, draft=draft(), check_inputs=[file])


def test_the_sweep_removes_files_that_no_solution_has(cast: Cast, tmp_path: Path, monkeypatch: Any) -> None:
    bob = cast.actor(cast.bob)
    with acting_as(bob):
        kept = solution_propose(
            actor=bob, project=cast.project, draft=draft(), check_inputs=[csv_file(tmp_path)]
        )
    orphan = Path(settings.MEDIA_ROOT) / "check_inputs" / "01900000-0000-7000-8000-000000000000"
    orphan.mkdir()
    (orphan / "left").write_text("behind")
    sweep()
    assert orphan.exists()  # it may belong to a transaction that is still going on
    monkeypatch.setattr("memory_hub.library.tasks._LEFT_BEHIND_SECONDS", -10)
    sweep()
    assert not orphan.exists()
    with as_system():
        assert check_input_path(kept.solution.check_inputs.get()).exists()


# --- read


def test_reading_code_is_recorded_once_for_a_while(
    cast: Cast, django_capture_on_commit_callbacks: Any
) -> None:
    solution = propose(cast.actor(cast.bob), cast.project).solution
    for person in (cast.vera, cast.vera, cast.rita):
        actor = cast.actor(person)
        with django_capture_on_commit_callbacks(execute=True), acting_as(actor):
            solution_note_read(actor=actor, solution=solution)
    with as_system():
        readers = list(AuditEntry.objects.filter(event="solution:read").values_list("actor_id", flat=True))
    assert sorted(readers) == sorted([cast.vera.id, cast.rita.id])


def test_a_key_with_the_role_of_a_viewer_cannot_archive(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    key = cast.key_actor(cast.bob, role=Role.VIEWER)
    with acting_as(key), pytest.raises(PermissionDenied):
        solution_archive(actor=key, solution=proposed.solution)

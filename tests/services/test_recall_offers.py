"""What is recalled: few things, that fit, of a status that may be served, each with its score and why."""

from typing import Any

import pytest

from memory_hub.access.actor import Actor, acting_as, as_system
from memory_hub.access.models import Project
from memory_hub.audit.events import Event
from memory_hub.audit.models import AuditEntry
from memory_hub.common.errors import InvalidInput
from memory_hub.library.models import Link
from memory_hub.library.services.links import link_add
from memory_hub.library.services.revisions import revision_refine
from memory_hub.library.services.solutions import solution_archive, solution_unarchive
from memory_hub.recall.models import Recall, RecallItem
from memory_hub.recall.values import ErrorDetails
from memory_hub.review.services import revision_deprecate, revision_reject
from tests.cast import Cast
from tests.services.library_support import CODE, again, approve, propose
from tests.services.recall_support import (
    OFF_TOPIC,
    REWORDED,
    TASK,
    ask,
    bring_index_up_to_date,
    learn,
    offered,
    remember,
)

OTHERS = (
    ("Sort the files", "Sort the files of a folder by their size, largest first.", "sort_files"),
    ("Read the dates", "Parse dates written in several formats into ISO dates.", "read_dates"),
    ("Draw a chart", "Draw a bar chart of sales by month and save it as an image.", "draw"),
    ("Find duplicates", "Find duplicate customers by name and address in a table.", "duplicates"),
)


@pytest.fixture
def bob(cast: Cast) -> Actor:
    return cast.actor(cast.bob)


def remember_others(actor: Actor, project: Project) -> None:
    for title, problem, name in OTHERS:
        code = f"def {name}(value):\n    return value\n"
        remember(actor, project, title=title, problem=problem, code=code, entry_point=name, check_spec=None)


# --- relevance


def test_the_same_problem_comes_first_with_a_score_of_1(cast: Cast, bob: Actor) -> None:
    remember_others(bob, cast.project)
    near = remember(bob, cast.project, title="Add up the cells", problem="Add up the cells of every row.")
    approve(cast.rita, near)
    same = remember(bob, cast.project, title=TASK, problem=TASK, code=CODE + "# another\n")
    answer = ask(bob, cast.project, f"  {TASK.upper()}\n")
    assert offered(answer)[0] == str(same.id)
    assert answer.items[0].score == 1.0
    assert answer.items[0].reason == "The same problem, word for word."
    assert answer.items[1].score < 1.0


def test_a_reworded_problem_is_found_and_says_why(cast: Cast, bob: Actor) -> None:
    remember_others(bob, cast.project)
    wanted = remember(bob, cast.project)
    answer = ask(bob, cast.project, REWORDED)
    assert offered(answer)[0] == str(wanted.id)
    item = answer.items[0]
    assert not answer.no_match
    assert 0 < item.score < 1
    assert set(item.score_parts) == {"words", "letters", "phrases", "order", "meaning", "worth"}
    assert "rows" in item.reason


def test_what_does_not_fit_is_no_match(cast: Cast, bob: Actor) -> None:
    remember_others(bob, cast.project)
    remember(bob, cast.project)
    answer = ask(bob, cast.project, OFF_TOPIC, explain=True)
    assert answer.no_match
    assert (answer.items, answer.block, answer.callables) == ([], "", [])
    assert answer.best_rejected is not None
    assert again(answer.recall).no_match
    assert ask(bob, cast.project, OFF_TOPIC).best_rejected is None


def test_an_empty_library_is_no_match(cast: Cast, bob: Actor) -> None:
    assert ask(bob, cast.project).no_match


def test_without_an_embedding_model_search_still_works(cast: Cast, bob: Actor, settings: Any) -> None:
    settings.EMBEDDER = "none"
    remember_others(bob, cast.project)
    wanted = remember(bob, cast.project)
    answer = ask(bob, cast.project, "Add up the amounts in the rows.")
    assert offered(answer) == [str(wanted.id)]
    assert "meaning" not in answer.items[0].score_parts
    assert answer.recall.embedding_model == ""
    assert ask(bob, cast.project, OFF_TOPIC).no_match


def test_vectors_of_another_model_are_never_compared(cast: Cast, bob: Actor, settings: Any) -> None:
    settings.EMBEDDER = "none"
    remember(bob, cast.project)
    settings.EMBEDDER = "minilm"
    answer = ask(bob, cast.project)
    assert "meaning" not in answer.items[0].score_parts


def test_a_function_is_found_by_its_name(cast: Cast, bob: Actor) -> None:
    remember_others(bob, cast.project)
    wanted = remember(
        bob, cast.project, title="Import", problem="Load the table.", entry_point="load",
        code="import pandas as pd\n\ndef load(path):\n    return pd.read_csv(path)\n", check_spec=None, passed=True,
    )  # fmt: skip
    answer = ask(bob, cast.project, "load read_csv pandas", threshold=0.01)
    assert offered(answer)[0] == str(wanted.id)


@pytest.mark.parametrize(
    "task", ["\x00", "'; DROP TABLE x; --", "a & !b | (c", "\ud800 rows", "日本語", "%s %%"]
)
def test_any_text_is_a_question(cast: Cast, bob: Actor, task: str) -> None:
    remember(bob, cast.project)
    ask(bob, cast.project, task)


# --- policy


@pytest.mark.parametrize(
    ("policy", "passed", "is_offered"),
    [
        ("verified", True, True),
        ("verified", False, False),
        ("verified", None, False),
        ("approved", True, False),
    ],
)
def test_a_candidate_is_offered_only_verified_and_where_the_project_allows_it(
    cast: Cast, bob: Actor, policy: str, passed: bool | None, is_offered: bool
) -> None:
    cast.project.recall_policy = policy
    remember(bob, cast.project, passed=passed)
    answer = ask(bob, cast.project)
    assert bool(answer.items) == is_offered
    if is_offered:
        assert (answer.items[0].status, answer.items[0].verification) == ("candidate", "passed")
        assert "not reviewed yet" in answer.block


@pytest.mark.parametrize("policy", ["verified", "approved"])
def test_an_approved_revision_is_always_offered(cast: Cast, bob: Actor, policy: str) -> None:
    cast.project.recall_policy = policy
    revision = remember(bob, cast.project, passed=None)
    approve(cast.rita, revision)
    answer = ask(bob, cast.project)
    assert offered(answer) == [str(revision.id)]
    assert (answer.items[0].status, answer.items[0].verification) == ("approved", "unverified")


def test_rejected_deprecated_and_archived_work_is_never_offered(cast: Cast, bob: Actor) -> None:
    rita = cast.actor(cast.rita)
    revision = remember(bob, cast.project)
    with acting_as(rita):
        revision_reject(actor=rita, revision=revision, note="No.")
    assert ask(bob, cast.project).no_match
    approve(cast.rita, again(revision), expected_status="rejected")
    assert offered(ask(bob, cast.project)) == [str(revision.id)]
    with acting_as(rita):
        solution_archive(actor=rita, solution=again(revision.solution))
    assert ask(bob, cast.project).no_match
    with acting_as(rita):
        solution_unarchive(actor=rita, solution=again(revision.solution))
    assert offered(ask(bob, cast.project)) == [str(revision.id)]
    with acting_as(rita):
        revision_deprecate(actor=rita, revision=again(revision), note="Old.")
    assert ask(bob, cast.project).no_match


def test_the_approved_revision_is_served_while_a_newer_one_waits(cast: Cast, bob: Actor) -> None:
    revision = remember(bob, cast.project)
    approve(cast.rita, revision)
    with acting_as(bob):
        revision_refine(
            actor=bob, solution=again(revision.solution), based_on=revision.id, code=CODE + "BETTER = 1\n",
            entry_point="total",
        )  # fmt: skip
    bring_index_up_to_date()
    assert offered(ask(bob, cast.project)) == [str(revision.id)]


# --- bounds and filters


def test_no_more_than_top_k_are_offered_in_order_of_rank(cast: Cast, bob: Actor) -> None:
    for number in range(5):
        remember(bob, cast.project, title=f"Add up {number}", code=CODE + f"# {number}\n",
                 problem=f"Add up the amount of every row, way {number}.")  # fmt: skip
    answer = ask(bob, cast.project)
    assert [item.rank for item in answer.items] == [1, 2, 3]
    assert len(ask(bob, cast.project, top_k=5).items) == 5
    assert len(ask(bob, cast.project, top_k=1).items) == 1


def test_the_block_keeps_to_its_budget_and_offers_no_function_it_does_not_speak_of(
    cast: Cast, bob: Actor
) -> None:
    remember(bob, cast.project)
    whole = ask(bob, cast.project)
    assert whole.recall.tokens == -(-len(whole.block) // 4) > 0
    assert [item.name for item in whole.callables] == ["total"]
    small = ask(bob, cast.project, max_tokens=5)
    assert (small.block, small.callables, small.recall.tokens) == ("", [], 0)
    assert small.items


def test_filters_narrow(cast: Cast, bob: Actor) -> None:
    revision = remember(bob, cast.project)
    for filters, expected in [
        ({"status": "candidate"}, 1),
        ({"status": ["approved"]}, 0),
        ({"verification": ["passed", "stale"], "kind": ["other"]}, 1),
        ({"kind": "algorithm"}, 0),
    ]:
        assert len(ask(bob, cast.project, filters=filters).items) == expected, filters
    approve(cast.rita, revision)
    assert len(ask(bob, cast.project, filters={"status": ["approved"]}).items) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"task": " "},
        {"top_k": 0},
        {"top_k": 21},
        {"max_tokens": 0},
        {"max_tokens": 20_001},
        {"threshold": 1.5},
        {"threshold": float("nan")},
        {"filters": {"project": "den"}},
    ],
)
def test_a_question_that_makes_no_sense_is_refused(cast: Cast, bob: Actor, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        ask(bob, cast.project, **{"task": TASK, **wrong})
    with as_system():
        assert not Recall.objects.exists()


def test_a_threshold_of_ones_own_counts_instead_of_the_measured_one(cast: Cast, bob: Actor) -> None:
    remember(bob, cast.project)
    assert ask(bob, cast.project, REWORDED, threshold=0.99).no_match
    assert not ask(bob, cast.project, REWORDED, threshold=0.0).no_match


# --- functions


def test_helpers_come_before_the_function_that_calls_them(cast: Cast, bob: Actor) -> None:
    helper = remember(bob, cast.project)
    caller = "def total_of_all(tables):\n    return sum(total(rows) for rows in tables)\n"
    revision = remember(
        bob, cast.project, title="Totals", problem="Total of several tables.", code=caller,
        entry_point="total_of_all", check_spec={"args": [[]], "kwargs": {}, "result": 0}, depends_on=["total"],
    )  # fmt: skip
    with acting_as(bob):
        link_add(actor=bob, kind=Link.Kind.DEPENDS_ON, source=revision.solution, target=helper.solution)
    answer = ask(bob, cast.project, "Total of several tables.", top_k=1)
    assert [item.source for item in answer.callables] == [f"{CODE}\n\n{caller}"]
    with acting_as(cast.actor(cast.rita)):
        revision_reject(actor=cast.actor(cast.rita), revision=again(helper), note="No.")
    answer = ask(bob, cast.project, "Total of several tables.", top_k=1)
    assert answer.callables == [], "half a function is none"
    assert "> def total_of_all(tables):" in answer.block


def test_a_policy_of_approved_only_holds_for_helpers_too(cast: Cast, bob: Actor) -> None:
    cast.project.recall_policy = "approved"
    helper = remember(bob, cast.project)
    caller = "def total_of_all(tables):\n    return sum(total(rows) for rows in tables)\n"
    revision = propose(
        bob, cast.project, title="Totals", problem="Total of several tables.", code=caller,
        entry_point="total_of_all", check_spec=None, depends_on=["total"],
    ).revision  # fmt: skip
    with acting_as(bob):
        link_add(actor=bob, kind=Link.Kind.DEPENDS_ON, source=revision.solution, target=helper.solution)
    approve(cast.rita, revision)
    bring_index_up_to_date()
    assert ask(bob, cast.project, "Total of several tables.").callables == []
    approve(cast.rita, again(helper))
    names = [item.name for item in ask(bob, cast.project, "Total of several tables.", top_k=1).callables]
    assert names == ["total_of_all"]


def test_of_two_functions_of_one_name_the_better_is_offered_and_the_other_is_text(
    cast: Cast, bob: Actor
) -> None:
    best = remember(bob, cast.project, title=TASK, problem=TASK)
    remember(bob, cast.project, title="Add up the values", problem="Add up the value of every row.",
             code="def total(rows):\n    return sum(rows)\n", check_spec={"args": [[1]], "kwargs": {}, "result": 1})  # fmt: skip
    answer = ask(bob, cast.project)
    assert len(answer.items) == 2
    assert [item.revision_id for item in answer.callables] == [str(best.id)]
    assert "> def total(rows):" in answer.block


def test_a_script_is_offered_as_text(cast: Cast, bob: Actor) -> None:
    revision = remember(bob, cast.project, code="rows = [1, 2]\nprint(sum(rows))\n", entry_point="",
                        check_spec=None, passed=None)  # fmt: skip
    approve(cast.rita, revision)
    answer = ask(bob, cast.project)
    assert answer.callables == []
    assert "> print(sum(rows))" in answer.block


# --- the record


def test_a_recall_is_written_down_with_what_was_offered_and_why(cast: Cast, bob: Actor) -> None:
    revision = remember(bob, cast.project)
    answer = ask(bob, cast.project, sandbox="landlock", filters={"kind": "other"})
    with as_system():
        made = Recall.objects.get()
        item = RecallItem.objects.get()
        entry = AuditEntry.objects.get(event=Event.RECALLED)
    assert (made.query, made.sandbox, made.filters) == (TASK, "landlock", {"kind": ["other"]})
    assert made.embedding_model
    assert made.milliseconds > 0
    assert (item.rank, item.revision_id, item.status, item.verification, item.used) == (
        1, revision.id, "candidate", "passed", None,
    )  # fmt: skip
    assert (item.score, item.reason) == (answer.items[0].score, answer.items[0].reason)
    assert (entry.object_id, entry.project_id) == (made.id, cast.project.id)


def test_secrets_are_masked_in_the_record(cast: Cast, bob: Actor) -> None:
    secret = "sk-" + "a1" * 20
    ask(
        bob,
        cast.project,
        f"Call the API with {secret}",
        error=ErrorDetails(traceback=f"ValueError: {secret}"),
    )
    with as_system():
        made = Recall.objects.get()
    assert secret not in made.query
    assert secret not in str(made.error)


def test_a_question_may_be_a_task_and_an_error_at_once(cast: Cast, bob: Actor) -> None:
    revision = remember(bob, cast.project)
    lesson = learn(bob, cast.project)
    error = ErrorDetails(message="ValueError: could not convert string to float: '2,5'")
    answer = ask(bob, cast.project, error=error)
    assert offered(answer) == [str(revision.id)]
    assert [item.lesson.id for item in answer.lessons] == [lesson.id]
    with as_system():
        assert list(RecallItem.objects.values_list("rank", "lesson_id")) == [(1, None), (2, lesson.id)]


SALES: dict[str, Any] = {"kind": "csv", "size_bytes": 900, "columns": [{"name": "Amount", "type": "number"}]}
BIRDS: dict[str, Any] = {"kind": "csv", "size_bytes": 900, "columns": [{"name": "species", "type": "text"}]}


def test_what_was_proven_on_alike_data_comes_first_and_says_so(cast: Cast, bob: Actor) -> None:
    on_birds = remember(bob, cast.project, input_profile={"birds.csv": BIRDS})
    on_sales = remember(bob, cast.project, code=CODE + "AGAIN = 1\n", input_profile={"sales.csv": SALES})
    for at_hand, expected in ((SALES, on_sales), (BIRDS, on_birds)):
        answer = ask(bob, cast.project, REWORDED, inputs={"mine.csv": at_hand})
        assert offered(answer)[0] == str(expected.id)
        assert answer.items[0].worth_parts["inputs"] > answer.items[1].worth_parts["inputs"]
        assert {item.rank_without_worth for item in answer.items} == {1, 2}
    assert "inputs" not in ask(bob, cast.project, REWORDED).items[0].worth_parts


def test_another_sandbox_lowers_a_rank_and_never_hides(cast: Cast, bob: Actor) -> None:
    elsewhere = remember(bob, cast.project, environment={"sandbox": "docker"})
    here = remember(bob, cast.project, code=CODE + "AGAIN = 1\n", environment={"sandbox": "landlock"})
    answer = ask(bob, cast.project, REWORDED, sandbox="landlock")
    assert offered(answer) == [str(here.id), str(elsewhere.id)]
    assert [item.worth_parts["sandbox"] for item in answer.items] == [1.0, 0.4]


def test_a_newer_successor_is_offered_before_what_it_supersedes(cast: Cast, bob: Actor) -> None:
    old = remember(bob, cast.project)
    new = remember(bob, cast.project, title="Sum", problem="Penguins.", code=CODE + "BETTER = 1\n")
    with as_system():
        Link.objects.create(
            team_id=cast.team.id,
            project=cast.project,
            source=new.solution,
            target=old.solution,
            kind="supersedes",
        )
    answer = ask(bob, cast.project)
    assert offered(answer) == [str(new.id), str(old.id)]
    assert answer.items[0].reason == f"Supersedes “{old.solution.title}”."
    assert answer.items[0].rank_without_worth is None


def test_more_profiles_than_can_be_compared_are_refused(cast: Cast, bob: Actor) -> None:
    with pytest.raises(InvalidInput, match="20 profiles"):
        ask(bob, cast.project, inputs={str(number): SALES for number in range(21)})

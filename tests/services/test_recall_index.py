"""The index follows the library: proposed, changed, refined, approved, deleted; and it can always be made again."""

import re
from typing import Any
from uuid import uuid4

import pytest

from memory_hub.access.actor import Actor, acting_as, as_system
from memory_hub.library import tasks as library_tasks
from memory_hub.library.models import Solution
from memory_hub.library.services.lessons import lesson_delete
from memory_hub.library.services.revisions import revision_refine
from memory_hub.library.services.solutions import solution_change, solution_delete
from memory_hub.recall import tasks
from memory_hub.recall.models import Embedding, IndexEntry, RecallItem, Term
from memory_hub.recall.services import index_lesson, index_solution, projects_to_count
from tests.cast import Cast
from tests.services.library_support import CODE, again, propose
from tests.services.recall_support import ask, bring_index_up_to_date, learn, offered, remember


@pytest.fixture
def bob(cast: Cast) -> Actor:
    return cast.actor(cast.bob)


def terms_of(entry: IndexEntry, column: str = "words") -> set[str]:
    with as_system():
        return set(
            re.findall(r"'([^']+)'", IndexEntry.objects.values_list(column, flat=True).get(id=entry.id))
        )


def the_entry() -> IndexEntry:
    with as_system():
        return IndexEntry.objects.get()


def test_an_entry_keeps_the_problem_and_what_stands_aside_apart(cast: Cast, bob: Actor) -> None:
    remember(bob, cast.project, tags=["CSV"], applies_when="The rows are flat.",
             code="import pandas as pd\n\ndef total(rows):\n    return pd.DataFrame(rows)\n")  # fmt: skip
    scope = f"@solution{cast.project.id}"
    said, aside = terms_of(the_entry()), terms_of(the_entry(), "aside")
    assert {scope, "amount", "row"} <= said
    assert {scope, "flat", "csv", "total", "panda", "datafram", "fram"} <= aside
    assert not said & {"csv", "panda"}


def test_terms_are_counted_by_the_entries_that_have_them(cast: Cast, bob: Actor) -> None:
    for problem in ("Count the penguins.", "Count the islands."):
        remember(bob, cast.project, title=problem, problem=problem)
    with as_system():
        assert Term.objects.get(term="penguin").documents == 1, "known at once"
        assert [project.id for project in projects_to_count()] == [cast.project.id]
        tasks.count_terms()
        counted = dict(Term.objects.filter(kind="solution").values_list("term", "documents"))
        assert (counted["count"], counted["penguin"], counted[""]) == (2, 1, 2)
        assert projects_to_count() == []
        Solution.objects.filter(problem__contains="penguin").delete()
        assert projects_to_count() == [cast.project], "what is deleted leaves no words behind"
        tasks.count_terms()
        assert not Term.objects.filter(term="penguin").exists(), "nobody has it any more"


def test_a_changed_problem_is_found_by_its_new_words_only(cast: Cast, bob: Actor) -> None:
    revision = remember(bob, cast.project)
    with acting_as(bob):
        solution_change(
            actor=bob, solution=again(revision.solution),
            changes={"title": "Count penguins", "problem": "Count the penguins of each island."},
        )  # fmt: skip
    assert again(revision.solution).needs_index
    bring_index_up_to_date()
    assert not again(revision.solution).needs_index
    assert offered(ask(bob, cast.project, "How many penguins live on each island?")) == [str(revision.id)]
    assert ask(bob, cast.project).no_match
    with as_system():
        assert Embedding.objects.count() == 1


def test_a_stale_vector_goes_even_where_no_model_makes_a_new_one(
    cast: Cast, bob: Actor, settings: Any
) -> None:
    revision = remember(bob, cast.project)
    settings.EMBEDDER = "none"
    with acting_as(bob):
        solution_change(actor=bob, solution=again(revision.solution), changes={"problem": "Count penguins."})
    bring_index_up_to_date()
    with as_system():
        assert not Embedding.objects.exists()


def test_refined_code_is_found_by_its_names(cast: Cast, bob: Actor) -> None:
    revision = remember(bob, cast.project)
    before = terms_of(the_entry(), "aside")
    with acting_as(bob):
        revision_refine(
            actor=bob, solution=again(revision.solution), based_on=revision.id, code=CODE + "HYPOTENUSE = 5\n",
            entry_point="total",
        )  # fmt: skip
    bring_index_up_to_date()
    assert "hypotenus" not in before
    assert "hypotenus" in terms_of(the_entry(), "aside")


def test_deleting_leaves_nothing_behind(cast: Cast, bob: Actor) -> None:
    alice = cast.actor(cast.alice)
    revision, lesson = remember(bob, cast.project), learn(bob, cast.project)
    ask(bob, cast.project)
    with acting_as(alice):
        solution_delete(actor=alice, solution=again(revision.solution))
        lesson_delete(actor=alice, lesson=again(lesson))
    with as_system():
        assert not IndexEntry.objects.exists()
        assert not Embedding.objects.exists()
        assert not RecallItem.objects.exists()
    assert ask(bob, cast.project).no_match


def test_indexing_twice_changes_nothing(cast: Cast, bob: Actor) -> None:
    revision = remember(bob, cast.project)
    entry, words = the_entry(), terms_of(the_entry(), "aside")
    tasks.index_solution(str(revision.solution_id))
    assert (the_entry().id, terms_of(the_entry(), "aside")) == (entry.id, words)
    with as_system():
        assert Embedding.objects.count() == 1


def test_a_task_whose_row_is_gone_ends_quietly(cast: Cast) -> None:
    tasks.index_solution(str(uuid4()))
    tasks.index_lesson(str(uuid4()))
    with as_system():
        assert index_solution(solution_id=uuid4()) is False
        assert index_lesson(lesson_id=uuid4()) is False
        assert not IndexEntry.objects.exists()


def test_an_entry_belongs_to_the_project_of_its_solution(cast: Cast, bob: Actor) -> None:
    remember(bob, cast.project)
    entry = the_entry()
    with as_system():
        embedding = Embedding.objects.get()
    for row in (entry, embedding):
        assert (row.project_id, row.team_id) == (cast.project.id, cast.team.id)


def test_a_lost_nudge_is_sent_again_by_the_sweep(
    cast: Cast, bob: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    solution = propose(bob, cast.project).solution
    sent: list[tuple[str, Any]] = []
    monkeypatch.setattr(library_tasks, "nudge", lambda task, *ids: sent.append((task, *ids)))
    library_tasks.sweep()
    assert ("recall.index_solution", solution.id) in sent
    bring_index_up_to_date()
    sent.clear()
    library_tasks.sweep()
    assert "recall.index_solution" not in [task for task, *_ in sent]

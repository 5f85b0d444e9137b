"""What is almost the same is proposed to a reviewer, by two gates at once; nothing is dropped."""

from typing import Any

import pytest

from memory_hub.access.actor import acting_as, as_system
from memory_hub.library.drafts import Proposed
from memory_hub.library.models import MergeProposal, Solution
from memory_hub.library.services.solutions import solution_archive
from memory_hub.recall.models import Embedding
from memory_hub.recall.services import index_solution, near_duplicates
from memory_hub.recall.services.near_duplicates import propose_near_duplicates
from tests.cast import Cast
from tests.services.library_support import propose

PROBLEM = (
    "Read the sales CSV file of a store, add up the amount of every row, and return the total as a float."
)
CODE = (
    "import csv\n\n\ndef total(path):\n    result = 0.0\n    with open(path, newline='') as file:\n"
    "        for row in csv.DictReader(file):\n            result += float(row['amount'])\n    return result\n"
)


def indexed(cast: Cast, person: Any = None, project: Any = None, **changes: Any) -> Proposed:
    proposed = propose(
        cast.actor(person or cast.bob), project or cast.project,
        **{"title": "Total of a CSV", "problem": PROBLEM, "code": CODE, "check_spec": None, **changes},
    )  # fmt: skip
    with as_system():
        index_solution(solution_id=proposed.solution.id)
    return proposed


def look(proposed: Proposed) -> list[MergeProposal]:
    with as_system():
        return propose_near_duplicates(solution_id=proposed.solution.id)


def test_almost_the_same_is_proposed_with_both_measures_and_both_are_kept(cast: Cast) -> None:
    first = indexed(cast)
    second = indexed(
        cast, problem=PROBLEM.replace("and return", "return"), code=CODE + "\n\nprint(total('x'))\n"
    )
    [row] = look(second)
    assert (row.kind, row.state, row.proposed_by_id) == ("near_duplicate", "open", None)
    assert {row.one_id, row.two_id} == {first.solution.id, second.solution.id}
    assert row.detail["cosine"] >= 0.97
    assert row.detail["overlap"] >= 0.85
    assert row.detail["model"]
    with as_system():
        assert Solution.objects.filter(archived_at=None).count() == 2


def test_twice_is_once_from_either_side(cast: Cast) -> None:
    first = indexed(cast)
    second = indexed(cast, problem=PROBLEM + " Please.")
    assert (
        [row.id for row in look(second)]
        == [row.id for row in look(first)]
        == [row.id for row in look(second)]
    )
    with as_system():
        assert MergeProposal.objects.count() == 1


@pytest.mark.parametrize(
    "changes",
    [
        # the same statement, another program: an alternative, for the words differ
        {"code": "import pandas as pd\n\n\ndef total(path):\n    return pd.read_csv(path)['amount'].sum()\n"},
        # the same program for another problem: the statements are far apart
        {"problem": "Which penguins weigh more than five kilograms?", "title": "Heavy penguins"},
        # reworded: near in meaning, and not near enough to be the same
        {"problem": "Given a comma separated file of sales, what is the sum over the amount column?"},
    ],
)
def test_one_gate_is_not_enough(cast: Cast, changes: dict[str, str]) -> None:
    indexed(cast)
    assert look(indexed(cast, **changes)) == []


def test_archived_work_other_projects_and_what_has_no_vector_are_left_out(cast: Cast) -> None:
    first = indexed(cast)
    indexed(cast, person=cast.carol, project=cast.other_project)
    second = indexed(cast, problem=PROBLEM + " Please.")
    with acting_as(cast.actor(cast.bob)) as bob:
        solution_archive(actor=bob, solution=first.solution)
    assert look(second) == look(first) == []
    with as_system():
        Embedding.objects.all().delete()
    assert look(second) == []


def test_vectors_of_different_models_are_never_compared(cast: Cast) -> None:
    first = indexed(cast)
    second = indexed(cast, problem=PROBLEM + " Please.")
    with as_system():
        Embedding.objects.filter(entry__solution=first.solution).update(model_id="another")
    assert look(second) == []


def test_a_large_project_is_walked_by_its_graph_and_finds_the_same(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed(cast)
    second = indexed(cast, problem=PROBLEM + " Please.")
    monkeypatch.setattr(near_duplicates, "_EXACT_UP_TO", 1)
    assert len(look(second)) == 1


def test_a_queue_is_not_flooded_by_one_solution(cast: Cast) -> None:
    last = None
    for number in range(6):
        last = indexed(cast, code=CODE + f"\n\nlimit = {number}\n")
    assert last is not None
    assert len(look(last)) == 3

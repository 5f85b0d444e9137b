"""Searching by filters: each one narrows to what it says, alone and beside words, and loses nothing that fits."""

import pytest

from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.models import Project, User
from memory_hub.library.models import Lesson, Revision
from memory_hub.library.services.solutions import solution_archive
from memory_hub.recall import browse
from memory_hub.recall.models import IndexEntry
from memory_hub.recall.query_words import parse
from memory_hub.review.services import revision_reject
from tests.cast import Cast
from tests.services.library_support import again, approve, propose, verified
from tests.services.recall_support import TASK, bring_index_up_to_date, learn, remember

PANDAS = "import pandas as pd\nfrom json import loads\n\ndef load(path):\n    return pd.read_csv(path)\n"
NUMPY = "def mean(values):\n    import numpy.linalg\n    return numpy.mean(values)\n"


@pytest.fixture
def table(cast: Cast) -> Revision:
    """Approved, passed under landlock, imports pandas, tagged table, by bob."""
    revision = propose(
        cast.actor(cast.bob), cast.project, code=PANDAS, entry_point="load", check_spec=None,
        title="Load a table", problem="Load the table of a file.", tags=["table", "csv"], kind="api_recipe",
    ).revision  # fmt: skip
    verified(revision, sandbox="landlock")
    approve(cast.rita, again(revision))
    bring_index_up_to_date()
    return revision


@pytest.fixture
def mean(cast: Cast) -> Revision:
    """A candidate that failed, imports numpy, by rita."""
    return remember(
        cast.actor(cast.rita), cast.project, passed=False, code=NUMPY, entry_point="mean", check_spec=None,
        title="Mean", problem="Work out the mean of the table.", tags=["stats"], kind="algorithm",
    )  # fmt: skip


def found(person: User, text: str, *projects: Project, cast: Cast) -> list[str]:
    """Return the titles that a question finds, or lists where it has no words."""
    actor = cast.actor(person)
    asked = parse(text)
    assert asked.notes == ()
    with acting_as(actor):
        where = list(projects) or [cast.project]
        if asked.words:
            hits = browse.search_solutions(actor, where, asked.words, asked.filters).fitting
            return [item.solution.title for item in hits]
        return [row.title for row in browse.list_solutions(actor, where, asked.filters)]


@pytest.mark.parametrize(
    ("words", "titles"),
    [
        ("lib:pandas", ["Load a table"]),
        ("lib:pd lib:json", ["Load a table"]),
        ("lib:numpy", ["Mean"]),
        ("lib:pandas lib:numpy", []),
        ("lib:panda", []),
        ("status:approved", ["Load a table"]),
        ("status:candidate", ["Mean"]),
        ("status:candidate status:approved", ["Mean", "Load a table"]),
        ("check:passed", ["Load a table"]),
        ("check:failed", ["Mean"]),
        ("kind:algorithm", ["Mean"]),
        ("tag:csv tag:table", ["Load a table"]),
        ("tag:csv tag:stats", []),
        ("author:bob", ["Load a table"]),
        ("author:BOB@example.org", ["Load a table"]),
        ("author:me", ["Load a table"]),
        ("author:nobody", []),
        ("sandbox:landlock", ["Load a table"]),
        ("sandbox:bubblewrap", []),
        ("in:ledger", ["Mean", "Load a table"]),
        ("in:acme/ledger kind:algorithm", ["Mean"]),
        ("in:atlas", []),
        ("quality:0.1", ["Load a table"]),
        ("quality:0.99", []),
    ],
)
def test_a_filter_alone_lists_what_it_says_newest_first(
    cast: Cast, table: Revision, mean: Revision, words: str, titles: list[str]
) -> None:
    assert found(cast.bob, words, cast=cast) == titles


def test_a_filter_beside_words_narrows_what_they_find(cast: Cast, table: Revision, mean: Revision) -> None:
    assert set(found(cast.bob, "table", cast=cast)) == {"Load a table", "Mean"}
    assert found(cast.bob, "table lib:numpy", cast=cast) == ["Mean"]
    assert found(cast.bob, "table status:approved", cast=cast) == ["Load a table"]
    assert found(cast.bob, "zeppelin lib:numpy", cast=cast) == []


def test_a_selective_filter_loses_nothing_to_the_many_that_fit_the_words_better(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob = cast.actor(cast.bob)
    for number in range(6):
        remember(
            bob, cast.project, passed=None, code=f"def total(rows):\n    return {number}\n", check_spec=None,
            title=f"Total {number}", problem=f"{TASK} Variant {number}", tags=["many"],
        )  # fmt: skip
    remember(
        bob, cast.project, passed=None, code="def other(rows):\n    return 7\n", entry_point="other", check_spec=None,
        title="The rare one", problem="Of every row take the amount, convert it, and then add it all up.", tags=["rare"],
    )  # fmt: skip
    monkeypatch.setattr(browse, "ARM_SIZE", 2)
    assert found(cast.bob, f"{TASK} tag:rare", cast=cast) == ["The rare one"]


def test_where_too_many_pass_to_compare_them_all_it_is_said(
    cast: Cast, table: Revision, mean: Revision, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browse, "MOST", 1)
    bob = cast.actor(cast.bob)
    with acting_as(bob):
        many = browse.search_solutions(bob, [cast.project], "table", parse("in:ledger").filters)
        one = browse.search_solutions(bob, [cast.project], "table", parse("lib:pandas").filters)
    assert many.is_partial
    assert len(many.fitting) == 2
    assert not one.is_partial


def test_archived_and_rejected_ones_are_there_where_they_are_asked_for(
    cast: Cast, table: Revision, mean: Revision
) -> None:
    rita, alice = cast.actor(cast.rita), cast.actor(cast.alice)
    with acting_as(alice):
        revision_reject(actor=alice, revision=again(mean), note="No.")
    with acting_as(rita):
        solution_archive(actor=rita, solution=again(table.solution))
    bring_index_up_to_date()
    assert found(cast.bob, "status:rejected", cast=cast) == ["Mean"]
    assert found(cast.bob, "tag:csv", cast=cast) == []
    assert found(cast.bob, "tag:csv status:archived", cast=cast) == ["Load a table"]
    assert found(cast.bob, "status:approved", cast=cast) == []


def test_an_error_finds_what_was_learnt_on_the_way(cast: Cast, table: Revision, mean: Revision) -> None:
    bob = cast.actor(cast.bob)
    lesson = learn(bob, cast.project, exception_type="pandas.errors.ParserError")
    with as_system():
        Lesson.objects.filter(id=lesson.id).update(solution=table.solution)
    other = learn(bob, cast.project, exception_type="KeyError", message="'TOTAL'")
    assert found(cast.bob, "error:ParserError", cast=cast) == ["Load a table"]
    assert found(cast.bob, "error:KeyError", cast=cast) == []
    with acting_as(bob):
        of_type = browse.list_lessons(bob, [cast.project], parse("error:keyerror").filters)
        assert [row.id for row in of_type] == [other.id]
        of_library = browse.list_lessons(bob, [cast.project], parse("lib:pandas").filters)
        assert [row.id for row in of_library] == [lesson.id]
        worded = browse.search_lessons(
            bob, [cast.project], "could not convert string to float", parse("lib:pandas").filters
        )
        assert [item.lesson.id for item in worded] == [lesson.id]


def test_filters_never_reach_beyond_what_one_may_see(cast: Cast, table: Revision) -> None:
    assert found(cast.carol, "lib:pandas", cast.project, cast=cast) == []
    assert found(cast.mallory, "in:ledger", cast.project, cast.rival_project, cast=cast) == []
    assert found(cast.mallory, "table lib:pandas", cast.project, cast=cast) == []


def test_it_is_said_how_many_there_are_without_a_filter(cast: Cast, table: Revision, mean: Revision) -> None:
    bob = cast.actor(cast.bob)
    filters = parse("lib:pandas kind:algorithm").filters
    with acting_as(bob):
        without_lib = browse.kept_away(bob, [cast.project], "", filters, ("lib", "pandas"))
        without_kind = browse.kept_away(bob, [cast.project], "table", filters, ("kind", "algorithm"))
    assert (without_lib.count, without_kind.count) == (1, 1)


def test_what_matched_is_marked_and_every_part_of_the_score_is_there(cast: Cast, table: Revision) -> None:
    bob = cast.actor(cast.bob)
    with acting_as(bob):
        hit = browse.search_solutions(bob, [cast.project], "loading tables from files").fitting[0]
    assert [piece.text for piece in hit.matched_on if piece.is_match] == ["Load", "table", "file"]
    assert "".join(piece.text for piece in hit.matched_on) == "Load the table of a file."
    assert {"words", "letters", "phrases", "order", "worth"} <= set(hit.score_parts)


def test_the_index_knows_the_imports_of_the_standing_revision(
    cast: Cast, table: Revision, mean: Revision
) -> None:
    with as_system():
        known = dict(IndexEntry.objects.values_list("solution__title", "imports"))
    assert known == {"Load a table": ["json", "pandas"], "Mean": ["numpy"]}

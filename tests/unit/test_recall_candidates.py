"""What is looked up for a question: rare terms alone, frequent ones together, never more than the budget."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from memory_hub.recall.candidates import BUDGET, plan

STORED = 100_000


def looked_up(documents: Mapping[str, int], aside: Mapping[str, int] | None = None) -> str | None:
    return plan(list(documents), documents, aside or {}, STORED).in_words


def test_rare_terms_are_looked_up_alone() -> None:
    assert looked_up({"penguin": 3, "island": 12}) == "'penguin' | 'island'"


def test_frequent_terms_are_looked_up_together() -> None:
    assert looked_up({"list": 6_000, "sort": 3_000}) == "('sort' & 'list')"


def test_a_rare_term_does_not_shut_out_what_has_all_the_frequent_ones() -> None:
    assert looked_up({"zxqv": 1, "list": 6_000, "sort": 3_000}) == "'zxqv' | ('sort' & 'list')"


def test_where_even_two_together_are_too_many_all_are_asked_for() -> None:
    assert looked_up({"a1": 90_000, "b1": 80_000, "c1": 70_000}) == "('c1' & 'b1' & 'a1')"


def test_what_no_entry_has_is_not_looked_up() -> None:
    assert plan(["nothing"], {}, {}, STORED).in_words is None


def test_what_stands_aside_is_looked_up_while_it_is_rare() -> None:
    found = plan(["readcsv", "self"], {"self": 2}, {"readcsv": 40, "self": 50_000}, STORED)
    assert found.in_aside == "'readcsv'"


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.integers(1, STORED), max_size=40))
def test_the_terms_that_are_looked_up_alone_stay_within_the_budget(documents: dict[str, int]) -> None:
    alternatives = (looked_up(documents) or "").split(" | ")
    alone = [term.strip("'") for term in alternatives if term and not term.startswith("(")]
    assert sum(documents[term] for term in alone) <= BUDGET
    assert len(alternatives) <= len(documents) + 24

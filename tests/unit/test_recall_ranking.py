"""The score: between 0 and 1, 1 for the same words, never more for having less in common; and its reason."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_hub.recall.ranking import (
    WORTH_WEIGHT,
    Candidate,
    no_match_below,
    rank_value,
    reason_of,
    score_all,
)

WORDS = ["read", "csv", "date", "column", "sum", "sort", "file", "json"]
some_words = st.sets(st.sampled_from(WORDS))
share = st.floats(0, 1)


def candidate(words: set[str], *, field: str = "A", **changes: Any) -> Candidate:
    values: dict[str, Any] = {
        "entry_id": uuid4(), "solution_id": None, "lesson_id": None, "statement": "Something else.",
        "fields": {field: frozenset(words)}, "trigrams": 0.0, "cosine": 0.2, **changes,
    }  # fmt: skip
    return Candidate(**values)


def score_of(query: set[str], *candidates: Candidate) -> float:
    """The score of the first of these candidates."""
    scored = score_all(" ".join(sorted(query)), sorted(query), candidates)
    return next(item.score for item in scored if item.candidate is candidates[0])


@given(
    query=some_words, has=some_words, other=some_words, trigrams=share, cosine=st.floats(-1, 1) | st.none()
)
def test_a_score_is_between_0_and_1(
    query: set[str], has: set[str], other: set[str], trigrams: float, cosine: float | None
) -> None:
    one = candidate(has, trigrams=trigrams, cosine=cosine)
    scored = score_all(" ".join(query), sorted(query), [one, candidate(other)])
    for item in scored:
        assert 0 <= item.score <= 1
        assert all(0 <= part <= 1 for part in item.parts.values())


@given(
    query=some_words, has=some_words, removed=some_words, others=st.lists(some_words, max_size=4),
    field=st.sampled_from("ABCD"), trigrams=share,
)  # fmt: skip
def test_taking_words_away_never_raises_a_score(
    query: set[str], has: set[str], removed: set[str], others: list[set[str]], field: str, trigrams: float
) -> None:
    rest = [candidate(words) for words in others]
    whole = score_of(query, candidate(has, field=field, trigrams=trigrams), *rest)
    less = score_of(query, candidate(has - removed, field=field, trigrams=trigrams), *rest)
    assert less <= whole + 1e-9


@given(lower=share, higher=share, arm=st.sampled_from(["trigrams", "cosine"]))
def test_being_more_alike_never_lowers_a_score(lower: float, higher: float, arm: str) -> None:
    lower, higher = sorted((lower, higher))
    less, more = (candidate({"csv"}, **{arm: value}) for value in (lower, higher))
    assert score_of({"csv", "sum"}, less) <= score_of({"csv", "sum"}, more)


@given(st.text(min_size=1).filter(str.strip))
def test_the_same_statement_scores_1_whatever_its_spacing_and_case(text: str) -> None:
    same = candidate(set(), statement=f"  {text}\n")
    (scored,) = score_all(text, [], [same])
    assert scored.score == 1.0
    assert reason_of(scored) == "The same problem, word for word."


def test_a_word_in_the_title_counts_more_than_one_in_the_code() -> None:
    scores = [score_of({"csv"}, candidate({"csv"}, field=field)) for field in "ABCD"]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 4


def test_a_rare_word_counts_more_than_one_that_everything_has() -> None:
    rest = [candidate({"file"}) for _ in range(8)]
    query = {"file", "json"}
    rare, common = candidate({"json"}), candidate({"file"})
    scored = {item.candidate.entry_id: item for item in score_all("", sorted(query), [rare, common, *rest])}
    assert scored[rare.entry_id].score > scored[common.entry_id].score


def test_without_vectors_the_other_arms_carry_the_whole_score() -> None:
    assert score_of({"csv"}, candidate({"csv"}, cosine=None, trigrams=1.0)) == pytest.approx(1.0)
    assert no_match_below(with_vector=False) != no_match_below(with_vector=True)


def test_the_best_comes_first_and_ties_are_always_broken_alike() -> None:
    ids = [UUID(int=number) for number in (3, 1, 2)]
    tied = [candidate({"csv"}, entry_id=id_) for id_ in ids]
    best = candidate({"csv", "sum"})
    scored = score_all("", ["csv", "sum"], [*tied, best])
    assert [item.candidate.entry_id for item in scored] == [best.entry_id, *sorted(ids)]


@given(score=share, worth=share)
def test_worth_moves_a_rank_by_a_tenth_at_most(score: float, worth: float) -> None:
    if score < 1:
        assert score * (1 - WORTH_WEIGHT) - 1e-9 <= rank_value(score, worth) <= score + 1e-9


def test_the_same_problem_ranks_first_however_little_it_is_worth() -> None:
    assert rank_value(1.0, 0.0) > rank_value(0.9999, 1.0)


def test_a_reason_names_the_rarest_shared_words_and_what_else_is_alike() -> None:
    rest = [candidate({"file"}) for _ in range(3)]
    alike = candidate({"file", "json"}, trigrams=0.8, cosine=0.9)
    scored = next(item for item in score_all("", ["file", "json"], [alike, *rest]) if item.candidate is alike)
    assert reason_of(scored) == "Shares the words json, file; is close in meaning; is worded almost alike."
    assert scored.has_every_word


def test_what_shares_no_word_says_so() -> None:
    (scored,) = score_all("", ["json"], [candidate({"csv"})])
    assert reason_of(scored) == "Is the nearest there is."
    assert not scored.has_every_word

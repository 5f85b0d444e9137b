"""The score: between 0 and 1, 1 for the same words, never more for having less in common; and its reason."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_hub.recall.features import Usage, Vocabulary, compare, prepare
from memory_hub.recall.fusion import score, weights
from memory_hub.recall.ranking import WORTH_WEIGHT, Candidate, Scored, rank, rank_value, reason_of

WORDS = ["read", "csv", "date", "column", "total", "sort", "file", "json"]
COMMON = {"file": 80, "read": 40, "csv": 20, "column": 20, "date": 10, "total": 10, "sort": 5, "json": 2}
VOCABULARY = Vocabulary(stored=100, documents=COMMON, likes={})
USAGE = Usage(survival={}, usual_share={})
some_words = st.lists(st.sampled_from(WORDS), unique=True)
share = st.floats(0, 1)
cosines = st.floats(-1, 1) | st.none()


def candidate(statement: str, **changes: Any) -> Candidate:
    values: dict[str, Any] = {
        "entry_id": uuid4(), "solution_id": None, "lesson_id": None, "heading": "", "statement": statement,
        "aside": frozenset(), "cosine": None, **changes,
    }  # fmt: skip
    return Candidate(**values)


def ranked(question: str, *candidates: Candidate, with_vector: bool = False) -> list[Scored]:
    query = prepare(question, VOCABULARY, USAGE)
    return rank(query, question, {}, candidates, with_vector=with_vector)


def score_of(question: Sequence[str], text: Sequence[str], **changes: Any) -> float:
    with_vector = changes.get("cosine") is not None
    (scored,) = ranked(
        " ".join(question), candidate(" ".join(text) + " .", **changes), with_vector=with_vector
    )
    return scored.score


@given(question=some_words, text=some_words, cosine=cosines)
def test_a_score_and_its_parts_are_between_0_and_1(
    question: list[str], text: list[str], cosine: float | None
) -> None:
    (scored,) = ranked(
        " ".join(question), candidate(" ".join(text), cosine=cosine), with_vector=cosine is not None
    )
    assert 0 <= scored.score <= 1
    assert all(0 <= part <= 1 for part in scored.parts.values())
    assert ("meaning" in scored.parts) == (cosine is not None)


@given(question=st.permutations(WORDS), cosine=cosines)
def test_the_less_of_a_question_a_text_has_the_lower_its_score(
    question: list[str], cosine: float | None
) -> None:
    scores = [score_of(question, question[:count], cosine=cosine) for count in range(len(WORDS) + 1)]
    assert scores == sorted(scores)
    assert scores[0] < scores[-1]


@given(question=some_words, text=some_words, lower=share, higher=share)
def test_being_closer_in_meaning_never_lowers_a_score(
    question: list[str], text: list[str], lower: float, higher: float
) -> None:
    lower, higher = sorted((lower, higher))
    assert score_of(question, text, cosine=lower) <= score_of(question, text, cosine=higher)


def test_no_learned_weight_is_negative() -> None:
    for with_vector in (True, False):
        learned = weights(with_vector=with_vector)
        assert min(learned.coverage, learned.grams, learned.pairs, learned.order, learned.cosine) >= 0
        assert score(compare(prepare("", VOCABULARY, USAGE), "", ()), None, learned) < 0.1


@given(st.text(min_size=1).filter(str.strip))
def test_the_same_statement_scores_1_whatever_its_spacing_and_case(text: str) -> None:
    (scored,) = ranked(text, candidate(f"  {text}\n", heading="Some title"))
    assert scored.score == 1.0
    assert reason_of(scored) == "The same problem, word for word."


def test_a_word_of_the_problem_counts_more_than_one_that_stands_aside() -> None:
    said = score_of(["csv"], ["read", "csv"])
    aside = score_of(["csv"], ["read", "it"], aside=frozenset({"csv"}))
    assert score_of(["csv"], ["read", "it"]) < aside < said


def test_a_rare_word_counts_more_than_one_that_everything_has() -> None:
    assert score_of(["file", "json"], ["json", "here"]) > score_of(["file", "json"], ["file", "here"])


def test_a_misspelt_word_counts_almost_like_the_one_that_was_meant() -> None:
    typo = Vocabulary(100, COMMON, {"columm": {"column": 0.6}})
    found = [
        compare(prepare(question, vocabulary, USAGE), "sort a column", ()).coverage
        for question, vocabulary in (("columm", typo), ("column", VOCABULARY), ("columm", VOCABULARY))
    ]
    assert found == [pytest.approx(0.54), 1.0, 0.0]


def test_a_literal_of_the_problem_is_no_likeness_of_letters() -> None:
    query = prepare("read csv", VOCABULARY, USAGE)
    assert (
        compare(query, "read csv `some_long_file_name`", ()).grams
        == compare(query, "read csv", ()).grams
        == 1.0
    )


def test_the_best_comes_first_and_ties_are_always_broken_alike() -> None:
    ids = [UUID(int=number) for number in (3, 1, 2)]
    tied = [candidate("csv here", entry_id=id_) for id_ in ids]
    best = candidate("csv total here")
    found = ranked("csv total", *tied, best)
    assert [item.candidate.entry_id for item in found] == [best.entry_id, *sorted(ids)]


@given(value=share, worth=share)
def test_worth_moves_a_rank_by_a_tenth_at_most(value: float, worth: float) -> None:
    if value < 1:
        assert value * (1 - WORTH_WEIGHT) - 1e-9 <= rank_value(value, worth) <= value + 1e-9


def test_the_same_problem_ranks_first_however_little_it_is_worth() -> None:
    assert rank_value(1.0, 0.0) > rank_value(0.9999, 1.0)


def test_a_reason_names_the_shared_words_as_they_were_asked_the_rarest_first() -> None:
    query = prepare("sorted json files", VOCABULARY, USAGE)
    written = {"sort": "sorted", "json": "json", "file": "files"}
    text = candidate("Sort json file names", cosine=0.9)
    (scored,) = rank(query, "sorted json files", written, [text], with_vector=True)
    assert reason_of(scored).startswith("Shares the words json, sorted, files; is close in meaning")
    assert scored.has_every_word


def test_what_shares_no_word_says_so() -> None:
    (scored,) = ranked("json", candidate("csv"))
    assert reason_of(scored) == "Is the nearest there is."
    assert not scored.has_every_word

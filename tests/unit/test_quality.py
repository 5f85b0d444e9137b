"""Quality comes from evidence, is cautious where there is little, and cannot be raised by repeating oneself."""

import pytest

from memory_hub.library.quality import (
    HALF_LIFE,
    NO_EVIDENCE,
    PERIOD,
    Observations,
    faded,
    quality_of,
    wilson_lower_bound,
)


def test_the_lower_bound_agrees_with_published_values() -> None:
    # Wilson 95 %: statsmodels.stats.proportion.proportion_confint(x, n, method="wilson")
    assert wilson_lower_bound(1, 1) == pytest.approx(0.20654, abs=1e-5)
    assert wilson_lower_bound(10, 10) == pytest.approx(0.72247, abs=1e-5)
    assert wilson_lower_bound(5, 10) == pytest.approx(0.23659, abs=1e-5)
    assert wilson_lower_bound(0, 10) == pytest.approx(0.0, abs=1e-12)


def test_nothing_observed_is_unknown_not_bad() -> None:
    assert wilson_lower_bound(0, 0) is None
    assert quality_of([]) == NO_EVIDENCE


def test_more_of_the_same_share_is_worth_more() -> None:
    few = quality_of([Observations("reused", success=2)])
    many = quality_of([Observations("reused", success=20)])
    assert few.share == many.share == 1.0
    assert few.score is not None
    assert many.score is not None
    assert few.score < many.score


def test_a_real_use_weighs_more_than_a_check_or_stars() -> None:
    used = quality_of([Observations("reused", success=4)]).score
    rated = quality_of([Observations("rated", success=4)]).score
    checked = quality_of([Observations("verified", success=4)]).score
    assert used is not None
    assert rated is not None
    assert used > rated
    assert rated == checked


def test_a_failed_use_outweighs_a_passed_check() -> None:
    quality = quality_of([Observations("verified", success=1), Observations("reused", failure=1)])
    assert quality.share == pytest.approx(1 / 3)


def test_not_applicable_counts_neither_way() -> None:
    plain = quality_of([Observations("reused", success=3, failure=1)])
    with_misses = quality_of([Observations("reused", success=3, failure=1, not_applicable=9)])
    assert with_misses.score == plain.score
    assert with_misses.n == plain.n == 4
    assert with_misses.not_applicable == 9


def test_uses_are_told_apart_from_other_evidence() -> None:
    quality = quality_of([Observations("reused", success=3, failure=1), Observations("rated", success=5)])
    assert (quality.n, quality.reuses, quality.reuse_share) == (9, 4, 0.75)


def test_an_unknown_kind_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        quality_of([Observations("guessed", success=1)])


def test_an_observation_says_half_as_much_after_the_half_life() -> None:
    assert faded(0) == 1.0
    assert faded(round(HALF_LIFE / PERIOD)) == pytest.approx(0.5, abs=0.01)
    assert faded(1_000) > 0


def test_age_lowers_the_score_and_leaves_the_counts() -> None:
    fresh = quality_of([Observations("reused", success=4)])
    old = quality_of([Observations("reused", success=4, periods=24)])
    assert fresh.score is not None
    assert old.score is not None
    assert 0 < old.score < fresh.score
    assert (old.n, old.reuses, old.share) == (4, 4, 1.0)


def test_worth_tells_failed_from_unknown_from_old_from_new() -> None:
    failed = quality_of([Observations("reused", failure=1)])
    old = quality_of([Observations("verified", success=1, periods=100)])
    new = quality_of([Observations("verified", success=1)])
    often = quality_of([Observations("reused", success=10)])
    worths = [item.worth for item in (failed, NO_EVIDENCE, old, new, often)]
    assert worths == sorted(worths)
    assert len(set(worths)) == 5
    assert worths[0] >= 0
    assert worths[-1] < 1

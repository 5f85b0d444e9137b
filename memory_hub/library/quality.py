"""Quality, computed from evidence and never typed in: pure functions on counts.

What counts, and how much (a weight of 1 is one real use):

* reused, 1.0: somebody's real task was solved with it, or was not. This is what a memory is for.
* verified, 0.5: the check gave the recorded result once more. Real, but it repeats one known case. One per sandbox.
* rated, 0.5: 4 or 5 stars speak for it, 1 or 2 against it, 3 for neither. One per person; not the author's own.
* reported, 0.5: somebody says how it worked and shows no recall for it.

"Not applicable" says nothing of the thing itself, so it counts neither way. Superseded evidence is ignored.

Evidence fades: libraries and data move on, so what was seen long ago says less of today. Each observation counts
0.5 ** (age / HALF_LIFE) of its weight, as evidence is discounted in Jøsang and Ismail, "The beta reputation system",
15th Bled Electronic Commerce Conference (2002). Fading lowers and never removes: whatever has worked, however long
ago, keeps more worth than what nobody has tried, and that more than what has failed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import sqrt

WEIGHTS = {"reused": 1.0, "verified": 0.5, "rated": 0.5, "reported": 0.5}

# After this time an observation says half as much: about the time between breaking releases of the libraries that
# solutions are written for (pandas 1.0, 2.0, 3.0 and Python's own yearly releases). Reads refresh nothing.
HALF_LIFE = timedelta(days=365)
# Ages are counted in whole periods, so that a revision's evidence is read as a few sums, not row by row.
PERIOD = timedelta(days=30)
# What is assumed before anything is seen, for `worth`: a quarter of an observation each way.
_PRIOR = 0.25

# The two-sided 95 % quantile of the normal distribution.
Z = 1.959964


@dataclass(frozen=True, slots=True)
class Observations:
    """How often evidence of one kind and age had each outcome; superseded evidence is not among it.

    periods: the age, in whole PERIODs. last_verified and last_used as in Quality.
    """

    kind: str
    success: int = 0
    failure: int = 0
    not_applicable: int = 0
    periods: int = 0
    last_verified: datetime | None = None
    last_used: datetime | None = None


@dataclass(frozen=True, slots=True)
class Quality:
    """What the evidence says about one revision or lesson.

    score: lower end of the 95 % interval of the success share, 0 to 1; None without evidence either way.
    share: weighted successes over weighted observations; None likewise. n: number of observations either way, of any
    age. last_verified: when a check last passed; last_used: when a recall of it last ended in success or failure.
    worth: for ranking, 0 to 1, never None: the same lower bound, beginning from a quarter of an observation each way.
    Failed < unknown (0.03) < worked once long ago < worked once lately < worked often.
    """

    score: float | None
    share: float | None
    n: int
    reuses: int
    reuse_successes: int
    not_applicable: int
    last_verified: datetime | None = None
    last_used: datetime | None = None
    worth: float = 0.0

    @property
    def reuse_share(self) -> float | None:
        """The share of uses that worked, or None where it was never used."""
        return self.reuse_successes / self.reuses if self.reuses else None


def faded(periods: int) -> float:
    """Return what is left of an observation's weight after so many PERIODs: 1 for a new one, never quite 0."""
    return 0.5 ** (max(periods, 0) * (PERIOD / HALF_LIFE))


def quality_of(observations: Iterable[Observations]) -> Quality:
    """Return the quality that these counts add up to."""
    successes = total = 0.0
    n = reuses = reuse_successes = not_applicable = 0
    last_verified = last_used = None
    for seen in observations:
        weight = WEIGHTS[seen.kind] * faded(seen.periods)
        last_verified = _later(last_verified, seen.last_verified)
        last_used = _later(last_used, seen.last_used)
        successes += weight * seen.success
        total += weight * (seen.success + seen.failure)
        n += seen.success + seen.failure
        not_applicable += seen.not_applicable
        if seen.kind == "reused":
            reuses += seen.success + seen.failure
            reuse_successes += seen.success
    return Quality(
        score=wilson_lower_bound(successes, total),
        share=successes / total if total else None,
        n=n,
        reuses=reuses,
        reuse_successes=reuse_successes,
        not_applicable=not_applicable,
        last_verified=last_verified,
        last_used=last_used,
        worth=wilson_lower_bound(successes + _PRIOR, total + 2 * _PRIOR) or 0.0,
    )


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max((moment for moment in (one, other) if moment), default=None)


def wilson_lower_bound(successes: float, total: float, z: float = Z) -> float | None:
    """Return the lower end of the Wilson score interval for a share; None where nothing was observed.

    (p + z²/2n − z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n): E. B. Wilson, "Probable inference, the law of succession, and
    statistical inference", Journal of the American Statistical Association 22 (1927), 209-212, as recommended for
    small n by Brown, Cai and DasGupta, Statistical Science 16 (2001), 101-133. Unlike the plain share it is low where
    little is known: 1 of 1 gives 0.21, 10 of 10 gives 0.72. `total` may be a sum of weights.
    """
    if total <= 0:
        return None
    share = min(max(successes / total, 0.0), 1.0)
    square = z * z / total
    spread = z * sqrt(share * (1 - share) / total + square / (4 * total))
    return max(0.0, (share + square / 2 - spread) / (1 + square))


NO_EVIDENCE = quality_of([])

"""What a revision that fits is worth: the word of people, of machines, of experience, and whether it suits the place.

worth = Σ weight · part / Σ weight over the parts of which something is known. Worth reorders what is relevant by a tenth
at most (ranking.rank_value); it never hides. Each part is shown with `explain`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from memory_hub.common.clock import now
from memory_hub.library.models import Revision, Solution
from memory_hub.library.quality import Quality

from .inputs import Profiles, likeness

WEIGHTS = {
    "status": 0.25,
    "verification": 0.2,
    "quality": 0.2,
    "inputs": 0.2,
    "sandbox": 0.1,
    "environment": 0.1,
    "freshness": 0.05,
}
_STATUS = {Revision.Status.APPROVED: 1.0, Revision.Status.CANDIDATE: 0.4}
_VERIFICATION = {"passed": 1.0, "stale": 0.6, "unverified": 0.4, "failed": 0.0}
# Proven elsewhere is not proven here, and no reason to think that it fails.
_OTHER_SANDBOX = 0.4
_OTHER_VERSION = 0.7
# A check that passed this long ago says half as much of today.
_FRESHNESS_HALF_LIFE = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a solution is to be used: the sandbox, the installed packages by name, the profiles of the data at hand."""

    sandbox: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    inputs: Profiles = field(default_factory=dict)


def worth_parts(solution: Solution, revision: Revision, quality: Quality, place: Place) -> dict[str, float]:
    """Return the parts of which something is known, each 0 to 1."""
    parts: dict[str, float | None] = {
        "status": _STATUS.get(Revision.Status(revision.status), 0.0),
        "verification": _VERIFICATION[revision.verification],
        "quality": quality.worth,
        "inputs": likeness(place.inputs, solution.input_profile),
        "sandbox": _sandbox(solution.environment, place),
        "environment": _environment(solution.environment, place),
        "freshness": _freshness(quality),
    }
    return {name: value for name, value in parts.items() if value is not None}


def worth_of(parts: Mapping[str, float]) -> float:
    """Return the worth that the parts add up to, 0 to 1."""
    return sum(WEIGHTS[name] * value for name, value in parts.items()) / sum(WEIGHTS[name] for name in parts)


def _sandbox(environment: Mapping[str, Any], place: Place) -> float | None:
    proven = environment.get("sandbox")
    if not place.sandbox or not proven:
        return None
    return 1.0 if proven == place.sandbox else _OTHER_SANDBOX


def _environment(environment: Mapping[str, Any], place: Place) -> float | None:
    """Compare versions by their first number; a package that is missing counts nothing."""
    packages = environment.get("packages")
    if not place.packages or not isinstance(packages, Mapping) or not packages:
        return None
    fits = [
        0.0
        if name not in place.packages
        else 1.0
        if _major(place.packages[name]) == _major(wanted)
        else _OTHER_VERSION
        for name, wanted in packages.items()
    ]
    return sum(fits) / len(fits)


def _major(version: object) -> str:
    return str(version).partition(".")[0]


def _freshness(quality: Quality) -> float | None:
    if quality.last_verified is None:
        return None
    return float(0.5 ** ((now() - quality.last_verified) / _FRESHNESS_HALF_LIFE))

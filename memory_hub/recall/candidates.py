"""Which words of a question to look up, so that few entries match and the right one is among them. Pure functions.

Rare terms first: a term that few entries have is looked up alone; frequent ones only two or three together, while the
expected number of entries stays within a budget. So the work does not grow with the library.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from uuid import UUID

# Entries that the words may bring, to be ranked in the database.
BUDGET = 600
ASIDE_BUDGET = 200
# Frequent terms that are tried together, and how many alternatives a query may get.
_TOGETHER = 6
_MAX_ALTERNATIVES = 24
# Words of one problem come together more often than chance says.
_CORRELATION = 3.0


@dataclass(frozen=True, slots=True)
class Plan:
    """Two queries in PostgreSQL's notation; None where nothing is to be looked up."""

    in_words: str | None
    in_aside: str | None


def scope_lexeme(kind: str, project_id: UUID) -> str:
    """Return the lexeme that every entry of a kind in a project has, so that the index itself keeps projects apart."""
    return f"@{kind}{project_id}"


def plan(order: Sequence[str], documents: Mapping[str, int], aside: Mapping[str, int], stored: int) -> Plan:
    """Return what to look up for these terms.

    documents, aside: in how many of the `stored` entries a term is, in the words or aside; missing where in none.
    """
    known = sorted(
        (term for term in dict.fromkeys(order) if documents.get(term)), key=lambda term: documents[term]
    )
    chosen: list[str] = []
    spent = 0.0
    for term in known:
        if spent + documents[term] <= BUDGET:
            chosen.append(term)
            spent += documents[term]
    frequent = [term for term in known if term not in chosen][:_TOGETHER]
    alternatives = [quoted(term) for term in chosen]
    for size in (2, 3):
        for group in combinations(frequent, size):
            expected = _expected(group, documents, stored)
            if spent + expected <= BUDGET and len(alternatives) < _MAX_ALTERNATIVES:
                alternatives.append(_all_of(group))
                spent += expected
    if not alternatives and frequent:
        alternatives.append(_all_of(frequent))
    return Plan(" | ".join(alternatives) or None, _rare_aside(order, aside))


def quoted(term: str) -> str:
    """Return a term as PostgreSQL writes a lexeme; terms hold letters and digits only."""
    return f"'{term}'"


def _all_of(group: Sequence[str]) -> str:
    return f"({' & '.join(map(quoted, group))})"


def _expected(group: Sequence[str], documents: Mapping[str, int], stored: int) -> float:
    expected = float(max(1, stored))
    for term in group:
        expected *= documents[term] / max(1, stored)
    return expected * _CORRELATION ** (len(group) - 1)


def _rare_aside(order: Sequence[str], aside: Mapping[str, int]) -> str | None:
    spent = 0
    chosen = []
    for term in sorted(
        (term for term in dict.fromkeys(order) if aside.get(term)), key=lambda term: aside[term]
    ):
        if spent + aside[term] <= ASIDE_BUDGET:
            chosen.append(quoted(term))
            spent += aside[term]
    return " | ".join(chosen) or None

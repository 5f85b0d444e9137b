"""Code-aware words: `pd.read_csv` is found by read_csv, read, csv and pandas; the same for documents and queries.

PostgreSQL's own parser would take `pd.read_csv` apart in its own ways, so we hand it plain words only. A whole
identifier is kept as one word without its underscores (`readcsv`), beside its parts.
"""

import re

_PIECE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*|\d+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")

# What people write for what they import.
ALIASES = {
    "pd": "pandas",
    "np": "numpy",
    "plt": "matplotlib",
    "sns": "seaborn",
    "tf": "tensorflow",
    "bs4": "beautifulsoup",
    "sk": "sklearn",
    "dt": "datetime",
}
_MAX_WORDS = 4_000
_MAX_WORD_CHARACTERS = 60


def words(text: str) -> list[str]:
    """Return the words of a text in order, lower-case, letters and digits only, at most 4,000."""
    found: list[str] = []
    for piece in _PIECE.findall(text):
        for name in piece.split("."):
            found.extend(_of_name(name))
        if len(found) >= _MAX_WORDS:
            break
    return found[:_MAX_WORDS]


def _of_name(name: str) -> list[str]:
    whole = name.replace("_", "").lower()[:_MAX_WORD_CHARACTERS]
    parts = [part.lower()[:_MAX_WORD_CHARACTERS] for part in _CAMEL.findall(name)]
    found = [whole] if whole else []
    if len(parts) > 1:
        found.extend(parts)
    if whole in ALIASES:
        found.append(ALIASES[whole])
    return found

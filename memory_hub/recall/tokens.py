"""Code-aware words: `pd.read_csv` is found by read_csv, read, csv and pandas; the same for documents and queries.

PostgreSQL's own parser would take `pd.read_csv` apart in its own ways, so we hand it plain words only. A whole
identifier is kept as one word without its underscores (`readcsv`), beside its parts.
"""

import re

_NAME = re.compile(r"[^\W\d]\w*|\d+")
# Where camelCase and letters beside digits part. ASCII only: no language writes its own words in camel case.
_SEAM = re.compile(r"_+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")

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
    for name in _NAME.finditer(text):
        found.extend(_of_name(name.group()))
        if len(found) >= _MAX_WORDS:
            break
    return found[:_MAX_WORDS]


def _of_name(name: str) -> list[str]:
    whole = name.replace("_", "").lower()
    parts = [part.lower() for part in _SEAM.split(name) if part]
    found = [whole, *parts] if len(parts) > 1 else [whole]
    if whole in ALIASES:
        found.append(ALIASES[whole])
    return [word[:_MAX_WORD_CHARACTERS] for word in found if word]

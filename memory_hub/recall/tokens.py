"""Code-aware words: `pd.read_csv` is found by read_csv, read, csv and pandas; the same for documents and queries.

PostgreSQL's own parser would take `pd.read_csv` apart in its own ways, so we hand it finished terms only. A whole
identifier is kept as one word without its underscores (`readcsv`), beside its parts.
"""

import re
from functools import lru_cache

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


def terms(text: str) -> list[str]:
    """Return the stems of a text's words in order: what the index holds and counts."""
    return [term for name in _NAME.findall(text) for term in _terms_of(name)][:_MAX_WORDS]


@lru_cache(maxsize=50_000)
def _terms_of(name: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in _of_name(name))


_ENDINGS = (
    ("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"),
    ("ing", ""), ("ed", ""), ("ers", "er"), ("s", ""),
)  # fmt: skip
_VOWEL = re.compile("[aeiouy]")


def stem(word: str) -> str:
    """Take plural, -ing and -ed off an English word. Short words and those with digits stay as they are."""
    if len(word) <= 3 or not word.isalpha():
        return word
    word = _without_ending(word)
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


def _without_ending(word: str) -> str:
    for ending, instead in _ENDINGS:
        if not word.endswith(ending) or len(word) - len(ending) < 3:
            continue
        if ending == "s" and word[-2] in "su":
            continue
        root = word[: -len(ending)] + instead
        if ending not in ("ing", "ed"):
            return root
        if not _VOWEL.search(root):
            return word
        doubled = len(root) > 3 and root[-1] == root[-2] and root[-1] not in "ls"
        return root[:-1] if doubled else root
    return word

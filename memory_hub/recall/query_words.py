"""Filters of search, as words of a question (`lib:pandas status:approved`) and as parameters of an address: one set of
names and values for the pages and for REST. Pure functions.

Several values of one name: a solution has all of its libraries, tags and sandboxes, and any one of the others.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from memory_hub.library.filters import SolutionStatus
from memory_hub.library.models import Revision, Solution

from .errors import looks_like_error

# name -> (what it is called on a page, its values where there are only certain ones)
NAMES: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        "status": ("Status", tuple(value for value, _ in SolutionStatus.CHOICES)),
        "check": ("Check", tuple(Revision.Verification.values)),
        "kind": ("Kind", tuple(Solution.Kind.values)),
        "in": ("Project", ()),
        "lib": ("Library", ()),
        "tag": ("Tag", ()),
        "author": ("Author", ()),
        "error": ("Error", ()),
        "sandbox": ("Sandbox", ()),
        "quality": ("Quality", ()),
    }
)
ALL_OF = frozenset({"lib", "tag", "sandbox"})
_OTHER_NAMES = {
    "verification": "check",
    "library": "lib",
    "import": "lib",
    "exception": "error",
    "project": "in",
}
_LIST_IN_PARAMETERS = frozenset({"lib", "tag", "author", "error", "sandbox"})
_MAX_VALUE_CHARACTERS = 100
_MAX_VALUES = 12
_WORD = re.compile(r"""(?<!\S)(?P<name>[A-Za-z_]+):(?P<value>"[^"\n]*"|'[^'\n]*'|[^\s"']\S*)(?!\S)""")

Filters = Mapping[str, tuple[str, ...]]
NO_FILTERS: Filters = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Asked:
    """A question taken apart: the words without filters, the filters, and what was not understood, in sentences."""

    words: str
    filters: Filters
    notes: tuple[str, ...] = ()


def parse(text: str) -> Asked:
    """Take the filters out of a question.

    A name that is no filter, and a value that its filter does not have, stay plain words; `notes` says so. A pasted
    traceback of several lines stays whole: it is somebody's program, not a query.
    """
    if "\n" in text.strip() and looks_like_error(text):
        return Asked(text.strip(), NO_FILTERS)
    pairs: list[tuple[str, str]] = []
    notes: list[str] = []

    def take(match: re.Match[str]) -> str:
        said = match["name"].lower()
        name = _OTHER_NAMES.get(said, said)
        if name not in NAMES:
            if _looks_meant(match["name"], match["value"]):
                notes.append(
                    f"“{said}:” is no filter, so {match[0]} was searched as words. Filters: {', '.join(NAMES)}."
                )
            return match[0]
        try:
            pairs.append((name, clean(name, _unquoted(match["value"]))))
        except ValueError as error:
            notes.append(f"{match[0]} was searched as words: {error}")
            return match[0]
        return ""

    left = _WORD.sub(take, text)
    if pairs:
        left = re.sub(r"[ \t]{2,}", " ", left)
    return Asked(left.strip(), together(pairs), tuple(dict.fromkeys(notes)))


def read_parameters(pairs: Iterable[tuple[str, str]]) -> tuple[Filters, tuple[str, ...]]:
    """Return the filters among the parameters of an address, and what was left out of them, in sentences.

    Where a filter takes any text, a comma parts several values.
    """
    kept: list[tuple[str, str]] = []
    notes: list[str] = []
    for said, text in pairs:
        name = _OTHER_NAMES.get(said, said)
        if name not in NAMES:
            continue
        for value in text.split(",") if name in _LIST_IN_PARAMETERS else [text]:
            if not value.strip():
                continue
            try:
                kept.append((name, clean(name, value)))
            except ValueError as error:
                notes.append(f"The filter {name}:{value.strip()[:40]} was left out: {error}")
    return together(kept), tuple(dict.fromkeys(notes))


def together(*several: Iterable[tuple[str, str]] | Filters) -> Filters:
    """Return filters put together, in the order of NAMES, each value once, at most 12 of a name."""
    found: dict[str, dict[str, None]] = {name: {} for name in NAMES}
    for filters in several:
        for name, value in pairs_of(filters) if isinstance(filters, Mapping) else filters:
            found[name][value] = None
    return MappingProxyType({name: tuple(values)[:_MAX_VALUES] for name, values in found.items() if values})


def pairs_of(filters: Filters) -> list[tuple[str, str]]:
    """Return each filter as (name, value)."""
    return [(name, value) for name, values in filters.items() for value in values]


def without(filters: Filters, *pairs: tuple[str, str]) -> Filters:
    """Return the filters but for these."""
    return together([pair for pair in pairs_of(filters) if pair not in pairs])


def only(filters: Filters, names: Iterable[str]) -> Filters:
    """Return the filters of these names."""
    return together([(name, value) for name, value in pairs_of(filters) if name in names])


def word_of(name: str, value: str) -> str:
    """Return a filter as one types it."""
    bare = value and not re.search(r"""[\s"']""", value)
    return f"{name}:{value}" if bare else f'{name}:"{value}"'


def clean(name: str, value: str) -> str:
    """Return a value as its filter compares it. Raises ValueError, with a sentence, for one that it does not have."""
    value = " ".join(value.replace('"', "").replace("\x00", "").split())[:_MAX_VALUE_CHARACTERS].strip()
    if not value:
        raise ValueError("it has no value.")
    if name == "quality":
        return _share(value)
    choices = NAMES[name][1]
    if choices:
        value = value.lower().replace("-", "_").replace(" ", "_")
        if value not in choices:
            raise ValueError(f"{name} is one of {', '.join(choices)}.")
        return value
    return value if name in ("author", "error") else value.lower()


def _share(value: str) -> str:
    try:
        number = float(value[:-1]) / 100 if value.endswith("%") else float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise ValueError("quality is a number from 0 to 1, such as 0.5.")
    return f"{number:.4g}"


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] in "\"'" and value[-1] == value[0] else value


def _looks_meant(name: str, value: str) -> bool:
    """Say whether an unknown word was likely meant as a filter: not an address, a slice or a C++ name."""
    return len(name) > 1 and name.islower() and value[0] not in ":/\\="

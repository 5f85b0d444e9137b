"""What an error that was met and the error of a lesson have in common, as numbers from 0 to 1. Pure functions.

The names in a program change from one to the next while the mistake stays the same. So lines and code are compared
twice: as they are written, and by their shape, in which a number stands for every name that the program gave itself.

* same_class: the class of exception, without its module.
* message: Jaccard similarity of the 4-grams of letters of "Class message"; same_words: the messages are equal.
  Digits do not count in either.
* line: the same similarity of the failing lines. line_shape: that of the 4-grams of tokens of their shapes;
  same_line_shape: these are equal; line_shared: how many they share, 1 - 0.9^n, since short lines are alike by chance.
* code, code_shape: the same similarities of the words and of the shape of the code around.
* frames: Jaccard similarity of the library frames, without line numbers.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

from memory_hub.library.fingerprint import normalised_message, short_type

from .tokens import ALIASES

GRAM = 4
# Of longer texts only the beginning is compared.
LINE_CHARACTERS = 1_000
CODE_CHARACTERS = 6_000

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<text>(?:\b[rRbBuUfF]{1,2})?(?:'''.*?(?:'''|\Z)|\"\"\".*?(?:\"\"\"|\Z)
        |'(?:[^'\\\n]|\\.)*+'?|"(?:[^"\\\n]|\\.)*+"?))
    |(?P<name>[^\W\d]\w*)
    |(?P<number>\d[\w.]*)
    |(?P<sign>\*\*=?|//=?|<<=?|>>=?|->|:=|[-+*/%&|^=<>!@]=|[^\s\w])""",
    re.VERBOSE | re.DOTALL,
)
_KEPT_NAMES = (
    frozenset(dir(builtins))
    | frozenset(keyword.kwlist)
    | frozenset(ALIASES)
    | frozenset(ALIASES.values())
    | frozenset(
        [
            "self",
            "cls",
            "math",
            "re",
            "os",
            "sys",
            "io",
            "json",
            "csv",
            "collections",
            "itertools",
            "functools",
            "operator",
            "heapq",
            "bisect",
            "random",
            "string",
            "time",
            "pathlib",
            "statistics",
            "decimal",
            "fractions",
            "textwrap",
            "typing",
        ]
    )
)
# A class: programs name few of their own.
_CLASS = re.compile(r"[A-Z]\w*[a-z]\w*")
# No token of a program begins with it.
_NAMED = "·"
_SPOKEN_OF = "¡"
_QUOTED_NAME = re.compile(r"'([^\W\d]\w*)'")
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"\w+")
_LINE_NUMBER = re.compile(r":\d+( in |$)")

_Grams = frozenset[Hashable]


@dataclass(frozen=True, slots=True)
class ErrorParts:
    """An error as it is compared: one that was met, or that of a lesson. What is not known is empty."""

    exception_type: str
    message: str
    failing_line: str = ""
    code: str = ""
    library_frames: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class PreparedError:
    """An error taken apart once, to be compared with many."""

    exception_type: str
    pattern: str
    words: str
    message: _Grams
    line: _Grams
    line_shape: tuple[str, ...]
    line_runs: _Grams
    code: _Grams
    code_runs: _Grams
    frames: _Grams


@dataclass(frozen=True, slots=True)
class LessonFeatures:
    """What two errors have in common, each from 0 to 1."""

    same_class: float
    message: float
    same_words: float
    line: float
    line_shape: float
    same_line_shape: float
    line_shared: float
    code: float
    code_shape: float
    frames: float


def prepare_error(parts: ErrorParts, *, with_code: bool = True) -> PreparedError:
    """Take an error apart; its code too, which takes by far the longest, where that is wanted."""
    kind = short_type(parts.exception_type)
    named = frozenset(_QUOTED_NAME.findall(parts.message))
    line = parts.failing_line[:LINE_CHARACTERS]
    code = parts.code[:CODE_CHARACTERS] if with_code else ""
    message = _DIGITS.sub("0", " ".join(parts.message[:LINE_CHARACTERS].split()))
    line_shape = tuple(shape(line, named))
    return PreparedError(
        exception_type=kind,
        pattern=normalised_message(parts.message),
        words=message,
        message=_letters(f"{kind} {message}"),
        line=_letters(line),
        line_shape=line_shape,
        line_runs=_runs(line_shape),
        code=frozenset(_WORD.findall(code)),
        code_runs=_runs(shape(code, named)),
        frames=frozenset(_LINE_NUMBER.sub(r"\1", frame) for frame in parts.library_frames),
    )


def compare_errors(met: PreparedError, known: PreparedError) -> LessonFeatures:
    """Return what an error that was met and that of a lesson have in common."""
    return LessonFeatures(
        same_class=float(met.exception_type == known.exception_type),
        message=_alike(met.message, known.message),
        same_words=float(met.words == known.words),
        line=_alike(met.line, known.line),
        line_shape=_alike(met.line_runs, known.line_runs),
        same_line_shape=float(met.line_shape == known.line_shape != ()),
        line_shared=1 - 0.9 ** len(met.line_runs & known.line_runs),
        code=_alike(met.code, known.code),
        code_shape=_alike(met.code_runs, known.code_runs),
        frames=_alike(met.frames, known.frames),
    )


def shape(code: str, named: Collection[str] = ()) -> list[str]:
    """Return the tokens of a piece of code with a number for every name that the program gave itself.

    Kept are keywords, built-in names, usual modules, classes, and attributes but those of self. The names that the
    message quotes (`named`) all get the same word instead. In strings, digits and the kind of quotes do not count, as
    they do not in a message. Comments are left out. Any text is read, fragments too.
    """
    found: list[str] = []
    numbers: dict[str, str] = {}
    for token in _TOKEN.finditer(code):
        word = token.group()
        if token.lastgroup == "comment":
            continue
        if token.lastgroup == "text":
            found.append(_DIGITS.sub("0", word.replace('"', "'")))
        elif token.lastgroup != "name":
            found.append(word)
        elif word in named:
            found.append(_SPOKEN_OF)
        elif _is_kept(word, found):
            found.append(word)
        else:
            found.append(numbers.setdefault(word, f"{_NAMED}{len(numbers)}"))
    return found


def _is_kept(name: str, before: Sequence[str]) -> bool:
    if before[-1:] == ["."]:
        return before[-2:-1] != ["self"]
    return name in _KEPT_NAMES or _CLASS.fullmatch(name) is not None


def _runs(tokens: Sequence[str]) -> _Grams:
    """Return the 4-grams of tokens, with a mark at both ends; within each, the names are numbered anew."""
    if not tokens:
        return frozenset()
    line = ["^", *tokens, "$"]
    return frozenset(_numbered(line[start : start + GRAM]) for start in range(max(1, len(line) - GRAM + 1)))


def _numbered(run: Sequence[str]) -> tuple[str, ...]:
    numbers: dict[str, str] = {}
    return tuple(
        numbers.setdefault(token, f"{_NAMED}{len(numbers)}") if token[0] == _NAMED else token for token in run
    )


def _letters(text: str) -> _Grams:
    line = " ".join(text.split())
    if not line:
        return frozenset()
    line = f" {line} "
    return frozenset(line[start : start + GRAM] for start in range(max(1, len(line) - GRAM + 1)))


def _alike(one: _Grams, other: _Grams) -> float:
    shared = len(one & other)
    either = len(one) + len(other) - shared
    return shared / either if either else 0.0

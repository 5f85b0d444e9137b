"""What the benchmark of recall stores and asks: documented functions that are installed, and public data sets."""

from __future__ import annotations

import ast
import json
import random
import re
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_STOPPED = frozenset(
    [
        "the",
        "a",
        "an",
        "of",
        "to",
        "in",
        "is",
        "for",
        "and",
        "or",
        "with",
        "that",
        "this",
        "it",
        "as",
        "by",
        "on",
        "if",
        "are",
        "be",
        "from",
        "at",
        "which",
    ]
)


@dataclass(frozen=True)
class Pair:
    """A problem in words and code that solves it; pairs of one topic solve the same problem."""

    problem: str
    code: str
    topic: int = 0


def stored_functions(count: int) -> list[Pair]:
    """Return documented functions of the standard library, numpy and pandas, in an order that is always the same."""
    paths = sysconfig.get_paths()
    places = [Path(paths["stdlib"]), Path(paths["platlib"]) / "numpy", Path(paths["platlib"]) / "pandas"]
    found: dict[str, Pair] = {}
    for place in places:
        for file in sorted(place.rglob("*.py")):
            if "test" not in file.as_posix():
                found.update({pair.problem: pair for pair in _functions(file)})
    pairs = list(found.values())
    random.Random(1).shuffle(pairs)
    if len(pairs) < count:
        raise SystemExit(f"There are only {len(pairs):,} documented functions here: ask for fewer rows.")
    return pairs[:count]


def _functions(file: Path) -> Iterator[Pair]:
    try:
        source = file.read_text("utf-8")
        tree = ast.parse(source)
    except (SyntaxError, UnicodeDecodeError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            words = (ast.get_docstring(node) or "").split("\n\n")[0].split()
            if 6 <= len(words) <= 60:
                yield Pair(" ".join(words), (ast.get_source_segment(source, node) or "")[:4_000])


def reworded(problem: str, chooser: random.Random) -> str:
    """Return the question of somebody who remembers the problem roughly: some words left out, the order changed."""
    words = [word for word in re.findall(r"\w+", problem) if word.lower() not in _STOPPED]
    kept = [word for word in words if chooser.random() < 0.7] or words
    chooser.shuffle(kept)
    return " ".join(kept[:25])


def conala(data: Path) -> tuple[list[Pair], list[tuple[int, str]]]:
    """Return CoNaLa's rewritten problems to store, and (topic, title) of each question as it was asked."""
    rows = json.loads((data / "conala" / "conala-train.json").read_text("utf-8"))
    rows = [row for row in rows if row["rewritten_intent"]]
    titles = {row["question_id"]: row["intent"] for row in rows}
    return [Pair(row["rewritten_intent"], row["snippet"], row["question_id"]) for row in rows], list(
        titles.items()
    )


def mbpp_problems(data: Path, count: int) -> list[str]:
    """Return problems of MBPP in words: programming exercises that hardly any of CoNaLa's snippets solve."""
    lines = (data / "recode" / "nominal_mbpp_wtest.jsonl").read_text("utf-8").splitlines()
    prompts = [json.loads(line)["prompt"] for line in lines]
    said = [match[1] for prompt in prompts if (match := re.search(r'"""\s*(.+)', prompt))]
    random.Random(7).shuffle(said)
    return said[:count]

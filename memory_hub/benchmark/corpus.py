"""What is stored and asked: public data sets from a folder, and documented functions of the installed packages."""

from __future__ import annotations

import ast
import hashlib
import json
import random
import re
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PERTURBATIONS = {
    "synonyms": "mbpp_SynonymSubstitution_s1",
    "back-translation": "mbpp_BackTranslation_s0",
    "typos": "mbpp_ButterFingersPerturbation_s0",
}
_DOCSTRING = re.compile(r'"""(.*?)(?:"""|\Z)', re.DOTALL)
_CODE_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class Item:
    """A problem in words and code that solves it. Items of one topic solve the same problem."""

    problem: str
    code: str
    topic: str
    entry_point: str = ""
    test: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody asks, and the topic that answers it."""

    text: str
    topic: str

    @property
    def is_held_out(self) -> bool:
        """Whether this question took no part in choosing weights: a quarter, by a hash of the topic."""
        return int(hashlib.sha256(self.topic.encode()).hexdigest(), 16) % 4 == 0


def conala(data: Path) -> tuple[list[Item], list[Question]]:
    """Return CoNaLa's rewritten problems with their snippets, and each question as it was asked."""
    rows = [
        row
        for name in sorted((data / "conala").glob("*.json"))
        for row in json.loads(name.read_text("utf-8"))
    ]
    rows = [row for row in rows if row["rewritten_intent"]]
    items = [Item(row["rewritten_intent"], row["snippet"], str(row["question_id"])) for row in rows]
    titles = {str(row["question_id"]): row["intent"] for row in rows}
    return items, [Question(text, topic) for topic, text in titles.items()]


def recode(data: Path) -> tuple[list[Item], dict[str, list[Question]]]:
    """Return MBPP's problems with their solutions and tests, and the same problems worded otherwise, by how."""
    items = [
        Item(
            described(row["prompt"]), row["prompt"].lstrip("\n") + row["canonical_solution"], row["task_id"],
            row["entry_point"], row["test"],
        )
        for row in _rows(data / "recode" / "nominal_mbpp_wtest.jsonl")
    ]  # fmt: skip
    asked = {
        name: [
            Question(described(row["prompt"]), row["task_id"])
            for row in _rows(data / "recode" / f"{file}.jsonl")
        ]
        for name, file in PERTURBATIONS.items()
    }
    return items, asked


def described(prompt: str) -> str:
    """Return what a function's docstring says: the task and its examples."""
    found = _DOCSTRING.search(prompt)
    lines = (found[1] if found else prompt).strip().removesuffix(">>>").splitlines()
    return "\n".join(line.strip() for line in lines).strip()


def explanations(data: Path) -> list[str]:
    """Return sentences that explain bugs in solutions of LeetCode: nothing that CoNaLa's snippets answer."""
    said = [row["explanation"].strip() for row in _rows(data / "error_fix" / "error_fix_verified.jsonl")]
    return sorted({text for text in said if len(text.split()) >= 5})


def titles(data: Path) -> list[str]:
    """Return the titles of LeetCode's problems: short, and about programming as well."""
    return sorted(
        {row["slug"].replace("-", " ") for row in _rows(data / "error_fix" / "error_fix_verified.jsonl")}
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def documented_functions(count: int) -> list[Item]:
    """Return documented functions of the standard library and the installed packages, always in the same order.

    Where there are fewer than `count`, further ones are the beginning of one description and the end of another.
    """
    found: dict[str, Item] = {}
    for place in (sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["platlib"]):
        for file in sorted(Path(place).rglob("*.py")):
            if "/test" not in file.as_posix() and len(found) < count:
                found.update({item.problem: item for item in _functions(file)})
    items = list(found.values())
    chooser = random.Random(1)
    chooser.shuffle(items)
    for number in range(count - len(items)):
        items.append(_mixed(items[number], chooser.choice(items), number))
    return items[:count]


def _mixed(one: Item, other: Item, number: int) -> Item:
    first, second = one.problem.split(), other.problem.split()
    return Item(
        " ".join([*first[: max(4, len(first) // 2)], *second[len(second) // 2 :]]),
        one.code,
        f"mixed {number}",
    )


def _functions(file: Path) -> Iterator[Item]:
    try:
        source = file.read_text("utf-8")
        tree = ast.parse(source)
    except (SyntaxError, UnicodeDecodeError, ValueError):
        return
    lines = source.splitlines()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            words = (ast.get_docstring(node) or "").split("\n\n")[0].split()
            if 6 <= len(words) <= 60:
                code = "\n".join(lines[node.lineno - 1 : node.end_lineno])[:_CODE_CHARACTERS]
                yield Item(" ".join(words), code, f"{file.name} {node.name} {node.lineno}", node.name)


def reworded(problem: str, chooser: random.Random) -> str:
    """Return the question of somebody who remembers a problem roughly: some words left out, the order changed."""
    words = re.findall(r"\w+", problem)
    kept = [word for word in words if chooser.random() < 0.7] or words
    chooser.shuffle(kept)
    return " ".join(kept[:25])


def sample(questions: Sequence[Question], count: int) -> list[Question]:
    """Return at most `count` of the questions, always the same."""
    return random.Random(7).sample(list(questions), min(count, len(questions)))

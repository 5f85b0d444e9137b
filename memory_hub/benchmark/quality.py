"""Does recall find the right solution: reworded and perturbed problems, and questions that nothing stored answers."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from . import corpus
from .baselines import Vectors, baselines
from .corpus import Item
from .ranks import LIMIT, auroc, figures, place_of
from .scratch import World, make_world
from .store import store

if TYPE_CHECKING:
    from memory_hub.recall.services import RecallAnswer

_LET_THROUGH = 0.05
_TEST_SECONDS = 300
_CALIBRATION_QUESTIONS = 500


@dataclass(frozen=True, slots=True)
class Library:
    """A project that holds these items, and how it is asked."""

    world: World
    items: Sequence[Item]
    ids: Sequence[UUID]

    def ask(self, text: str) -> RecallAnswer:
        """Ask as the person does: the whole service, row security on, the recall and its audit written."""
        from memory_hub.access.actor import acting_as
        from memory_hub.recall.services import RecallRequest, recall_make

        actor = self.world.actor
        with acting_as(actor):
            return recall_make(
                actor=actor,
                project=self.world.project,
                query=RecallRequest(task=text, threshold=0.0, top_k=LIMIT, max_tokens=20_000),
            )

    def topics(self, answer: RecallAnswer) -> list[str]:
        """Return the topics of what was offered, best first."""
        topic_of = {str(id_): item.topic for id_, item in zip(self.ids, self.items, strict=True)}
        return [topic_of[item.solution_id] for item in answer.items]


def library_of(name: str, items: Sequence[Item]) -> Library:
    """Store these items in a project of their own."""
    world = make_world(name)
    return Library(world, items, store(world.project, items))


def conala(data: Path) -> dict[str, Any]:
    """Reworded problems: the questions that weights were chosen on, and those that took no part in it."""
    items, questions = corpus.conala(data)
    library = library_of("conala", items)
    found = [library.topics(library.ask(question.text)) for question in questions]
    plain = {
        name: search([question.text for question in questions]) for name, search in baselines(items).items()
    }
    held = [place for place, question in enumerate(questions) if question.is_held_out]
    chosen = [place for place, question in enumerate(questions) if not question.is_held_out]
    result: dict[str, Any] = {}
    for part, places in (("", held), (" (weights chosen on these)", chosen)):
        for name, lists in {"ours": found, **plain}.items():
            result[f"{name}{part}"] = figures([place_of(questions[n].topic, lists[n]) for n in places])
    return result


def recode(data: Path) -> dict[str, Any]:
    """Perturbed problems, and whether the code that was found first passes the tests of the row."""
    items, perturbed = corpus.recode(data)
    library = library_of("recode", items)
    plain = baselines(items)
    by_topic = {item.topic: item for item in items}
    result: dict[str, Any] = {}
    for name, questions in perturbed.items():
        texts = [question.text for question in questions]
        answers = [library.ask(text) for text in texts]
        lists = [library.topics(answer) for answer in answers]
        ours = figures(
            [place_of(question.topic, found) for question, found in zip(questions, lists, strict=True)]
        )
        codes = [answer.items[0].code if answer.items else "" for answer in answers]
        wanted = [by_topic[question.topic] for question in questions]
        ours["tests_passed"] = round(_passing(codes, wanted) / len(questions), 4)
        result[f"ours, {name}"] = ours
        for other, search in plain.items():
            result[f"{other}, {name}"] = figures(
                [
                    place_of(question.topic, found)
                    for question, found in zip(questions, search(texts), strict=True)
                ]
            )
    return result


_RUN_TESTS = """
import contextlib, io, json, signal, sys
def stop(*_): raise TimeoutError
signal.signal(signal.SIGALRM, stop)
passed = 0
for code, name, test in json.load(sys.stdin):
    scope = {"__name__": "row"}
    signal.alarm(5)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, scope); exec(test, scope); scope["check"](scope[name])
        passed += 1
    except BaseException:
        pass
    signal.alarm(0)
print(passed)
"""


def _passing(codes: Sequence[str], wanted: Sequence[Item]) -> int:
    """Return how many of the codes pass the tests of the row they should answer, in a process of their own.

    The code is that of the data set, which who runs the measure has chosen; it is not an agent's.
    """
    import json

    rows = [(code, item.entry_point, item.test) for code, item in zip(codes, wanted, strict=True)]
    done = subprocess.run(
        [sys.executable, "-I", "-c", _RUN_TESTS], input=json.dumps(rows), capture_output=True, text=True,
        timeout=_TEST_SECONDS, check=True,
    )  # fmt: skip
    return int(done.stdout)


def no_match(data: Path) -> dict[str, Any]:
    """Can the score say that nothing fits: held-out questions against other problems, and with their answers left out."""
    items, questions = corpus.conala(data)
    library = library_of("nomatch", items)
    vectors = Vectors(items)
    held = [question for question in questions if question.is_held_out]
    asked = [library.ask(question.text) for question in held]
    answered = [_best(answer) for answer in asked]
    left_out = [
        max(
            (
                item.score
                for item, topic in zip(answer.items, library.topics(answer), strict=True)
                if topic != question.topic
            ),
            default=0.0,
        )
        for question, answer in zip(held, asked, strict=True)
    ]
    others = {
        "explanations of bugs": corpus.explanations(data),
        "titles of LeetCode": corpus.titles(data),
        "problems of MBPP": random.Random(7).sample(
            [item.problem.split("\n")[0] for item in corpus.recode(data)[0]], 300
        ),
    }
    result = {"answers left out": _apart(answered, left_out)}
    right = vectors.best([question.text for question in held])
    for name, texts in others.items():
        result[name] = _apart(answered, [_best(library.ask(text)) for text in texts])
        result[f"{name}, cosine alone"] = _apart(right, vectors.best(texts))
    return result


def calibration(data: Path) -> dict[str, Any]:
    """The score that lets 5 % of other questions through, from the questions that weights were chosen on."""
    items, questions = corpus.conala(data)
    library = library_of("calibration", items)
    chosen = corpus.sample(
        [question for question in questions if not question.is_held_out], _CALIBRATION_QUESTIONS
    )
    answered = [_best(library.ask(question.text)) for question in chosen]
    others = [_best(library.ask(text)) for text in [*corpus.explanations(data), *corpus.titles(data)]]
    return {"cut": _apart(answered, others)}


def _best(answer: RecallAnswer) -> float:
    return max((item.score for item in answer.items), default=0.0)


def _apart(answered: Sequence[float], others: Sequence[float]) -> dict[str, float]:
    """Return how well a score tells the two apart; kept: of the answered, where 5 % of the others pass."""
    cut = sorted(others)[int(len(others) * (1 - _LET_THROUGH))]
    return {
        "auroc": round(auroc(answered, others), 4),
        "kept_at_5_percent": round(sum(value > cut for value in answered) / len(answered), 4),
        "cut": round(cut, 4),
        "questions": len(others),
    }

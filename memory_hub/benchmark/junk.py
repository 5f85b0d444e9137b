"""Does a thousand noisy runs leave the good solutions as easy to find as before?

The noise is what agents leave when nothing comes of a run: half-done candidates with the words of real tasks in them,
scripts, repeated problems. None is approved or verified, so none may be offered; all are indexed.
"""

from __future__ import annotations

import random
from typing import Any

from . import corpus
from .corpus import Item
from .quality import Library, library_of
from .ranks import figures, place_of
from .store import store

_GOOD = 1_000
_NOISY = 1_000
_QUESTIONS = 250


def measure() -> dict[str, Any]:
    """Ask for good solutions before and after the noise."""
    from memory_hub.access.actor import as_system
    from memory_hub.library.models import Revision, Solution

    items = corpus.documented_functions(_GOOD)
    library = library_of("junk", items)
    chooser = random.Random(3)
    asked = [(item, corpus.reworded(item.problem, chooser)) for item in chooser.sample(items, _QUESTIONS)]
    before, offered_before = _figures(library, asked)
    noise = [_noise(items, chooser, number) for number in range(_NOISY)]
    ids = store(library.world.project, noise)
    with as_system():
        Revision.objects.filter(solution__in=ids).update(status=Revision.Status.CANDIDATE)
        Solution.objects.filter(id__in=ids).update(approved_revision=None)
    after, offered_after = _figures(library, asked)
    return {
        f"before, {_GOOD:,} good": before | {"noise_offered": offered_before},
        f"after {_NOISY:,} noisy runs": after | {"noise_offered": offered_after},
    }


def _noise(items: list[Item], chooser: random.Random, number: int) -> Item:
    one, other = chooser.sample(items, 2)
    words = [*one.problem.split()[:12], *other.problem.split()[:6]]
    code = "\n".join(chooser.sample(one.code.splitlines(), min(6, len(one.code.splitlines()))))
    return Item(f"Try {number}: {' '.join(words)}", code, f"noise {number}")


def _figures(library: Library, asked: list[tuple[Item, str]]) -> tuple[dict[str, float], int]:
    topic_of = {str(id_): item.topic for id_, item in zip(library.ids, library.items, strict=True)}
    places, noise = [], 0
    for item, question in asked:
        found = [offer.solution_id for offer in library.ask(question).items]
        noise += sum(id_ not in topic_of for id_ in found)
        places.append(place_of(item.topic, [topic_of.get(id_, "noise") for id_ in found]))
    return figures(places), noise

"""What recall is compared with, each a plain search over the stored problems, in this process or by PostgreSQL alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from math import log
from typing import Any

from .corpus import Item
from .ranks import LIMIT

_K1, _B = 1.2, 0.75
Baseline = Callable[[Sequence[str]], list[list[str]]]


def baselines(items: Sequence[Item]) -> dict[str, Baseline]:
    """Return the plain searches by name; each takes questions and returns the topics it finds, best first."""
    return {"bm25": Bm25(items), "trigram": Trigrams(items), "vector": Vectors(items)}


class Bm25:
    """BM25 over light stems, stop words left out (Robertson and Zaragoza 2009)."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.topics = [item.topic for item in items]
        documents = [Counter(_terms(item.problem)) for item in items]
        self.lengths = [sum(document.values()) for document in documents]
        self.mean = sum(self.lengths) / max(1, len(self.lengths))
        self.postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, document in enumerate(documents):
            for term, count in document.items():
                self.postings[term].append((place, count))

    def __call__(self, questions: Sequence[str]) -> list[list[str]]:
        return [self._ask(question) for question in questions]

    def _ask(self, question: str) -> list[str]:
        scores: Counter[int] = Counter()
        for term in set(_terms(question)):
            having = self.postings.get(term, ())
            rarity = log(1 + (len(self.topics) - len(having) + 0.5) / (len(having) + 0.5))
            for place, count in having:
                length = 1 - _B + _B * self.lengths[place] / self.mean
                scores[place] += rarity * count * (_K1 + 1) / (count + _K1 * length)  # type: ignore[assignment]
        return [self.topics[place] for place, _ in scores.most_common(LIMIT)]


def _terms(text: str) -> list[str]:
    from memory_hub.recall.features import without_stop_words
    from memory_hub.recall.tokens import terms

    return without_stop_words(terms(text))


class Trigrams:
    """PostgreSQL's similarity() over all problems, without an index."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items

    def __call__(self, questions: Sequence[str]) -> list[list[str]]:
        import psycopg
        from django.conf import settings

        found = []
        with psycopg.connect(settings.MIGRATE_DATABASE_URL) as connection:
            connection.execute("CREATE TEMP TABLE plain (topic text, problem text)")
            with connection.cursor().copy("COPY plain FROM STDIN") as copy:
                for item in self.items:
                    copy.write_row((item.topic, item.problem))
            for question in questions:
                rows = connection.execute(
                    "SELECT topic FROM plain ORDER BY similarity(problem, %s) DESC LIMIT %s",
                    [question, LIMIT],
                ).fetchall()
                found.append([row[0] for row in rows])
        return found


class Vectors:
    """The cosine of the embedding model as it comes, the question as it was asked."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.topics = [item.topic for item in items]
        self.vectors = _embedded([item.problem for item in items])

    def __call__(self, questions: Sequence[str]) -> list[list[str]]:
        if self.vectors is None or not questions:
            return [[] for _ in questions]
        cosines = _embedded(questions) @ self.vectors.T
        return [[self.topics[place] for place in row[:LIMIT]] for row in (-cosines).argsort(axis=1)]

    def best(self, questions: Sequence[str]) -> list[float]:
        """Return the highest cosine of each question."""
        return [float(value) for value in (_embedded(questions) @ self.vectors.T).max(axis=1)]


def _embedded(texts: Sequence[str]) -> Any:
    import numpy

    from memory_hub.recall.serving import serving_embedder

    vectors = serving_embedder().embed(texts)
    return numpy.array(vectors, dtype=numpy.float32) if vectors else None

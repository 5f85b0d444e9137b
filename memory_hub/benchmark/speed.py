"""How fast: recall over REST as a key asks, beside bare queries on each index; proposing, importing, embedding.

Everything is on: row security, the embedding of the question, the recall and its audit written before the answer. Texts
are real ones, varied; above 2,000 rows the vectors are real ones with noise added, since embedding takes hours.
"""

from __future__ import annotations

import http.client
import json
import random
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from . import corpus
from .corpus import Item
from .scratch import World, make_world, percentile, web_server
from .store import store
from .store_fast import store_large

_QUESTIONS = 300
_CLIENTS = 8
_CLIENT_SECONDS = 10.0
_PROPOSALS = 60
_EMBEDDED = 2_000
_SMALL_PROJECT = 200


def measure(sizes: Sequence[int]) -> dict[str, Any]:
    """Grow one library to each of the sizes and ask it; beside it stands a small project in the same hub."""
    world, small = make_world("speed"), make_world("small")
    items = corpus.documented_functions(max(sizes))
    store(small.project, items[:_SMALL_PROJECT])
    result: dict[str, Any] = {}
    stored = 0
    for size in sorted(sizes):
        store_large(world.project, items[stored:size], stored)
        stored = size
        with web_server() as address:
            result |= _at_size(f"{size:,} solutions", address, world, items[:size])
            result |= _asked(f"{size:,}, project of {_SMALL_PROJECT}", address, small, items[:_SMALL_PROJECT])
    with web_server() as address:
        result["propose one over REST"] = _proposing(address, world)
    result["embedding in the background"] = {"per_second": round(_embedding_rate(items), 1)}
    return result


def _at_size(name: str, address: str, world: World, items: Sequence[Item]) -> dict[str, Any]:
    result = _asked(f"{name}: recall, distinct questions", address, world, items)
    questions = _questions(items, 2 * _QUESTIONS)
    ours = result[f"{name}: recall, distinct questions"]
    for arm, times in _bare(world, questions[:60]).items():
        row = _times(times)
        row["recall_is_times"] = round(ours["p50_ms"] / max(0.01, row["p50_ms"]), 2)
        result[f"{name}: bare {arm}"] = row
    for title, half in (("half repeated", True), ("distinct", False)):
        result[f"{name}: {_CLIENTS} clients, {title}"] = {
            "per_second": round(_together(address, world, items, repeated=half), 1)
        }
    return result


def _asked(name: str, address: str, world: World, items: Sequence[Item]) -> dict[str, Any]:
    ask = _client(address, world, _key(world))
    for question in _questions(items, 10, seed=11):
        ask({"task": question})
    times = [_timed(partial(ask, {"task": question})) for question in _questions(items, _QUESTIONS)]
    return {name: _times(times)}


def _times(times: Sequence[float]) -> dict[str, float]:
    return {
        "p50_ms": round(statistics.median(times), 2),
        "p95_ms": round(percentile(times, 0.95), 2),
        "max_ms": round(max(times), 2),
    }


def _timed(deed: Callable[[], Any]) -> float:
    began = time.perf_counter()
    deed()
    return (time.perf_counter() - began) * 1000


def _questions(items: Sequence[Item], count: int, seed: int = 5) -> list[str]:
    chooser = random.Random(seed)
    return [corpus.reworded(chooser.choice(items).problem, chooser) for _ in range(count)]


def _key(world: World) -> str:
    from memory_hub.access.actor import acting_as
    from memory_hub.access.permissions import Role, Scope
    from memory_hub.access.services.keys import key_create

    actor = world.actor
    with acting_as(actor):
        _, key = key_create(
            actor=actor, project=world.project, name="benchmark", role=Role.MAINTAINER, scopes=list(Scope)
        )
    return key


def _client(address: str, world: World, key: str, path: str = "recall/") -> Callable[[dict[str, Any]], Any]:
    """Return what posts to the project over one connection that stays open."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
    project = f"/api/v1/projects/{world.project.team.slug}/{world.project.slug}/"
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def post(body: dict[str, Any]) -> Any:
        connection.request("POST", project + path, json.dumps(body), headers)
        answer = connection.getresponse()
        said = answer.read()
        if answer.status not in (200, 201):
            raise RuntimeError(f"{answer.status}: {said[:300]!r}")
        return json.loads(said)

    return post


def _together(address: str, world: World, items: Sequence[Item], *, repeated: bool) -> float:
    """Return the recalls a second of eight clients that ask at the same time."""
    key = _key(world)
    known = _questions(items, 50, seed=17)
    counts = [0] * _CLIENTS
    deadline = time.perf_counter() + _CLIENT_SECONDS

    def work(number: int) -> None:
        chooser = random.Random(number)
        ask = _client(address, world, key)
        while time.perf_counter() < deadline:
            again = repeated and chooser.random() < 0.5
            text = chooser.choice(known) if again else corpus.reworded(chooser.choice(items).problem, chooser)
            ask({"task": text})
            counts[number] += 1

    workers = [threading.Thread(target=work, args=(number,)) for number in range(_CLIENTS)]
    began = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(counts) / (time.perf_counter() - began)


def _bare(world: World, asked: Sequence[str]) -> dict[str, list[float]]:
    """Return the times of one plain query on each index, by the tables' owner, without row security or joins."""
    import psycopg
    from django.conf import settings

    from memory_hub.recall.features import without_stop_words
    from memory_hub.recall.serving import serving_embedder
    from memory_hub.recall.tokens import terms

    statements = {
        "vectors (HNSW, ten nearest)": (
            "SELECT entry_id FROM recall_embedding ORDER BY vector <=> %(vector)s::halfvec LIMIT 10"
        ),
        "vectors (HNSW, of one project)": (
            "SELECT entry_id FROM recall_embedding WHERE project_id = %(project)s"
            " ORDER BY vector <=> %(vector)s::halfvec LIMIT 10"
        ),
        "words (any of them, by ts_rank)": (
            "SELECT id FROM recall_indexentry WHERE project_id = %(project)s AND words @@ %(query)s::tsquery"
            " ORDER BY ts_rank(words, %(query)s::tsquery) DESC LIMIT 10"
        ),
    }
    times: dict[str, list[float]] = {name: [] for name in statements}
    with psycopg.connect(settings.MIGRATE_DATABASE_URL, autocommit=True) as connection:
        for text in asked:
            words = without_stop_words(terms(text))
            vectors = serving_embedder().embed([text])
            values = {
                "project": world.project.id,
                "query": " | ".join(f"'{word}'" for word in dict.fromkeys(words)),
                "vector": str(vectors[0]) if vectors else None,
            }
            for name, statement in statements.items():
                if values["vector"] or "vector" not in statement:
                    times[name].append(_timed(partial(_fetched, connection, statement, values)))
    return {name: taken for name, taken in times.items() if taken}


def _fetched(connection: Any, statement: str, values: dict[str, Any]) -> list[Any]:
    return list(connection.execute(statement, values).fetchall())


def _proposing(address: str, world: World) -> dict[str, float]:
    propose = _client(address, world, _key(world), "solutions/")
    times = []
    for number in range(_PROPOSALS):
        body = {
            "title": f"Scale a list by {number}",
            "problem": f"Multiply every number of a list by {number} and round to {number % 7} digits.",
            "code": f"def scale(values):\n    return [round(value * {number}, {number % 7}) for value in values]\n",
        }
        times.append(_timed(partial(propose, body)))
    return _times(times)


def _embedding_rate(items: Sequence[Item]) -> float:
    from memory_hub.recall.serving import serving_embedder

    texts = [item.problem for item in items[:_EMBEDDED]]
    began = time.perf_counter()
    if not serving_embedder().embed(texts):
        return 0.0
    return len(texts) / (time.perf_counter() - began)

"""Measures of recall: how long it takes, whether it finds the right solution, and what its scores can tell apart.

python -m tests.benchmarks.recall [--data DIR] [--rows 5000] [--queries 300] [--embedder minilm|none]

Speed needs no data: its rows are the documented functions of the installed standard library, numpy and pandas (problem
= docstring, code = source). DIR holds `conala/conala-train.json` and `recode/nominal_mbpp_wtest.jsonl`: reworded
problems, and problems that the first do not answer.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.hub import empty_hub, percentile
from tests.benchmarks.recall_data import Pair, conala, mbpp_problems, reworded, stored_functions

OFFERED = 10


def main() -> None:
    """Start services of our own, store, measure, print, and leave nothing behind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of the public data sets")
    parser.add_argument("--rows", type=int, default=5_000, help="solutions for the measure of speed")
    parser.add_argument("--queries", type=int, default=300, help="questions of each kind")
    parser.add_argument("--embedder", choices=("minilm", "none"), default="minilm")
    options = parser.parse_args()
    os.environ["EMBEDDER"] = options.embedder
    with empty_hub():
        _speed(options.rows, options.queries)
        if options.data:
            _quality(options.data, options.queries)


# --- speed


def _speed(rows: int, queries: int) -> None:
    from tests.cast import make_cast

    cast = make_cast()
    pairs = stored_functions(rows)
    began = time.perf_counter()
    _store(cast, cast.project, pairs)
    rate = len(pairs) / (time.perf_counter() - began)
    print(f"\n{len(pairs):,} solutions stored and indexed, {rate:.0f} a second\n")
    chooser = random.Random(7)
    asked = [reworded(pair.problem, chooser) for pair in chooser.sample(pairs, min(queries, len(pairs)))]
    ask = _asker(cast, cast.project)
    ask(asked[0])  # loads the model
    found, first = _timed(ask, asked[1:])
    _, again = _timed(ask, asked[1:])
    hits = sum(bool(answer.items) for answer in found)
    bare = _bare(cast, asked[1:])
    slowest = max(statistics.median(times) for times in bare.values())
    print(f"{'':44}{'p50 ms':>9}{'p95 ms':>9}{'× slowest bare':>16}")
    table = {"recall_make, new questions": first, "recall_make, vector of the question cached": again, **bare}
    for name, times in table.items():
        middle = statistics.median(times)
        print(f"{name:44}{middle:9.1f}{percentile(times, 0.95):9.1f}{middle / slowest:16.1f}")
    print(f"\n{hits} of {len(found)} questions got an offer")


def _bare(cast: Any, asked: Sequence[str]) -> dict[str, list[float]]:
    """Return the times of one plain query on each index, by the tables' owner, without row security or joins."""
    import psycopg
    from django.conf import settings

    from memory_hub.recall.embedders import embed_query

    where = "WHERE project_id = %(project)s AND"
    statements = {
        "bare full text (any word, ts_rank)": (
            f"SELECT id FROM recall_indexentry {where} words @@ %(query)s::tsquery "
            "ORDER BY ts_rank(words, %(query)s::tsquery) DESC LIMIT 10"
        ),
        "bare trigrams (%, similarity)": (
            f"SELECT id FROM recall_indexentry {where} statement %% %(text)s "
            "ORDER BY similarity(statement, %(text)s) DESC LIMIT 10"
        ),
        "bare vectors (HNSW, cosine)": (
            f"SELECT entry_id FROM recall_embedding {where} true ORDER BY vector <=> %(vector)s::halfvec LIMIT 10"
        ),
    }
    times: dict[str, list[float]] = {name: [] for name in statements}
    with psycopg.connect(settings.MIGRATE_DATABASE_URL, autocommit=True) as connection:
        for text in asked:
            vector = embed_query(text)
            row = connection.execute(
                "SELECT replace(plainto_tsquery('english', %s)::text, '&', '|')", [text]
            ).fetchone()
            values = {
                "project": cast.project.id,
                "query": row and row[0],
                "text": text,
                "vector": str(vector),
            }
            for name, statement in statements.items():
                if "vector" in statement and vector is None:
                    continue
                began = time.perf_counter()
                connection.execute(statement, values).fetchall()
                times[name].append((time.perf_counter() - began) * 1000)
    return {name: taken for name, taken in times.items() if taken}


# --- quality


@dataclass(frozen=True)
class Rank:
    """Where the right answer stood (None: not among the offered), and the best scores."""

    place: int | None
    best: float
    best_of_others: float


def _quality(data: Path, queries: int) -> None:
    from memory_hub.access.actor import as_system
    from memory_hub.access.models import Team
    from memory_hub.access.services.projects import project_create
    from tests.cast import Cast

    pairs, questions = conala(data)
    with as_system() as system:
        from memory_hub.access.models import User

        team, alice = Team.objects.get(slug="acme"), User.objects.get(email="alice@example.org")
        project = project_create(actor=system, team=team, name="Reworded", creator=alice)
    cast = Cast(team, project, *[None] * 2, None, alice, *[None] * 5)  # type: ignore[arg-type]
    topic_of = dict(zip(_store(cast, project, pairs), [pair.topic for pair in pairs], strict=True))
    ask = _asker(cast, project, threshold=0.0)
    chosen = random.Random(7).sample(questions, min(queries, len(questions)))
    ours = [_rank(ask(text), topic, topic_of) for topic, text in chosen]
    plain = _plain_full_text(project, topic_of, chosen)
    print(f"\nReworded problems: {len(pairs):,} stored, {len(chosen)} questions")
    print(f"{'':24}{'R@1':>8}{'R@5':>8}{'MRR@10':>8}")
    for name, places in {"recall_make": [rank.place for rank in ours], "plain full text": plain}.items():
        print(f"{name:24}{_at(places, 1):8.3f}{_at(places, 5):8.3f}{_reciprocal(places):8.3f}")
    off = [_best(ask(text)) for text in mbpp_problems(data, queries)]
    answered = [rank.best for rank in ours]
    removed = [rank.best_of_others for rank in ours]
    print(
        "\nBest score of questions that are answered, the same with their answers left out, and other problems"
    )
    print(
        f"AUROC answered against other problems {_auroc(answered, off):.3f}, left out {_auroc(answered, removed):.3f}"
    )
    print(f"{'offered from':>14}{'answered':>10}{'left out':>10}{'others':>10}")
    for cut in (0.3, 0.34, 0.36, 0.38, 0.4, 0.42, 0.44, 0.46, 0.5, 0.6):
        shares = [sum(score >= cut for score in kind) / len(kind) for kind in (answered, removed, off)]
        print(f"{cut:14.2f}" + "".join(f"{share:10.1%}" for share in shares))


def _rank(answer: Any, topic: int, topic_of: dict[str, int]) -> Rank:
    topics = [topic_of[item.solution_id] for item in answer.items]
    others = [item.score for item, found in zip(answer.items, topics, strict=True) if found != topic]
    return Rank(topics.index(topic) + 1 if topic in topics else None, _best(answer), max(others, default=0.0))


def _best(answer: Any) -> float:
    return max((item.score for item in answer.items), default=0.0)


def _plain_full_text(
    project: Any, topic_of: dict[str, int], asked: Sequence[tuple[int, str]]
) -> list[int | None]:
    """Return the places by PostgreSQL alone: any word of the question, in the problem, by ts_rank_cd."""
    import psycopg
    from django.conf import settings

    places: list[int | None] = []
    with psycopg.connect(settings.MIGRATE_DATABASE_URL) as connection:
        connection.execute(
            "CREATE TEMP TABLE plain AS SELECT id::text, to_tsvector('english', problem) AS words "
            "FROM library_solution WHERE project_id = %s",
            [project.id],
        )
        for topic, text in asked:
            found = connection.execute(
                "SELECT id FROM plain, (SELECT replace(plainto_tsquery('english', %s)::text, '&', '|')::tsquery) "
                "AS asked (query) WHERE words @@ query ORDER BY ts_rank_cd(words, query, 1) DESC LIMIT %s",
                [text, OFFERED],
            ).fetchall()
            topics = [topic_of[row[0]] for row in found]
            places.append(topics.index(topic) + 1 if topic in topics else None)
    return places


# --- storing and asking


def _store(cast: Any, project: Any, pairs: Sequence[Pair]) -> list[str]:
    """Store approved solutions and index them as the worker does; return their ids."""
    from memory_hub.access.actor import as_system
    from memory_hub.common.text import first_sentence, sha256_hex, storable
    from memory_hub.library.models import Revision, Solution
    from memory_hub.recall.services import index_solution

    owner = {"team_id": project.team_id, "project": project}
    with as_system():
        solutions = [
            Solution(**owner, title=first_sentence(pair.problem) or "Problem", problem=pair.problem)
            for pair in pairs
        ]
        Solution.objects.bulk_create(solutions, batch_size=500)
        revisions = [
            Revision(
                **owner,
                solution=solution,
                number=1,
                code=storable(pair.code),
                content_hash=sha256_hex(pair.code),
                status=Revision.Status.APPROVED,
            )
            for solution, pair in zip(solutions, pairs, strict=True)
        ]
        Revision.objects.bulk_create(revisions, batch_size=500)
        for solution, revision in zip(solutions, revisions, strict=True):
            solution.approved_revision = solution.latest_revision = revision
        Solution.objects.bulk_update(solutions, ["approved_revision", "latest_revision"], batch_size=500)
    for solution in solutions:
        with as_system():
            index_solution(solution_id=solution.id)
    _analyse()
    return [str(solution.id) for solution in solutions]


def _analyse() -> None:
    """Do what autovacuum does within a minute."""
    import psycopg
    from django.conf import settings

    with psycopg.connect(settings.MIGRATE_DATABASE_URL, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE recall_indexentry")
        connection.execute("VACUUM ANALYZE recall_embedding")


def _asker(cast: Any, project: Any, threshold: float | None = None) -> Callable[[str], Any]:
    """Return what asks as alice: the whole service in a transaction of its own, row security on, all recorded."""
    from memory_hub.access.actor import acting_as
    from memory_hub.access.policy import actor_for_user
    from memory_hub.recall.services import RecallRequest, recall_make

    actor = actor_for_user(cast.alice)

    def ask(text: str) -> Any:
        query = RecallRequest(task=text, threshold=threshold, top_k=3 if threshold is None else OFFERED)
        with acting_as(actor):
            return recall_make(actor=actor, project=project, query=query)

    return ask


def _timed(ask: Callable[[str], Any], asked: Sequence[str]) -> tuple[list[Any], list[float]]:
    answers, times = [], []
    for text in asked:
        began = time.perf_counter()
        answers.append(ask(text))
        times.append((time.perf_counter() - began) * 1000)
    return answers, times


# --- arithmetic


def _at(places: Sequence[int | None], limit: int) -> float:
    return sum(place is not None and place <= limit for place in places) / len(places)


def _reciprocal(places: Sequence[int | None]) -> float:
    return sum(1 / place for place in places if place) / len(places)


def _auroc(higher: Sequence[float], lower: Sequence[float]) -> float:
    """Return the chance that one of `higher` scores above one of `lower`, ties counting half."""
    wins = sum((one > other) + (one == other) / 2 for one in higher for other in lower)
    return wins / (len(higher) * len(lower))


if __name__ == "__main__":
    main()

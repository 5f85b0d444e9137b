"""Changing the embedding model: search stays with the old one until every entry has a vector of the new one."""

from collections.abc import Sequence
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from memory_hub.access.actor import Actor, as_system
from memory_hub.common import clock
from memory_hub.recall import embedders, tasks
from memory_hub.recall.models import Embedding, EmbeddingModel
from memory_hub.recall.services import fill_embeddings, keep_calibration
from memory_hub.recall.services.embedding_models import _BATCH, Progress
from tests.cast import Cast
from tests.services.library_support import CODE
from tests.services.recall_support import OFF_TOPIC, REWORDED, ask, offered, remember

MINILM = embedders.MiniLM.model_id


class Letters:
    """A second model: it counts letters."""

    model_id = "letters"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._one(text.lower()) for text in texts]

    def _one(self, text: str) -> list[float]:
        counts = [float(text.count(chr(ord("a") + number))) for number in range(26)] + [0.0] * 357 + [1.0]
        length = sum(value * value for value in counts) ** 0.5
        return [value / length for value in counts]


@pytest.fixture
def bob(cast: Cast) -> Actor:
    return cast.actor(cast.bob)


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> None:
    """The configuration may name the second model."""
    monkeypatch.setitem(embedders._EMBEDDERS, "letters", Letters)
    known = embedders.embedder_of
    monkeypatch.setattr(
        "memory_hub.recall.serving.embedder_of", lambda id_: Letters() if id_ == "letters" else known(id_)
    )


def models_of_vectors() -> dict[str, int]:
    with as_system():
        ids = list(Embedding.objects.values_list("model_id", flat=True))
    return {model_id: ids.count(model_id) for model_id in set(ids)}


def test_the_first_model_serves_without_any_ceremony(cast: Cast, bob: Actor) -> None:
    remember(bob, cast.project)
    assert ask(bob, cast.project).recall.embedding_model == MINILM
    tasks.fill_embeddings()
    with as_system():
        assert EmbeddingModel.objects.get().state == EmbeddingModel.State.SERVING


def test_search_is_never_broken_while_the_model_changes(
    cast: Cast, bob: Actor, settings: Any, letters: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = [
        remember(bob, cast.project),
        remember(bob, cast.project, problem="Count the penguins.", code=CODE + "ONE = 1\n"),
    ]
    fill_embeddings()
    settings.EMBEDDER = "letters"
    monkeypatch.setattr("memory_hub.recall.services.embedding_models._BATCH", 1)
    told: list[Progress] = []
    half = fill_embeddings(tell=told.append, batches=1)
    assert (half.model_id, half.done, half.total) == ("letters", 1, 2)
    assert told == [half]
    assert models_of_vectors() == {MINILM: 2, "letters": 1}
    answer = ask(bob, cast.project, REWORDED)
    assert answer.recall.embedding_model == MINILM, "the old model still serves"
    assert offered(answer) == [str(known[0].id)]
    new = remember(bob, cast.project, problem="Draw a map of islands.", code=CODE + "TWO = 2\n")
    assert models_of_vectors() == {MINILM: 3, "letters": 2}, "what is new has a vector of both"
    done = fill_embeddings()
    assert (done.done, done.total) == (3, 3)
    assert models_of_vectors() == {"letters": 3}, "nothing is left of the old one"
    answer = ask(bob, cast.project, "Draw a map of islands.")
    assert answer.recall.embedding_model == "letters"
    assert offered(answer)[0] == str(new.id)


def test_filling_again_changes_nothing(cast: Cast, bob: Actor) -> None:
    remember(bob, cast.project)
    first = fill_embeddings()
    assert fill_embeddings() == first
    assert _BATCH > 1


def test_the_command_tells_how_far_it_is(cast: Cast, bob: Actor, settings: Any, letters: None) -> None:
    remember(bob, cast.project)
    fill_embeddings()
    settings.EMBEDDER = "letters"
    said = StringIO()
    call_command("fill_embeddings", stdout=said)
    assert said.getvalue().splitlines() == ["letters: 1 of 1 entries", "letters serves 1 entries."]


def test_without_a_model_from_one_day_to_the_next_words_serve(cast: Cast, bob: Actor, settings: Any) -> None:
    known = remember(bob, cast.project)
    fill_embeddings()
    settings.EMBEDDER = "none"
    fill_embeddings()
    answer = ask(bob, cast.project, "Add up the amounts in the rows.")
    assert answer.recall.embedding_model == ""
    assert offered(answer) == [str(known.id)]
    settings.EMBEDDER = "minilm"
    fill_embeddings()
    assert ask(bob, cast.project).recall.embedding_model == MINILM


def test_a_measured_score_decides_what_fits(cast: Cast, bob: Actor) -> None:
    remember(bob, cast.project)
    assert not ask(bob, cast.project, REWORDED).no_match
    with as_system():
        keep_calibration(model_id=MINILM, measured={"cut": 0.999, "auroc": 1.0})
    answer = ask(bob, cast.project, REWORDED, explain=True)
    assert answer.no_match
    assert answer.best_rejected is not None
    with as_system():
        keep_calibration(model_id=MINILM, measured={"cut": 0.0})
    assert not ask(bob, cast.project, OFF_TOPIC).no_match


def test_a_verified_solution_is_found_after_two_years(
    cast: Cast, bob: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = remember(bob, cast.project)
    later = clock.now() + timedelta(days=730)
    for module in (
        "memory_hub.recall.worth",
        "memory_hub.library.evidence_counts",
        "memory_hub.common.clock",
    ):
        monkeypatch.setattr(f"{module}.now", lambda: later)
    younger = remember(bob, cast.project, passed=None, code=CODE + "OTHER = 3\n")
    answer = ask(bob, cast.project, REWORDED)
    assert offered(answer) == [str(known.id)], "nobody has checked the younger one"
    assert str(younger.id) not in offered(answer)
    assert answer.items[0].worth_parts["freshness"] == pytest.approx(0.25, abs=0.01)

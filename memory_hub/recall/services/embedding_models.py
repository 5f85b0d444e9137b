"""Which embedding model serves, and the change from one to another: search stays with the old one until all is there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from memory_hub.access.actor import as_system
from memory_hub.common.clock import now
from memory_hub.recall.embedders import Embedder, configured_embedder
from memory_hub.recall.models import Embedding, EmbeddingModel, IndexEntry, IndexKind
from memory_hub.recall.serving import serving_embedder
from memory_hub.recall.statements import meaning_of

_BATCH = 64
_STATE = EmbeddingModel.State


@dataclass(frozen=True, slots=True)
class Progress:
    """How many of the entries have a vector of the model."""

    model_id: str
    done: int
    total: int


def embedders_to_fill() -> list[Embedder]:
    """Return the models of which a new entry needs a vector: that which serves, and that which is to come."""
    both = {embedder.model_id: embedder for embedder in (serving_embedder(), configured_embedder())}
    return [embedder for model_id, embedder in both.items() if model_id]


def add_vectors(embedder: Embedder, entries: Sequence[IndexEntry], kind: IndexKind) -> None:
    """Embed what these entries of one kind mean; entries that have a vector of this model already keep it."""
    meanings = [meaning_of(entry.heading, entry.statement) for entry in entries]
    Embedding.objects.bulk_create(
        (
            Embedding(
                team_id=entry.team_id,
                project_id=entry.project_id,
                entry=entry,
                kind=kind,
                model_id=embedder.model_id,
                vector=vector,
            )
            for entry, vector in zip(entries, embedder.embed(meanings), strict=True)
        ),
        ignore_conflicts=True,
    )


def fill_embeddings(
    *, tell: Callable[[Progress], None] | None = None, batches: int | None = None
) -> Progress:
    """Give entries that lack a vector of the configured model one, and let it serve when none is lacking.

    Each batch is a transaction of its own, so that it may be stopped at any moment and goes on where it was. Returns
    how far it came after at most `batches` batches.
    """
    embedder = configured_embedder()
    with as_system():
        row, _ = EmbeddingModel.objects.get_or_create(model_id=embedder.model_id)
    if row.state == _STATE.SERVING and not _lacking(embedder.model_id):
        return _progress(embedder.model_id)
    done = 0
    while embedder.model_id and (batches is None or done < batches):
        if not _fill_batch(embedder):
            break
        done += 1
        if tell:
            tell(_progress(embedder.model_id))
    progress = _progress(embedder.model_id)
    if progress.done >= progress.total:
        _serve(embedder.model_id)
    return progress


def _fill_batch(embedder: Embedder) -> bool:
    with as_system():
        entries = list(
            IndexEntry.objects.exclude(embeddings__model_id=embedder.model_id).order_by("id")[:_BATCH]
        )
        for kind in IndexKind:
            chosen = [entry for entry in entries if bool(entry.solution_id) == (kind is IndexKind.SOLUTION)]
            add_vectors(embedder, chosen, kind)
    return bool(entries)


def _lacking(model_id: str) -> bool:
    if not model_id:
        return False
    with as_system():
        return IndexEntry.objects.exclude(embeddings__model_id=model_id).exists()


def _progress(model_id: str) -> Progress:
    with as_system():
        total = IndexEntry.objects.count()
        done = Embedding.objects.filter(model_id=model_id).count() if model_id else total
    return Progress(model_id, done, total)


def _serve(model_id: str) -> None:
    """Let this model serve from now on, and remove the vectors of those before."""
    with as_system(), transaction.atomic():
        rows = {row.model_id: row for row in EmbeddingModel.objects.select_for_update()}
        if rows[model_id].state == _STATE.SERVING:
            return
        for row in rows.values():
            if row.state == _STATE.SERVING:
                EmbeddingModel.objects.filter(model_id=row.model_id).update(
                    state=_STATE.RETIRED, changed_at=now()
                )
        EmbeddingModel.objects.filter(model_id=model_id).update(state=_STATE.SERVING, changed_at=now())
        Embedding.objects.exclude(model_id=model_id).delete()


def keep_calibration(*, model_id: str, measured: Mapping[str, float]) -> None:
    """Keep below which score (measured["cut"], 0 to 1) nothing fits under a model. Call as the system."""
    EmbeddingModel.objects.update_or_create(
        model_id=model_id, defaults={"no_match_below": measured["cut"], "measured": dict(measured)}
    )

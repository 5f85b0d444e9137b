"""Which embedding model search uses now, and from which score on something fits under it."""

from dataclasses import dataclass

from .embedders import Embedder, configured_embedder, embedder_of
from .fusion import shipped_no_match_below
from .models import EmbeddingModel


@dataclass(frozen=True, slots=True)
class Serving:
    """The model that search uses, and the scores below which nothing fits that were measured on this hub."""

    embedder: Embedder
    measured: dict[str, float]

    def no_match_below(self, model_id: str) -> float:
        """Return the score below which nothing fits: measured on this hub, or else when the release was made."""
        measured = self.measured.get(model_id)
        return shipped_no_match_below(model_id) if measured is None else measured


def serving() -> Serving:
    """Return what serves now, in one query.

    Search uses the configured model, once every entry has a vector of it; until then the one before, where this
    process can run it; where it cannot, words alone.
    """
    rows = list(EmbeddingModel.objects.values_list("model_id", "state", "no_match_below"))
    measured = {model_id: float(cut) for model_id, _, cut in rows if cut is not None}
    embedder = configured_embedder()
    for model_id, state, _ in rows:
        if state == EmbeddingModel.State.SERVING and model_id != embedder.model_id:
            embedder = embedder_of(model_id)
    return Serving(embedder, measured)


def serving_embedder() -> Embedder:
    """Return the model that search uses."""
    return serving().embedder

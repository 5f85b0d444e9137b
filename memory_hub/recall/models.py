"""The search index, and the record of what was recalled and what became of it."""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from pgvector.django import HalfVectorField, HnswIndex

from memory_hub.access.models import ApiKey, User
from memory_hub.access.ownership import OwnedByProject
from memory_hub.library.models import Evidence, Lesson, Revision, Solution
from memory_hub.runs.models import Run

EMBEDDING_DIMENSIONS = 384


class IndexEntry(OwnedByProject):
    """What search knows of a solution or a lesson: words weighted by where they stand, and the plain statement."""

    solution = models.OneToOneField(Solution, on_delete=models.CASCADE, null=True, related_name="index_entry")
    lesson = models.OneToOneField(Lesson, on_delete=models.CASCADE, null=True, related_name="index_entry")
    # What trigrams compare with, and what is the same problem word for word: the problem, or type and message.
    statement = models.TextField()
    # Code-aware tokens: A title and problem or message, B when it applies and tags, C entry point, D code.
    words = SearchVectorField()
    indexed_at = models.DateTimeField()

    class Meta(OwnedByProject.Meta):
        indexes = [
            GinIndex(fields=["words"], name="index_entry_words"),
            GinIndex(fields=["statement"], opclasses=["gin_trgm_ops"], name="index_entry_statement"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(solution__isnull=False, lesson__isnull=True)
                | models.Q(solution__isnull=True, lesson__isnull=False),
                name="index_entry_of_one_thing",
            )
        ]


class Embedding(OwnedByProject):
    """One vector of one entry under one model. Vectors of different models are never compared."""

    entry = models.ForeignKey(IndexEntry, on_delete=models.CASCADE, related_name="embeddings")
    model_id = models.CharField(max_length=80)
    # Unit length, so that the inner product is the cosine.
    vector = HalfVectorField(dimensions=EMBEDDING_DIMENSIONS)

    class Meta(OwnedByProject.Meta):
        constraints = [models.UniqueConstraint(fields=["entry", "model_id"], name="embedding_once_per_model")]
        indexes = [
            HnswIndex(
                name="embedding_hnsw",
                fields=["vector"],
                m=16,
                ef_construction=64,
                opclasses=["halfvec_cosine_ops"],
            ),
        ]


class Recall(OwnedByProject):
    """One retrieval: what was asked, by whom, what was offered, how long it took."""

    query = models.TextField()
    # {exception_type, message, failing_line} where the query was an error
    error = models.JSONField(null=True)
    filters = models.JSONField(default=dict)
    sandbox = models.CharField(max_length=20, blank=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, null=True, related_name="recalls")
    user = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    key = models.ForeignKey(ApiKey, on_delete=models.SET_NULL, null=True, related_name="+")
    no_match = models.BooleanField()
    # Estimated tokens of the packed block
    tokens = models.PositiveIntegerField(default=0)
    embedding_model = models.CharField(max_length=80, blank=True)
    milliseconds = models.FloatField()
    outcome = models.CharField(max_length=16, choices=Evidence.Outcome, blank=True)
    outcome_at = models.DateTimeField(null=True)

    class Meta(OwnedByProject.Meta):
        ordering = ["-id"]


class RecallItem(OwnedByProject):
    """One thing that a recall offered: at which rank, with which score, and why; later whether it was used."""

    recall = models.ForeignKey(Recall, on_delete=models.CASCADE, related_name="items")
    rank = models.PositiveSmallIntegerField()
    score = models.FloatField()
    # {"words": …, "trigrams": …, "vector": …, "worth": …}, each 0..1
    score_parts = models.JSONField(default=dict)
    reason = models.TextField()
    solution = models.ForeignKey(Solution, on_delete=models.CASCADE, null=True, related_name="recalled")
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, null=True, related_name="recalled")
    lesson = models.ForeignKey(Lesson, on_delete=models.CASCADE, null=True, related_name="recalled")
    # The two signals as they stood when it was offered
    status = models.CharField(max_length=12, blank=True)
    verification = models.CharField(max_length=12, blank=True)
    used = models.BooleanField(null=True)
    outcome = models.CharField(max_length=16, choices=Evidence.Outcome, blank=True)

    class Meta(OwnedByProject.Meta):
        ordering = ["rank"]
        constraints = [models.UniqueConstraint(fields=["recall", "rank"], name="recall_item_rank_once")]

"""The search index, and the record of what was recalled and what became of it."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from pgvector.django import HalfVectorField, HnswIndex

from memory_hub.access.models import ApiKey, User
from memory_hub.access.ownership import OwnedByProject
from memory_hub.common.clock import now
from memory_hub.library.models import Evidence, Lesson, Revision, Solution
from memory_hub.runs.models import Run

EMBEDDING_DIMENSIONS = 384


class IndexKind(models.TextChoices):
    """What an entry of the index is about."""

    SOLUTION = "solution"
    LESSON = "lesson"


class IndexEntry(OwnedByProject):
    """What search knows of a solution or a lesson: its terms, and the text that a question is compared with."""

    solution = models.OneToOneField(Solution, on_delete=models.CASCADE, null=True, related_name="index_entry")
    lesson = models.OneToOneField(Lesson, on_delete=models.CASCADE, null=True, related_name="index_entry")
    # What is the same problem word for word: the problem, or class and message of an error.
    statement = models.TextField()
    # The title where it says something else than the problem; the failing line of an error.
    heading = models.TextField(blank=True, db_default="")
    # Terms (tokens.terms) of heading and statement, and one lexeme that names kind and project (candidates.scope).
    words = SearchVectorField()
    # Terms of what stands aside: when it applies, edge cases, tags, names, code.
    aside = SearchVectorField(null=True)
    # Libraries that the code of the standing revision imports (code_facts.imported_libraries); null until indexed anew.
    imports = ArrayField(models.CharField(max_length=100), null=True)
    indexed_at = models.DateTimeField()

    class Meta(OwnedByProject.Meta):
        indexes = [
            GinIndex(fields=["words"], name="index_entry_words"),
            GinIndex(fields=["aside"], name="index_entry_aside"),
            models.Index(fields=["project", "indexed_at"], name="index_entry_since"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(solution__isnull=False, lesson__isnull=True)
                | models.Q(solution__isnull=True, lesson__isnull=False),
                name="index_entry_of_one_thing",
            )
        ]


class Term(OwnedByProject):
    """A word that entries of a project have, and in how many: what makes a word rare, and which one a typo meant.

    A term is there from the moment something with it is indexed; the numbers are counted again by a task. The empty
    term has the number of all entries, and when they were counted.
    """

    kind = models.CharField(max_length=8, choices=IndexKind)
    term = models.CharField(max_length=60, blank=True)
    # Entries that have it in their words, and in what stands aside
    documents = models.PositiveIntegerField(default=0)
    aside_documents = models.PositiveIntegerField(default=0)
    counted_at = models.DateTimeField(null=True)

    class Meta(OwnedByProject.Meta):
        constraints = [models.UniqueConstraint(fields=["project", "kind", "term"], name="term_once")]
        indexes = [GinIndex(fields=["term"], opclasses=["gin_trgm_ops"], name="term_letters")]


class EmbeddingModel(models.Model):
    """An embedding model of this hub: whether it serves, and below which score it has nothing that fits.

    The model with the empty id is none at all: words alone.
    """

    class State(models.TextChoices):
        FILLING = "filling"
        SERVING = "serving"
        RETIRED = "retired"

    model_id = models.CharField(max_length=80, primary_key=True)
    state = models.CharField(max_length=8, choices=State, default=State.FILLING)
    # From calibrate_recall; null: the value that was measured for this release (fusion.json).
    no_match_below = models.FloatField(null=True)
    measured = models.JSONField(default=dict)
    changed_at = models.DateTimeField(default=now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["state"], condition=models.Q(state="serving"), name="one_embedding_model_serves"
            )
        ]


class Embedding(OwnedByProject):
    """One vector of one entry under one model. Vectors of different models are never compared."""

    entry = models.ForeignKey(IndexEntry, on_delete=models.CASCADE, related_name="embeddings")
    kind = models.CharField(max_length=8, choices=IndexKind, db_default=IndexKind.SOLUTION)
    model_id = models.CharField(max_length=80)
    # Unit length, so that the inner product is the cosine.
    vector = HalfVectorField(dimensions=EMBEDDING_DIMENSIONS)

    class Meta(OwnedByProject.Meta):
        constraints = [models.UniqueConstraint(fields=["entry", "model_id"], name="embedding_once_per_model")]
        indexes = [
            # A search in a small project reads these rows alone; in a large one it walks the graph.
            models.Index(fields=["project", "model_id", "kind"], name="embedding_of_project"),
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


class Gap(OwnedByProject):
    """Something that was asked and that the project has no answer to, until somebody closes it."""

    class State(models.TextChoices):
        OPEN = "open"
        CLOSED = "closed"
        DISMISSED = "dismissed"

    question = models.TextField(blank=True)
    # {name: [value]} of query_words, as they stood beside the question
    filters = models.JSONField(default=dict)
    # SHA-256 of question and filters, however spaced and capitalised: the same question counts up.
    question_hash = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    asked_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    times = models.PositiveIntegerField(default=1)
    last_asked_at = models.DateTimeField(default=now)
    # What answers it now, where it was closed with that.
    solution = models.ForeignKey(Solution, on_delete=models.SET_NULL, null=True, related_name="+")
    closed_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    closed_at = models.DateTimeField(null=True)
    note = models.TextField(blank=True)

    class Meta(OwnedByProject.Meta):
        ordering = ["-last_asked_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "question_hash"], condition=models.Q(state="open"), name="gap_open_once"
            )
        ]
        indexes = [models.Index(fields=["project", "state", "-last_asked_at"], name="gap_of_project")]

    def __str__(self) -> str:
        return self.question[:80] or "a question of filters alone"


class GapAsker(OwnedByProject):
    """One person who asked what a gap asks; each once."""

    gap = models.ForeignKey(Gap, on_delete=models.CASCADE, related_name="askers")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")

    class Meta(OwnedByProject.Meta):
        constraints = [models.UniqueConstraint(fields=["gap", "user"], name="gap_asker_once")]

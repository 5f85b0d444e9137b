"""Writes of the recall room: upkeep of the index, recalls, and what became of them."""

from memory_hub.recall.values import (
    CallableItem,
    ErrorDetails,
    FoundLesson,
    OfferedItem,
    RecallAnswer,
    RecallRequest,
)

from .embedding_models import Progress, fill_embeddings, keep_calibration
from .gaps import gap_close, gap_dismiss, gap_record
from .index import index_lesson, index_solution
from .lessons import lookup_error, recall_lessons
from .near_duplicates import propose_near_duplicates
from .outcomes import recall_outcome
from .recalls import recall_make
from .vocabulary import count_terms, projects_to_count

__all__ = [
    "CallableItem",
    "ErrorDetails",
    "FoundLesson",
    "OfferedItem",
    "Progress",
    "RecallAnswer",
    "RecallRequest",
    "count_terms",
    "fill_embeddings",
    "gap_close",
    "gap_dismiss",
    "gap_record",
    "index_lesson",
    "index_solution",
    "keep_calibration",
    "lookup_error",
    "projects_to_count",
    "propose_near_duplicates",
    "recall_lessons",
    "recall_make",
    "recall_outcome",
]  # fmt: skip

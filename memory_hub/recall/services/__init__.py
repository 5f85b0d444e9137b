"""Writes of the recall room: upkeep of the index, recalls, and what became of them."""

from memory_hub.recall.values import (
    CallableItem,
    ErrorDetails,
    FoundLesson,
    OfferedItem,
    RecallAnswer,
    RecallRequest,
)

from .index import index_lesson, index_solution
from .lessons import lookup_error, recall_lessons
from .outcomes import recall_outcome
from .recalls import recall_make

__all__ = [
    "CallableItem", "ErrorDetails", "FoundLesson", "OfferedItem", "RecallAnswer", "RecallRequest",
    "index_lesson", "index_solution", "lookup_error", "recall_lessons", "recall_make", "recall_outcome",
]  # fmt: skip

"""The columns of this room that Django has not."""

from memory_hub.common.fields import ExactJSONField

__all__ = ["ExactJSONField"]

"""Columns that more than one room uses."""

import json
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.types.json import Json


class ExactJSONField(models.JSONField):
    """Stored as `json`, not `jsonb`, which sorts keys, drops repeated ones and refuses NUL in strings.

    A recorded call is replayed with what is stored, and the order of a dictionary's keys may decide the result. Such a
    column can be read, written and compared with NULL, and nothing more.
    """

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return "json"

    def get_db_prep_value(self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False) -> Any:
        return None if value is None else Json(value)

    def get_db_prep_save(self, value: Any, connection: BaseDatabaseWrapper) -> Any:
        return self.get_db_prep_value(value, connection)

    def from_db_value(self, value: Any, expression: Any, connection: BaseDatabaseWrapper) -> Any:
        return json.loads(value) if isinstance(value, str) else value

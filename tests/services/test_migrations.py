"""Every migration goes back as well as forward, in a database of its own, as the owner's role."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.databases import drop_database, remake_database

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ["api", "review", "recall", "library", "runs", "access", "audit"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(500)]


@pytest.fixture
def database() -> Iterator[str]:
    """The URL of an empty database of hub_owner's."""
    name = f"migrations_{os.getpid()}"
    with psycopg.connect(settings.MIGRATE_DATABASE_URL, autocommit=True) as connection:
        remake_database(connection, name)
    parts = conninfo_to_dict(settings.MIGRATE_DATABASE_URL)
    yield make_conninfo(**{**parts, "dbname": name})
    with psycopg.connect(settings.MIGRATE_DATABASE_URL, autocommit=True) as connection:
        drop_database(connection, name)


def migrate(database: str, *arguments: str) -> None:
    environment = os.environ | {"MIGRATE_DATABASE_URL": database, "HUB_DATABASE_ROLE": "owner"}
    command = [sys.executable, "manage.py", "migrate", "--no-input", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def objects(database: str) -> tuple[int, int, int]:
    """Count our tables, our functions and the row-level policies."""
    ours = "'audit', 'access', 'runs', 'library', 'recall', 'review', 'api'"
    with psycopg.connect(database) as connection:
        row = connection.execute(
            f"""
            SELECT (SELECT count(*) FROM pg_tables WHERE split_part(tablename, '_', 1) IN ({ours})),
                   (SELECT count(*) FROM pg_proc p WHERE p.proname ~ '^(hub_|recall_|audit_)'),
                   (SELECT count(*) FROM pg_policies)
            """
        ).fetchone()
    assert row is not None
    return row


def test_back_to_nothing_and_forward_again(database: str) -> None:
    migrate(database)
    made = objects(database)
    assert min(made) > 0
    for room in ROOMS:
        migrate(database, room, "zero")
    assert objects(database) == (0, 0, 0)
    migrate(database)
    assert objects(database) == made

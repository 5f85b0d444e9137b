"""The ground of all tests: a database migrated by its owner and used by the application's role, and the cast."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from tests.cast import Cast, make_cast
from tests.databases import drop_database, remake_database

# How long an example takes says how busy the machine is, and nothing of the code.
hypothesis_settings.register_profile("hub", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("hub")


@pytest.fixture(scope="session")
def django_db_setup(django_db_blocker: Any) -> Iterator[None]:
    """Make the test database as hub_owner, so that tests run as hub_app, under row-level security, as in production.

    Committing tests (transaction=True) are cleaned by the owner: the application may not truncate.
    """
    name = f"test_hub_{os.getpid()}"
    owner_url = settings.MIGRATE_DATABASE_URL
    with psycopg.connect(owner_url, autocommit=True) as connection:
        remake_database(connection, name)
    os.environ["HUB_TEST_DATABASE"] = name
    with django_db_blocker.unblock():
        application = connections["default"]
        application.close()
        as_app = dict(application.settings_dict)
        application.settings_dict.update(_owner_settings(as_app, name))
        call_command("migrate", verbosity=0, interactive=False)
        application.close()
        _close_pool(application)
        application.settings_dict.clear()
        application.settings_dict.update({**as_app, "NAME": name})
    yield
    with django_db_blocker.unblock():
        connections["default"].close()
        _close_pool(connections["default"])
    with psycopg.connect(owner_url, autocommit=True) as connection:
        drop_database(connection, name)


def _owner_settings(app: dict[str, Any], name: str) -> dict[str, Any]:
    from memory_hub.settings import _database

    return {**app, **_database(settings.MIGRATE_DATABASE_URL), "NAME": name}


def _close_pool(connection: Any) -> None:
    if connection.settings_dict["OPTIONS"].get("pool"):
        connection.close_pool()


@pytest.fixture
def owner_connection() -> Iterator[psycopg.Connection[Any]]:
    """A connection as hub_owner to the test database, outside of the test's transaction."""
    with psycopg.connect(settings.MIGRATE_DATABASE_URL, dbname=os.environ["HUB_TEST_DATABASE"]) as connection:
        yield connection


@pytest.fixture
def owner_role(transactional_db: None) -> Iterator[None]:
    """Let the test's own connection be hub_owner's, as in bin/manage and housekeeping."""
    connection = connections["default"]
    as_app = dict(connection.settings_dict)
    connection.close()
    _close_pool(connection)
    connection.settings_dict.update(_owner_settings(as_app, as_app["NAME"]))
    yield
    connection.close()
    _close_pool(connection)
    connection.settings_dict.clear()
    connection.settings_dict.update(as_app)


@pytest.fixture(autouse=True)
def _clean_after_committing_tests(request: pytest.FixtureRequest) -> Iterator[None]:
    """Empty every table as the owner after a test that commits; Django's own flush runs as the application."""
    marker = request.node.get_closest_marker("django_db")
    committing = bool(marker and marker.kwargs.get("transaction")) or bool(
        {"transactional_db", "live_server", "live_hub"} & set(request.fixturenames)
    )
    if committing:
        from django.test import TransactionTestCase

        TransactionTestCase._fixture_teardown = lambda self: None  # type: ignore[method-assign]
    yield
    if committing:
        with psycopg.connect(
            settings.MIGRATE_DATABASE_URL, dbname=os.environ["HUB_TEST_DATABASE"]
        ) as connection:
            tables = connection.execute(
                "SELECT string_agg(format('%I', tablename), ', ') FROM pg_tables "
                "WHERE schemaname = 'public' AND tablename NOT IN ('django_migrations', 'django_content_type')"
            ).fetchone()
            assert tables is not None
            connection.execute(f"TRUNCATE {tables[0]} CASCADE")


@pytest.fixture(autouse=True)
def _own_files(settings: Any) -> Iterator[None]:
    """Give each test its own folder for uploaded files."""
    folder = Path(tempfile.mkdtemp(prefix="hub-test-files-"))
    settings.MEDIA_ROOT = folder
    yield
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def _fast_passwords(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def cast(db: None) -> Cast:
    """alice (owner), bob, rita, vera (one project, each role), carol (another project), mallory (another team)."""
    return make_cast()


@pytest.fixture
def committed_cast(transactional_db: None) -> Cast:
    """The same people, committed, for tests with several connections, workers or a live server."""
    return make_cast()

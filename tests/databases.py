"""Databases that live as long as a test run."""

from typing import Any

import psycopg
from psycopg import sql


def remake_database(connection: psycopg.Connection[Any], name: str) -> None:
    """Make the database `name` anew, empty."""
    drop_database(connection, name)
    connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


def drop_database(connection: psycopg.Connection[Any], name: str) -> None:
    """Drop a database, and whoever of our two roles is still connected to it.

    DROP DATABASE … WITH (FORCE) does not do here: it is refused whenever autovacuum is at work in the database, since
    only a superuser may end that; the plain DROP asks autovacuum to leave and waits for it.
    """
    connection.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE datname = %s AND pid <> pg_backend_pid() AND pg_has_role(current_user, usesysid, 'USAGE')",
        [name],
    )
    connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))

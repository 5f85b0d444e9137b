"""Row-level security: the SQL functions that read the acting person from the transaction, and policy helpers.

`access.actor.acting_as` sets four transaction-local settings. A policy compares a row with them, so a query that
forgot its filter returns nothing. The helpers below return reversible migration operations.
"""

from django.db import migrations

SETTINGS = ("hub.system", "hub.user_id", "hub.team_ids", "hub.project_ids")

_FUNCTIONS = """
CREATE FUNCTION hub_is_system() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT coalesce(current_setting('hub.system', true), '') = 'on' $$;
CREATE FUNCTION hub_user_id() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('hub.user_id', true), '')::uuid $$;
CREATE FUNCTION hub_team_ids() RETURNS uuid[] LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT coalesce(nullif(current_setting('hub.team_ids', true), ''), '{}')::uuid[] $$;
CREATE FUNCTION hub_project_ids() RETURNS uuid[] LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT coalesce(nullif(current_setting('hub.project_ids', true), ''), '{}')::uuid[] $$;
"""
_DROP_FUNCTIONS = """
DROP FUNCTION hub_project_ids(); DROP FUNCTION hub_team_ids();
DROP FUNCTION hub_user_id(); DROP FUNCTION hub_is_system();
"""

# The sub-selects make PostgreSQL evaluate each function once per query, not once per row.
IN_MY_PROJECTS = "project_id = ANY ((SELECT hub_project_ids())::uuid[])"
IN_MY_TEAMS = "team_id = ANY ((SELECT hub_team_ids())::uuid[])"
IS_ME = "user_id = (SELECT hub_user_id())"


def create_functions() -> migrations.RunSQL:
    """Return the operation that makes the functions the policies use."""
    return migrations.RunSQL(_FUNCTIONS, _DROP_FUNCTIONS)


def enable(table: str, condition: str, *, check: str | None = None) -> migrations.RunSQL:
    """Return the operation that lets a row of `table` be reached only where `condition` holds, or by the system.

    `check` is the condition for rows being written; the same as for reading unless given.
    """
    written = check or condition
    return migrations.RunSQL(
        f"""
        ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
        CREATE POLICY {table}_actor ON {table}
            USING ((SELECT hub_is_system()) OR {condition})
            WITH CHECK ((SELECT hub_is_system()) OR {written});
        """,
        f"DROP POLICY {table}_actor ON {table}; ALTER TABLE {table} DISABLE ROW LEVEL SECURITY;",
    )


def append_only(table: str) -> migrations.RunSQL:
    """Return the operation that makes the database refuse to change or remove rows of `table`."""
    return migrations.RunSQL(
        f"""
        CREATE FUNCTION {table}_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'insufficient_privilege';
        END $$;
        CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table}
            FOR EACH ROW EXECUTE FUNCTION {table}_refuse();
        """,
        f"DROP TRIGGER {table}_append_only ON {table}; DROP FUNCTION {table}_refuse();",
    )

"""What hub_app may do: read and write rows, never change tables, never rewrite the audit trail."""

from django.conf import settings
from django.db import connections

# What the application's role may not do to these tables: the trail is only ever added to, and sealed by the owner.
FORBIDDEN = {
    "audit_auditentry": "UPDATE, DELETE, TRUNCATE",
    "audit_auditdetail": "UPDATE, DELETE, TRUNCATE",
    "audit_auditseal": "INSERT, UPDATE, DELETE, TRUNCATE",
    "django_migrations": "INSERT, UPDATE, DELETE, TRUNCATE",
}


def grant(using: str = "default") -> None:
    """Grant hub_app its rights on every table there is now; does nothing where one role does both jobs."""
    connection = connections[using]
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        owner = cursor.fetchone()[0]
        application = settings.APP_DATABASE_USER
        if owner == application:
            return
        quoted = connection.ops.quote_name(application)
        cursor.execute(f"GRANT USAGE ON SCHEMA public TO {quoted}")
        cursor.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {quoted}")
        cursor.execute(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {quoted}")
        cursor.execute(f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO {quoted}")
        there = set(connection.introspection.table_names(cursor))  # going back, rooms above may be gone
        for table, rights in FORBIDDEN.items():
            if table in there:
                cursor.execute(f"REVOKE {rights} ON {table} FROM {quoted}")

"""What hub_app may do: read and write rows, never change tables, never rewrite the audit trail."""

from django.conf import settings
from django.db import connections

APPEND_ONLY = ("audit_auditentry", "audit_auditdetail", "audit_auditseal")


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
        for table in APPEND_ONLY:
            cursor.execute(f"REVOKE UPDATE, DELETE, TRUNCATE ON {table} FROM {quoted}")
        cursor.execute(f"REVOKE INSERT, UPDATE, DELETE ON django_migrations, audit_auditseal FROM {quoted}")

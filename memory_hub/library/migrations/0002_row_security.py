from django.db import migrations

from memory_hub.common.row_security import IN_MY_PROJECTS, enable

TABLES = (
    "library_solution",
    "library_revision",
    "library_checkinput",
    "library_lesson",
    "library_evidence",
    "library_link",
)


class Migration(migrations.Migration):
    dependencies = [("library", "0001_initial"), ("audit", "0002_row_security")]

    operations = [enable(table, IN_MY_PROJECTS) for table in TABLES]

from django.db import migrations

from memory_hub.common.row_security import IN_MY_PROJECTS, enable

TABLES = ("api_idempotentanswer",)


class Migration(migrations.Migration):
    dependencies = [("api", "0001_initial"), ("audit", "0002_row_security")]

    operations = [enable(table, IN_MY_PROJECTS) for table in TABLES]

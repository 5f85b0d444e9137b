from django.db import migrations

from memory_hub.common.row_security import IN_MY_PROJECTS, IN_MY_TEAMS, append_only, create_functions, enable

# Anybody's deed may be recorded, whoever may read it later.
MINE = f"({IN_MY_PROJECTS} OR (project_id IS NULL AND {IN_MY_TEAMS}))"


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]

    operations = [
        create_functions(),
        enable("audit_auditentry", MINE, check="true"),
        enable("audit_auditdetail", MINE, check="true"),
        append_only("audit_auditentry"),
        append_only("audit_auditseal"),
    ]

from django.db import migrations

from memory_hub.common.row_security import IN_MY_PROJECTS, IN_MY_TEAMS, IS_ME, enable


class Migration(migrations.Migration):
    dependencies = [("access", "0001_initial"), ("audit", "0002_row_security")]

    operations = [
        enable("access_team", "id = ANY ((SELECT hub_team_ids())::uuid[])"),
        enable("access_teammembership", f"({IN_MY_TEAMS} OR {IS_ME})"),
        enable("access_project", "id = ANY ((SELECT hub_project_ids())::uuid[])"),
        enable("access_projectmembership", f"({IN_MY_PROJECTS} OR {IS_ME})"),
        enable("access_invitation", IN_MY_PROJECTS),
        enable("access_apikey", IN_MY_PROJECTS),
    ]

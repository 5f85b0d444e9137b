from django.db import migrations

from memory_hub.common.row_security import IN_MY_PROJECTS, enable

# Entries that were indexed before do not know what their code imports; the sweep indexes them anew, a batch at a time.
AGAIN = "UPDATE library_solution SET needs_index = true"


class Migration(migrations.Migration):
    dependencies = [("recall", "0006_gaps")]

    operations = [
        enable("recall_gap", IN_MY_PROJECTS),
        enable("recall_gapasker", IN_MY_PROJECTS),
        migrations.RunSQL(AGAIN, migrations.RunSQL.noop),
    ]

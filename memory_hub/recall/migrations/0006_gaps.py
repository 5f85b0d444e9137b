import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import memory_hub.common.clock
import memory_hub.common.ids


class Migration(migrations.Migration):
    dependencies = [
        ("access", "0002_row_security"),
        ("library", "0004_identities"),
        ("recall", "0005_search"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="indexentry",
            name="imports",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=100), null=True, size=None
            ),
        ),
        migrations.CreateModel(
            name="Gap",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=memory_hub.common.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created_at", models.DateTimeField(default=memory_hub.common.clock.now, editable=False)),
                ("question", models.TextField(blank=True)),
                ("filters", models.JSONField(default=dict)),
                ("question_hash", models.CharField(max_length=64)),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("closed", "Closed"), ("dismissed", "Dismissed")],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("times", models.PositiveIntegerField(default=1)),
                ("last_asked_at", models.DateTimeField(default=memory_hub.common.clock.now)),
                ("closed_at", models.DateTimeField(null=True)),
                ("note", models.TextField(blank=True)),
                (
                    "asked_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "closed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="access.project"
                    ),
                ),
                (
                    "solution",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="library.solution",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="access.team"
                    ),
                ),
            ],
            options={
                "ordering": ["-last_asked_at", "-id"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="GapAsker",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=memory_hub.common.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created_at", models.DateTimeField(default=memory_hub.common.clock.now, editable=False)),
                (
                    "gap",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="askers", to="recall.gap"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="access.project"
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="access.team"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddIndex(
            model_name="gap",
            index=models.Index(fields=["project", "state", "-last_asked_at"], name="gap_of_project"),
        ),
        migrations.AddConstraint(
            model_name="gap",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "open")),
                fields=("project", "question_hash"),
                name="gap_open_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="gapasker",
            constraint=models.UniqueConstraint(fields=("gap", "user"), name="gap_asker_once"),
        ),
    ]

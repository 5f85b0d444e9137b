"""Columns for what makes two programs and two problems the same, why a link was drawn, and proposals to merge.

The columns have a default in the database, so that processes of the version before may go on writing meanwhile;
what they write is empty and is filled in by the sweep. The next migration fills in what is there.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import memory_hub.common.clock
import memory_hub.common.ids
from memory_hub.common.row_security import IN_MY_PROJECTS, enable


def _person() -> models.ForeignKey:
    return models.ForeignKey(
        null=True,
        on_delete=django.db.models.deletion.SET_NULL,
        related_name="+",
        to=settings.AUTH_USER_MODEL,
    )


def _owned(to: str) -> models.ForeignKey:
    return models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to=to)


class Migration(migrations.Migration):
    dependencies = [
        ("access", "0002_row_security"),
        ("audit", "0002_row_security"),
        ("library", "0002_row_security"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="link",
            name="reason",
            field=models.CharField(blank=True, db_default="", default="", max_length=200),
        ),
        migrations.AddField(
            model_name="revision",
            name="ast_hash",
            field=models.CharField(db_default="", default="", editable=False, max_length=64),
        ),
        migrations.AddField(
            model_name="solution",
            name="problem_hash",
            field=models.CharField(db_default="", default="", editable=False, max_length=64),
        ),
        migrations.CreateModel(
            name="MergeProposal",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=memory_hub.common.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created_at", models.DateTimeField(default=memory_hub.common.clock.now, editable=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("near_duplicate", "Almost the same"),
                            ("conflict", "One fails where the other works"),
                            ("asked", "Somebody asks for it"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("accepted", "Accepted"), ("declined", "Declined")],
                        default="open",
                        max_length=12,
                    ),
                ),
                ("detail", models.JSONField(blank=True, default=dict)),
                ("note", models.TextField(blank=True)),
                ("decided_at", models.DateTimeField(null=True)),
                ("decision_note", models.TextField(blank=True)),
                ("decided_by", _person()),
                ("proposed_by", _person()),
                ("project", _owned("access.project")),
                ("team", _owned("access.team")),
                ("one", _owned("library.solution")),
                ("two", _owned("library.solution")),
                (
                    "survivor",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="library.solution",
                    ),
                ),
            ],
            options={"ordering": ["id"], "abstract": False},
        ),
        migrations.AddIndex(
            model_name="mergeproposal",
            index=models.Index(
                condition=models.Q(("state", "open")), fields=["project", "id"], name="merge_proposal_open"
            ),
        ),
        migrations.AddConstraint(
            model_name="mergeproposal",
            constraint=models.UniqueConstraint(fields=("one", "two"), name="merge_proposal_once_per_pair"),
        ),
        enable("library_mergeproposal", IN_MY_PROJECTS),
    ]

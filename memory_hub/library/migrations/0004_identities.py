"""Fill in what makes two programs and two problems the same, and index it; nothing waits meanwhile.

Not in one transaction: indexes are built concurrently, and each batch of rows is committed by itself.
"""

from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

from memory_hub.library.code_identity import ast_hash, problem_hash

_BATCH = 500


def fill(apps: Any, schema_editor: Any) -> None:
    """Compute the digests of the rows that have none, a batch at a time."""
    _fill(apps.get_model("library", "Revision"), "code", "ast_hash", ast_hash)
    _fill(apps.get_model("library", "Solution"), "problem", "problem_hash", problem_hash)


def _fill(model: Any, text: str, digest: str, compute: Any) -> None:
    last = None
    while True:
        rows = model.objects.filter(**{digest: ""}).order_by("id").only("id", text)
        batch = list((rows.filter(id__gt=last) if last else rows)[:_BATCH])
        if not batch:
            return
        for row in batch:
            setattr(row, digest, compute(getattr(row, text)))
        model.objects.bulk_update(batch, [digest])
        last = batch[-1].id


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("library", "0003_merge_proposals")]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
        AddIndexConcurrently(
            model_name="revision", index=models.Index(fields=["ast_hash"], name="revision_ast_hash")
        ),
        AddIndexConcurrently(
            model_name="revision",
            index=models.Index(
                condition=models.Q(("entry_point", ""), _negated=True),
                fields=["project", "entry_point"],
                name="revision_entry_point",
            ),
        ),
        AddIndexConcurrently(
            model_name="solution", index=models.Index(fields=["problem_hash"], name="solution_problem_hash")
        ),
    ]

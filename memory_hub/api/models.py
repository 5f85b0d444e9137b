"""What makes a retry of a write harmless."""

from django.db import models

from memory_hub.access.ownership import OwnedByProject


class IdempotentAnswer(OwnedByProject):
    """The answer given to a write with an Idempotency-Key, given again to its retries for a day."""

    # The person or key that sent it: keys of different actors never meet.
    actor_id = models.UUIDField()
    key = models.CharField(max_length=128)
    # SHA-256 of method, path and body: the same key on another request is a mistake to be told.
    request_digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.JSONField(null=True)

    class Meta(OwnedByProject.Meta):
        constraints = [models.UniqueConstraint(fields=["actor_id", "key"], name="idempotency_key_once")]

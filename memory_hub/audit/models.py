"""The audit trail: append-only entries, their erasable detail, and the seals that chain them."""

from django.db import models

from memory_hub.common.ids import uuid7


class AuditEntry(models.Model):
    """Who did what to which object, when. Holds ids and digests only, so erasure never has to touch it."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    team_id = models.UUIDField(null=True, db_index=True)
    project_id = models.UUIDField(null=True, db_index=True)
    event = models.CharField(max_length=60)
    actor_kind = models.CharField(max_length=10)
    actor_id = models.UUIDField(null=True)
    # The key or run through which the person acted; null where a person acted in the browser.
    through_id = models.UUIDField(null=True)
    object_kind = models.CharField(max_length=30)
    object_id = models.UUIDField(null=True, db_index=True)
    request_id = models.CharField(max_length=64, blank=True)
    at = models.DateTimeField()
    detail_digest = models.CharField(max_length=64)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["team_id", "-id"], name="audit_entry_team_newest")]

    def __str__(self) -> str:
        return f"{self.event} {self.object_kind} {self.object_id}"


class AuditDetail(models.Model):
    """The readable part of an entry. Erasure removes it; the salted digest in the entry stays and still verifies."""

    entry = models.OneToOneField(
        AuditEntry, on_delete=models.CASCADE, primary_key=True, related_name="detail"
    )
    team_id = models.UUIDField(null=True)
    project_id = models.UUIDField(null=True)
    salt = models.CharField(max_length=32)
    actor_label = models.CharField(max_length=200)
    object_label = models.CharField(max_length=200)
    data = models.JSONField(default=dict)


class AuditSeal(models.Model):
    """One link of a team's hash chain: SHA-256 over the previous digest and the sealed entry."""

    id = models.BigAutoField(primary_key=True)
    # The zero UUID chains what belongs to no team: sign-ins and the like.
    chain = models.UUIDField()
    sequence = models.PositiveBigIntegerField()
    entry_id = models.UUIDField(unique=True)
    digest = models.CharField(max_length=64)
    sealed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chain", "sequence"], name="audit_seal_one_per_place")]

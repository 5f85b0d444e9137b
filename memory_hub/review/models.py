"""Human judgement: decisions on revisions, and ratings of solutions."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from memory_hub.access.models import User
from memory_hub.access.ownership import OwnedByProject
from memory_hub.library.models import Revision, Solution


class Review(OwnedByProject):
    """One decision on one revision, with the reviewer's note. Never changed; a later one may follow it."""

    class Decision(models.TextChoices):
        APPROVE = "approve"
        REJECT = "reject"
        DEPRECATE = "deprecate"

    solution = models.ForeignKey(Solution, on_delete=models.CASCADE, related_name="reviews")
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="reviews")
    reviewer = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    decision = models.CharField(max_length=12, choices=Decision)
    note = models.TextField(blank=True)
    # The project allowed the author to decide on their own work.
    is_own_work = models.BooleanField(default=False)

    class Meta(OwnedByProject.Meta):
        ordering = ["-id"]


class Rating(OwnedByProject):
    """A person's stars for a solution: one per person, changed in place; the evidence keeps the history."""

    solution = models.ForeignKey(Solution, on_delete=models.CASCADE, related_name="ratings")
    # The revision that was served when the person rated.
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    stars = models.PositiveSmallIntegerField(validators=[MinValueValidator(1), MaxValueValidator(5)])
    note = models.TextField(blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(OwnedByProject.Meta):
        constraints = [
            models.UniqueConstraint(fields=["solution", "user"], name="rating_once_per_person"),
            models.CheckConstraint(condition=models.Q(stars__range=(1, 5)), name="rating_one_to_five"),
        ]

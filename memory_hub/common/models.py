"""Abstract bases. No table is made from here."""

from typing import Protocol, Self, TypeVar
from uuid import UUID

from django.db import models

from .clock import now
from .ids import uuid7


class SeesProjects(Protocol):
    """What visible_to needs to know of an actor."""

    @property
    def is_system(self) -> bool: ...
    @property
    def project_ids(self) -> list[UUID]: ...


# Generic, so that the type checker knows of each model's rows what they are.
_Row = TypeVar("_Row", bound=models.Model, covariant=True)


class ProjectRowQuerySet(models.QuerySet[_Row]):
    """Rows that belong to a project."""

    def visible_to(self, actor: SeesProjects) -> Self:
        """Return the rows of the projects in which the actor has any role."""
        return self if actor.is_system else self.filter(project_id__in=actor.project_ids)


class ProjectRow(models.Model):
    """A row of one project; `team` and `project` are what its row-level policy compares.

    Subclasses define the two foreign keys, since this room stands below the one that has teams and projects.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_at = models.DateTimeField(default=now, editable=False)

    objects = ProjectRowQuerySet.as_manager()

    class Meta:
        abstract = True

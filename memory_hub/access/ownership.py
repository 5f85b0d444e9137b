"""The base of every model that a project owns."""

from django.db import models

from memory_hub.common.models import ProjectRow

from .models import Project, Team


class OwnedByProject(ProjectRow):
    """A row of one project. `objects.visible_to(actor)` is the only way pages, REST and workers read it."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")

    class Meta(ProjectRow.Meta):
        abstract = True

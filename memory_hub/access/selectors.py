"""Reads of the access room."""

from uuid import UUID

from django.db.models import QuerySet

from memory_hub.audit.models import AuditEntry
from memory_hub.audit.selectors import entries_of_projects
from memory_hub.common.errors import NotFound

from .actor import Actor
from .models import ApiKey, Invitation, Project, ProjectMembership, Team, User
from .permissions import Permission
from .policy import can_in_team, require


def project_get(actor: Actor, team_slug: str, project_slug: str) -> Project:
    """Return the project at team/project. Raises NotFound for what the actor cannot see."""
    project = (
        Project.objects.visible_to(actor)
        .select_related("team")
        .filter(team__slug=team_slug, slug=project_slug)
        .first()
    )
    if project is None:
        raise NotFound
    return project


def my_projects(actor: Actor) -> QuerySet[Project]:
    """Return the projects the actor can see, by team and name."""
    return Project.objects.visible_to(actor).select_related("team").order_by("team__name", "name")


def members(actor: Actor, project: Project) -> QuerySet[ProjectMembership]:
    """Return a project's members with the people, by name."""
    return (
        ProjectMembership.objects.visible_to(actor)
        .filter(project=project)
        .select_related("user")
        .order_by("user__name")
    )


def invitations(actor: Actor, project: Project) -> QuerySet[Invitation]:
    """Return a project's invitations, newest first."""
    return (
        Invitation.objects.visible_to(actor)
        .filter(project=project)
        .select_related("created_by", "accepted_by")
    )


def keys(actor: Actor, project: Project) -> QuerySet[ApiKey]:
    """Return the keys of a project that the actor may see: their own, and all for a maintainer."""
    return ApiKey.objects.visible_to(actor).filter(project=project).select_related("owner")


def audit_trail(actor: Actor, project: Project) -> QuerySet[AuditEntry]:
    """Return a project's audit entries, newest first. Needs audit:read."""
    require(actor, Permission.AUDIT_READ, project)
    return entries_of_projects([project.id])


def people_by_id(ids: set[UUID]) -> dict[UUID, User]:
    """Return the people with these ids."""
    return User.objects.in_bulk(list(ids))


def team_get(actor: Actor, slug: str) -> Team:
    """Return a team the actor belongs to. Raises NotFound."""
    found = Team.objects.filter(id__in=actor.team_ids, slug=slug).first()
    if found is None:
        raise NotFound
    return found


def administered_teams(actor: Actor) -> list[Team]:
    """Return the teams in which the actor may make projects, by name."""
    teams = Team.objects.filter(id__in=actor.team_ids).order_by("name")
    return [team for team in teams if can_in_team(actor, Permission.TEAM_MANAGE, team.id)]


def member_get(actor: Actor, project: Project, membership_id: UUID) -> ProjectMembership:
    """Return a membership of the project. Raises NotFound."""
    found = members(actor, project).select_related("project__team").filter(id=membership_id).first()
    if found is None:
        raise NotFound
    return found


def invitation_get(actor: Actor, project: Project, invitation_id: UUID) -> Invitation:
    """Return an invitation of the project. Raises NotFound."""
    found = invitations(actor, project).filter(id=invitation_id).first()
    if found is None:
        raise NotFound
    return found


def key_get(actor: Actor, project: Project, key_id: UUID) -> ApiKey:
    """Return a key of the project that the actor may see. Raises NotFound."""
    found = keys(actor, project).filter(id=key_id).first()
    if found is None:
        raise NotFound
    return found

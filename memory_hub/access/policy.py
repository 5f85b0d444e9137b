"""The only place that answers "may X do Y", and that works out an actor's rights from the rows of the moment."""

from collections.abc import Iterable
from types import MappingProxyType
from typing import Protocol
from uuid import UUID

from django.db import connection

from memory_hub.common.errors import PermissionDenied

from .actor import Actor, ActorKind, as_system
from .models import ApiKey, Project, ProjectMembership, TeamMembership, User
from .permissions import PROJECT_PERMISSIONS, TEAM_PERMISSIONS, Permission, Role, Scope, TeamRole


class InProject(Protocol):
    """Anything that belongs to a project."""

    @property
    def project_id(self) -> UUID: ...


def can(actor: Actor, permission: Permission, where: Project | InProject | UUID) -> bool:
    """Say whether the actor may do this in the project that `where` is, belongs to, or identifies."""
    if actor.is_system:
        return True
    least_role, scope = PROJECT_PERMISSIONS[permission]
    role = actor.project_roles.get(_project_id(where))
    return (
        role is not None and role.rank >= least_role.rank and (actor.scopes is None or scope in actor.scopes)
    )


def require(actor: Actor, permission: Permission, where: Project | InProject | UUID) -> None:
    """Raise PermissionDenied, naming the role or scope that is missing, unless can()."""
    if can(actor, permission, where):
        return
    least_role, scope = PROJECT_PERMISSIONS[permission]
    if actor.scopes is not None and scope not in actor.scopes:
        raise PermissionDenied(f"This needs the scope “{scope.value}”.", permission=permission.value)
    raise PermissionDenied(
        f"This needs the role {least_role.value} in the project.", permission=permission.value
    )


def can_in_team(actor: Actor, permission: Permission, team_id: UUID) -> bool:
    """Say whether the actor may do this in the team."""
    if actor.is_system:
        return True
    least_role, scope = TEAM_PERMISSIONS[permission]
    role = actor.team_roles.get(team_id)
    return (
        role is not None and role.rank >= least_role.rank and (actor.scopes is None or scope in actor.scopes)
    )


def require_in_team(actor: Actor, permission: Permission, team_id: UUID) -> None:
    """Raise PermissionDenied unless can_in_team()."""
    if not can_in_team(actor, permission, team_id):
        least_role, _ = TEAM_PERMISSIONS[permission]
        raise PermissionDenied(
            f"This needs the role {least_role.value} in the team.", permission=permission.value
        )


def role_in(actor: Actor, where: Project | InProject | UUID) -> Role | None:
    """Return the actor's effective role in a project."""
    return Role.MAINTAINER if actor.is_system else actor.project_roles.get(_project_id(where))


def actor_for_user(user: User) -> Actor:
    """Return the person as an actor, with the rights they have now; no rights once deactivated."""
    project_roles, team_roles = _rights_of(user) if user.is_active else ({}, {})
    return Actor(
        kind=ActorKind.PERSON,
        label=user.name,
        user_id=user.id,
        project_roles=MappingProxyType(project_roles),
        team_roles=MappingProxyType(team_roles),
    )


def actor_for_key(key: ApiKey) -> Actor:
    """Return a key as an actor: its owner's current rights ∩ the key's project and role ∩ its scopes."""
    return _narrowed(
        kind=ActorKind.KEY,
        owner=key.owner,
        label=f"{key.owner.name} (key {key.name})",
        through_id=key.id,
        project_id=key.project_id,
        team_id=key.team_id,
        role=Role(key.role),
        scopes=[Scope(scope) for scope in key.scopes],
    )


def actor_for_run(
    *, run_id: UUID, starter: User, team_id: UUID, project_id: UUID, role: Role, scopes: Iterable[Scope]
) -> Actor:
    """Return an agent run as an actor: its starter's current rights ∩ the role and scopes it was started with."""
    return _narrowed(
        kind=ActorKind.RUN,
        owner=starter,
        label=f"a run of {starter.name}",
        through_id=run_id,
        project_id=project_id,
        team_id=team_id,
        role=role,
        scopes=scopes,
    )


def _narrowed(
    *,
    kind: ActorKind,
    owner: User,
    label: str,
    through_id: UUID,
    project_id: UUID,
    team_id: UUID,
    role: Role,
    scopes: Iterable[Scope],
) -> Actor:
    held = _held_by(owner, team_id, project_id) if owner.is_active else None
    return Actor(
        kind=kind,
        label=label,
        user_id=owner.id,
        through_id=through_id,
        project_roles=MappingProxyType({project_id: held.at_most(role)} if held else {}),
        team_roles=MappingProxyType({team_id: TeamRole.MEMBER} if held else {}),
        scopes=frozenset(scopes),
    )


def _rights_of(user: User) -> tuple[dict[UUID, Role], dict[UUID, TeamRole]]:
    """Return (project id -> effective role, team id -> team role). A project role counts only within the team."""
    with as_system():
        team_roles = {
            team_id: TeamRole(role)
            for team_id, role in TeamMembership.objects.filter(user=user).values_list("team_id", "role")
        }
        project_roles = {
            project_id: Role(role)
            for project_id, role in ProjectMembership.objects.filter(
                user=user, team_id__in=list(team_roles)
            ).values_list("project_id", "role")
        }
        administered = [team for team, role in team_roles.items() if role.rank >= TeamRole.ADMIN.rank]
        if administered:
            for project_id in Project.objects.filter(team_id__in=administered).values_list("id", flat=True):
                project_roles[project_id] = Role.MAINTAINER
    return project_roles, team_roles


# By hand, since it comes before every call with a key.
_HELD = """
SELECT t.role, p.role FROM access_teammembership t
LEFT JOIN access_projectmembership p ON p.user_id = t.user_id AND p.project_id = %(project)s
WHERE t.user_id = %(user)s AND t.team_id = %(team)s
"""


def _held_by(user: User, team_id: UUID, project_id: UUID) -> Role | None:
    """Return the person's effective role in one project of a team, as _rights_of would, in one query."""
    with as_system(), connection.cursor() as cursor:
        cursor.execute(_HELD, {"user": user.id, "team": team_id, "project": project_id})
        row = cursor.fetchone()
    if row is None:
        return None
    team_role, project_role = row
    if TeamRole(team_role).rank >= TeamRole.ADMIN.rank:
        return Role.MAINTAINER
    return Role(project_role) if project_role else None


def _project_id(where: Project | InProject | UUID) -> UUID:
    if isinstance(where, UUID):
        return where
    return where.id if isinstance(where, Project) else where.project_id

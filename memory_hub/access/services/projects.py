"""Projects and their members."""

from django.db import IntegrityError, transaction

from memory_hub.access.actor import Actor, as_system
from memory_hub.access.models import Project, ProjectMembership, RecallPolicy, Team, TeamMembership, User
from memory_hub.access.permissions import Permission, Role, TeamRole
from memory_hub.access.policy import require, require_in_team
from memory_hub.audit.events import Event
from memory_hub.audit.services import record
from memory_hub.common.errors import Conflict, InvalidInput
from memory_hub.common.text import slugify


def project_create(
    *, actor: Actor, team: Team, name: str, slug: str = "", description: str = "", creator: User | None = None
) -> Project:
    """Make a project in a team; its creator becomes maintainer. Needs admin of the team."""
    require_in_team(actor, Permission.TEAM_MANAGE, team.id)
    slug = slugify(slug or name)
    if not slug:
        raise InvalidInput("Give the project a name with letters or digits.", fields={"name": "Give a name."})
    with as_system():  # the new project is not among the actor's yet
        try:
            with transaction.atomic():
                project = Project.objects.create(
                    team=team, name=name.strip()[:120], slug=slug, description=description.strip()
                )
        except IntegrityError:
            message = f"The team has a project “{slug}” already."
            raise Conflict(message, code="slug_taken", fields={"name": message}) from None
        if creator is not None:
            ProjectMembership.objects.create(team=team, project=project, user=creator, role=Role.MAINTAINER)
        record(
            actor=actor,
            event=Event.PROJECT_CREATED,
            object_kind="project",
            object_id=project.id,
            object_label=project.name,
            team_id=team.id,
            project_id=project.id,
        )
    return project


def project_change(
    *,
    actor: Actor,
    project: Project,
    name: str | None = None,
    description: str | None = None,
    recall_policy: RecallPolicy | None = None,
    allow_self_approval: bool | None = None,
) -> Project:
    """Change a project's settings; None leaves one as it is."""
    require(actor, Permission.PROJECT_MANAGE, project)
    project = Project.objects.select_for_update().get(id=project.id)
    wanted = {
        "name": name.strip()[:120] if name is not None else None,
        "description": description,
        "recall_policy": recall_policy,
        "allow_self_approval": allow_self_approval,
    }
    if wanted["name"] == "":
        raise InvalidInput("Give the project a name.", fields={"name": "Give a name."})
    changes = {
        field: {"before": getattr(project, field), "after": value}
        for field, value in wanted.items()
        if value is not None and value != getattr(project, field)
    }
    if changes:
        for field, change in changes.items():
            setattr(project, field, change["after"])
        project.save(update_fields=list(changes))
        record(
            actor=actor,
            event=Event.PROJECT_CHANGED,
            object_kind="project",
            object_id=project.id,
            object_label=project.name,
            team_id=project.team_id,
            project_id=project.id,
            data=changes,
        )
    return project


def member_add(*, actor: Actor, project: Project, user: User, role: Role) -> ProjectMembership:
    """Give a person a role in a project, and membership of its team; raises Conflict if they have a role."""
    require(actor, Permission.MEMBERS_MANAGE, project)
    membership = join_project(project, user, role)
    record(
        actor=actor,
        event=Event.MEMBER_ADDED,
        object_kind="user",
        object_id=user.id,
        object_label=user.name,
        team_id=project.team_id,
        project_id=project.id,
        data={"role": role.value},
    )
    return membership


def member_change(*, actor: Actor, membership: ProjectMembership, role: Role) -> ProjectMembership:
    """Give a member another role. A project keeps at least one maintainer unless the team's admins keep it."""
    require(actor, Permission.MEMBERS_MANAGE, membership)
    membership = ProjectMembership.objects.select_for_update().get(id=membership.id)
    before = membership.role
    membership.role = role
    membership.save(update_fields=["role"])
    record(
        actor=actor,
        event=Event.MEMBER_CHANGED,
        object_kind="user",
        object_id=membership.user_id,
        object_label=membership.user.name,
        team_id=membership.team_id,
        project_id=membership.project_id,
        data={"before": before, "after": role.value},
    )
    return membership


def member_remove(*, actor: Actor, membership: ProjectMembership) -> None:
    """Take a person's role away. What they wrote stays; keys they own stop working at once."""
    if membership.user_id != actor.user_id:  # anybody may leave
        require(actor, Permission.MEMBERS_MANAGE, membership)
    user, project = membership.user, membership.project
    membership.delete()
    record(
        actor=actor,
        event=Event.MEMBER_REMOVED,
        object_kind="user",
        object_id=user.id,
        object_label=user.name,
        team_id=project.team_id,
        project_id=project.id,
    )


def join_project(project: Project, user: User, role: Role) -> ProjectMembership:
    with as_system():
        TeamMembership.objects.get_or_create(
            team_id=project.team_id, user=user, defaults={"role": TeamRole.MEMBER}
        )
        membership, created = ProjectMembership.objects.get_or_create(
            project=project, user=user, defaults={"team_id": project.team_id, "role": role}
        )
    if not created:
        raise Conflict(f"{user.name} is a member of this project already.", code="already_member")
    return membership

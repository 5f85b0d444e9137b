"""Teams and the people in them."""

from memory_hub.access.actor import Actor, as_system
from memory_hub.access.models import ProjectMembership, Team, TeamMembership, User
from memory_hub.access.permissions import Permission, TeamRole
from memory_hub.access.policy import require_in_team
from memory_hub.audit.events import Event
from memory_hub.audit.services import record
from memory_hub.common.errors import Conflict, InvalidInput, PermissionDenied
from memory_hub.common.text import slugify


def team_create(*, actor: Actor, name: str, owner: User, slug: str = "") -> Team:
    """Make a team with its first owner. Only the system makes teams (bin/manage, first start)."""
    if not actor.is_system:
        raise PermissionDenied("Teams are made by the operator: bin/manage create_team.")
    slug = slugify(slug or name)
    if not slug:
        raise InvalidInput(
            "Give the team a name with letters or digits.", fields={"name": "Letters or digits needed."}
        )
    with as_system():
        if Team.objects.filter(slug=slug).exists():
            raise Conflict(f"There is a team “{slug}” already.", code="slug_taken")
        team = Team.objects.create(name=name.strip()[:120], slug=slug)
        TeamMembership.objects.create(team=team, user=owner, role=TeamRole.OWNER)
        record(
            actor=actor,
            event=Event.TEAM_CREATED,
            object_kind="team",
            object_id=team.id,
            object_label=team.name,
            team_id=team.id,
            data={"owner": str(owner.id)},
        )
    return team


def team_member_change(*, actor: Actor, membership: TeamMembership, role: TeamRole) -> TeamMembership:
    """Give a team member another role. Only owners name admins and owners; the last owner stays."""
    require_in_team(actor, Permission.TEAM_OWN, membership.team_id)
    membership = TeamMembership.objects.select_for_update().get(id=membership.id)
    before = membership.role
    if before == TeamRole.OWNER and role is not TeamRole.OWNER:
        _require_another_owner(membership)
    membership.role = role
    membership.save(update_fields=["role"])
    record(
        actor=actor,
        event=Event.TEAM_MEMBER_CHANGED,
        object_kind="user",
        object_id=membership.user_id,
        object_label=membership.user.name,
        team_id=membership.team_id,
        data={"before": before, "after": role.value},
    )
    return membership


def team_member_remove(*, actor: Actor, membership: TeamMembership) -> None:
    """Remove a person from the team and from all of its projects. The last owner stays."""
    require_in_team(actor, Permission.TEAM_MANAGE, membership.team_id)
    if membership.role != TeamRole.MEMBER:
        require_in_team(actor, Permission.TEAM_OWN, membership.team_id)
    membership = TeamMembership.objects.select_for_update().get(id=membership.id)
    if membership.role == TeamRole.OWNER:
        _require_another_owner(membership)
    ProjectMembership.objects.filter(team_id=membership.team_id, user_id=membership.user_id).delete()
    user, team_id = membership.user, membership.team_id
    membership.delete()
    record(
        actor=actor,
        event=Event.TEAM_MEMBER_REMOVED,
        object_kind="user",
        object_id=user.id,
        object_label=user.name,
        team_id=team_id,
    )


def _require_another_owner(membership: TeamMembership) -> None:
    # Locks every owner row, so that two owners cannot each remove the other at the same moment.
    owners = TeamMembership.objects.select_for_update().filter(
        team_id=membership.team_id, role=TeamRole.OWNER
    )
    if len(owners) < 2:
        raise Conflict("A team keeps at least one owner: name another owner first.", code="last_owner")

"""Invitations: a link that lets one person join a project with a role."""

from datetime import timedelta

from memory_hub.access.actor import Actor, ActorKind, as_system
from memory_hub.access.models import Invitation, Project, User
from memory_hub.access.permissions import Permission, Role
from memory_hub.access.policy import require
from memory_hub.access.services.people import user_create
from memory_hub.access.services.projects import join_project
from memory_hub.access.tokens import digest, new_token
from memory_hub.audit.events import Event
from memory_hub.audit.services import record
from memory_hub.common.clock import now
from memory_hub.common.errors import Conflict, NotFound, PermissionDenied

LIFETIME = timedelta(days=7)


def invitation_create(
    *, actor: Actor, project: Project, role: Role, email: str = ""
) -> tuple[Invitation, str]:
    """Return the invitation and its token, which is shown once and never stored."""
    require(actor, Permission.MEMBERS_MANAGE, project)
    token = new_token()
    invitation = Invitation.objects.create(
        team_id=project.team_id,
        project=project,
        role=role,
        email=email.strip().lower(),
        token_digest=digest(token),
        created_by_id=actor.user_id,
        expires_at=now() + LIFETIME,
    )
    record(
        actor=actor,
        event=Event.INVITATION_CREATED,
        object_kind="invitation",
        object_id=invitation.id,
        team_id=project.team_id,
        project_id=project.id,
        data={"role": role.value},
    )
    return invitation, token


def invitation_revoke(*, actor: Actor, invitation: Invitation) -> Invitation:
    """Make the link useless. Raises Conflict unless it is pending."""
    require(actor, Permission.MEMBERS_MANAGE, invitation)
    invitation = Invitation.objects.select_for_update().get(id=invitation.id)
    if invitation.state != "pending":
        raise Conflict(f"This invitation is {invitation.state} already.", code="invitation_closed")
    invitation.revoked_at = now()
    invitation.save(update_fields=["revoked_at"])
    record(
        actor=actor,
        event=Event.INVITATION_REVOKED,
        object_kind="invitation",
        object_id=invitation.id,
        team_id=invitation.team_id,
        project_id=invitation.project_id,
    )
    return invitation


def invitation_find(token: str) -> Invitation:
    """Return the pending invitation of a token. Raises NotFound for anything else: used, revoked, expired, unknown."""
    with as_system():
        found = (
            Invitation.objects.open()
            .select_related("project__team", "created_by")
            .filter(token_digest=digest(token))
            .first()
        )
    if found is None:
        raise NotFound("This invitation is used up, revoked or expired. Ask for a new one.")
    return found


def invitation_accept(*, token: str, user: User) -> Invitation:
    """Let a signed-in person join. One winner if two try at once."""
    with as_system():
        invitation = Invitation.objects.select_for_update().filter(id=invitation_find(token).id).get()
        if invitation.state != "pending":
            raise NotFound("This invitation is used up, revoked or expired. Ask for a new one.")
        if invitation.email and invitation.email != user.email.lower():
            raise PermissionDenied(f"This invitation is for {invitation.email}. Sign in with that address.")
        join_project(invitation.project, user, Role(invitation.role))
        invitation.accepted_at, invitation.accepted_by = now(), user
        invitation.save(update_fields=["accepted_at", "accepted_by"])
        record(
            actor=Actor(kind=ActorKind.PERSON, label=user.name, user_id=user.id),
            event=Event.INVITATION_ACCEPTED,
            object_kind="invitation",
            object_id=invitation.id,
            team_id=invitation.team_id,
            project_id=invitation.project_id,
            data={"role": invitation.role},
        )
    return invitation


def invitation_accept_as_new(*, token: str, email: str, name: str, password: str) -> User:
    """Make an account for the invited person and let them join, both or neither."""
    with as_system() as system:
        invitation = invitation_find(token)
        if invitation.email and invitation.email != email.strip().lower():
            raise Conflict(
                f"This invitation is for {invitation.email}.", fields={"email": "Another address is invited."}
            )
        user = user_create(actor=system, email=email, name=name, password=password)
        invitation_accept(token=token, user=user)
    return user

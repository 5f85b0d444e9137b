"""People, teams, projects, memberships, invitations and API keys."""

from typing import TYPE_CHECKING, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Lower

from memory_hub.common.clock import now
from memory_hub.common.ids import uuid7

from .permissions import Role, Scope, TeamRole

if TYPE_CHECKING:
    from .actor import Actor


class UserManager(BaseUserManager["User"]):
    """Finds people by email, whatever its case."""

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email__iexact=username)


class User(AbstractBaseUser):
    """A person who signs in with an email address."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=120)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=now, editable=False)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_any_case")]

    def __str__(self) -> str:
        return self.name


class Team(models.Model):
    """The tenant: every team-owned row carries its id."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    created_at = models.DateTimeField(default=now, editable=False)

    def __str__(self) -> str:
        return self.name


class TeamMembership(models.Model):
    """A person's role in a team."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="team_memberships")
    role = models.CharField(max_length=12, choices=TeamRole)
    created_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="team_membership_once")]


class RecallPolicy(models.TextChoices):
    """What a project's agents are offered."""

    APPROVED = "approved", "Approved revisions only"
    APPROVED_AND_VERIFIED = (
        "verified",
        "Approved revisions, and candidates whose check passed (marked unreviewed)",
    )


class ProjectQuerySet(models.QuerySet["Project"]):
    def visible_to(self, actor: "Actor") -> "ProjectQuerySet":
        """Return the projects in which the actor has any role."""
        return self if actor.is_system else self.filter(id__in=actor.project_ids)


class Project(models.Model):
    """Where memory lives: members, library, runs and settings. Addressed as team/project."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="projects")
    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    recall_policy = models.CharField(
        max_length=12, choices=RecallPolicy, default=RecallPolicy.APPROVED_AND_VERIFIED
    )
    # Meant for a team of one; shown on every review that used it.
    allow_self_approval = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=now, editable=False)

    objects = ProjectQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["team", "slug"], name="project_slug_once_per_team")]

    def __str__(self) -> str:
        return self.name

    @property
    def path(self) -> str:
        """The address of the project: team/project."""
        return f"{self.team.slug}/{self.slug}"


class MembershipQuerySet(models.QuerySet["ProjectMembership"]):
    def visible_to(self, actor: "Actor") -> "MembershipQuerySet":
        """Return the memberships of the projects that the actor can see."""
        return self if actor.is_system else self.filter(project_id__in=actor.project_ids)


class ProjectMembership(models.Model):
    """A person's role in a project."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="project_memberships")
    role = models.CharField(max_length=12, choices=Role)
    created_at = models.DateTimeField(default=now, editable=False)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="project_membership_once")]


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def visible_to(self, actor: "Actor") -> "InvitationQuerySet":
        """Return the invitations of the projects that the actor can see."""
        return self if actor.is_system else self.filter(project_id__in=actor.project_ids)

    def open(self) -> "InvitationQuerySet":
        """Return those that can still be accepted."""
        return self.filter(accepted_at=None, revoked_at=None, expires_at__gt=now())


class Invitation(models.Model):
    """A link that lets one person join a project with a role. Only a digest of its token is stored."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=12, choices=Role)
    # Where set, only the person with this address may accept.
    email = models.EmailField(blank=True)
    token_digest = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=now, editable=False)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    accepted_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    revoked_at = models.DateTimeField(null=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    @property
    def state(self) -> str:
        """pending, accepted, revoked or expired."""
        if self.accepted_at:
            return "accepted"
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at <= now() else "pending"


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def visible_to(self, actor: "Actor") -> "ApiKeyQuerySet":
        """Return the actor's own keys, and all keys of projects where the actor is maintainer."""
        if actor.is_system:
            return self
        maintained = [item for item, role in actor.project_roles.items() if role is Role.MAINTAINER]
        own = models.Q(owner_id=actor.user_id, project_id__in=actor.project_ids)
        return self.filter(own | models.Q(project_id__in=maintained))


class ApiKey(models.Model):
    """A program's way in: mh_<prefix>_<secret>. Acts with its owner's current rights, its role and its scopes."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="api_keys")
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12, unique=True)
    secret_digest = models.CharField(max_length=64)
    role = models.CharField(max_length=12, choices=Role)
    scopes = ArrayField(models.CharField(max_length=12, choices=Scope))
    created_at = models.DateTimeField(default=now, editable=False)
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.name} (mh_{self.prefix}_…)"

    @property
    def state(self) -> str:
        """active, expired or revoked."""
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at and self.expires_at <= now() else "active"

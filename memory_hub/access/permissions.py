"""Roles, scopes and permissions, and the one table that says which role may do what.

The members page, the documentation and the permission matrix test are all rendered from these tables.
"""

from collections.abc import Mapping
from enum import StrEnum

from django.db import models


class Role(models.TextChoices):
    """A role in a project; each may do all that the one before it may."""

    VIEWER = "viewer"
    CONTRIBUTOR = "contributor"
    REVIEWER = "reviewer"
    MAINTAINER = "maintainer"

    @property
    def rank(self) -> int:
        return _ROLE_ORDER.index(self)

    def at_most(self, other: "Role") -> "Role":
        """Return the lesser of the two: what a key or run may do is never more than its owner may."""
        return self if self.rank <= other.rank else other


_ROLE_ORDER = [Role.VIEWER, Role.CONTRIBUTOR, Role.REVIEWER, Role.MAINTAINER]


class TeamRole(models.TextChoices):
    """A role in a team. A member sees only the projects joined; an admin is maintainer of every project."""

    MEMBER = "member"
    ADMIN = "admin"
    OWNER = "owner"

    @property
    def rank(self) -> int:
        return _TEAM_ROLE_ORDER.index(self)


_TEAM_ROLE_ORDER = [TeamRole.MEMBER, TeamRole.ADMIN, TeamRole.OWNER]


class Scope(models.TextChoices):
    """What a key or a run may be used for, within its owner's role."""

    READ = "read", "Read the library, runs and reviews"
    RECALL = "recall", "Recall solutions and report how they worked"
    PROPOSE = "propose", "Propose solutions and lessons, refine, rate"
    RUN = "run", "Start and cancel agent runs"
    REVIEW = "review", "Approve and reject"
    ADMIN = "admin", "Manage members, connections and settings"


class Permission(StrEnum):
    """What may be asked of the policy, as "resource:action"."""

    PROJECT_READ = "project:read"
    PROJECT_MANAGE = "project:manage"
    MEMBERS_READ = "members:read"
    MEMBERS_MANAGE = "members:manage"
    KEYS_MANAGE = "keys:manage"
    AUDIT_READ = "audit:read"
    CONNECTION_USE = "connection:use"
    CONNECTION_MANAGE = "connection:manage"
    RUN_READ = "run:read"
    RUN_START = "run:start"
    RUN_CANCEL_ANY = "run:cancel_any"
    RUN_RECORD = "run:record"
    LIBRARY_READ = "library:read"
    SOLUTION_PROPOSE = "solution:propose"
    SOLUTION_EDIT = "solution:edit"
    SOLUTION_DELETE = "solution:delete"
    REVISION_REFINE = "revision:refine"
    REVISION_VERIFY = "revision:verify"
    REVISION_REVIEW = "revision:review"
    SOLUTION_RATE = "solution:rate"
    RECALL = "recall:make"
    GAP_RECORD = "gap:record"
    GAP_CLOSE = "gap:close"
    TEAM_READ = "team:read"
    TEAM_MANAGE = "team:manage"
    TEAM_OWN = "team:own"


# permission -> (least role, scope a key or run needs for it)
PROJECT_PERMISSIONS: Mapping[Permission, tuple[Role, Scope]] = {
    Permission.PROJECT_READ: (Role.VIEWER, Scope.READ),
    Permission.PROJECT_MANAGE: (Role.MAINTAINER, Scope.ADMIN),
    Permission.MEMBERS_READ: (Role.VIEWER, Scope.READ),
    Permission.MEMBERS_MANAGE: (Role.MAINTAINER, Scope.ADMIN),
    Permission.KEYS_MANAGE: (Role.VIEWER, Scope.ADMIN),
    Permission.AUDIT_READ: (Role.MAINTAINER, Scope.ADMIN),
    Permission.CONNECTION_USE: (Role.CONTRIBUTOR, Scope.RUN),
    Permission.CONNECTION_MANAGE: (Role.MAINTAINER, Scope.ADMIN),
    Permission.RUN_READ: (Role.VIEWER, Scope.READ),
    Permission.RUN_START: (Role.CONTRIBUTOR, Scope.RUN),
    Permission.RUN_CANCEL_ANY: (Role.MAINTAINER, Scope.RUN),
    Permission.RUN_RECORD: (Role.CONTRIBUTOR, Scope.PROPOSE),
    Permission.LIBRARY_READ: (Role.VIEWER, Scope.READ),
    Permission.SOLUTION_PROPOSE: (Role.CONTRIBUTOR, Scope.PROPOSE),
    Permission.SOLUTION_EDIT: (Role.CONTRIBUTOR, Scope.PROPOSE),
    Permission.SOLUTION_DELETE: (Role.MAINTAINER, Scope.ADMIN),
    Permission.REVISION_REFINE: (Role.CONTRIBUTOR, Scope.PROPOSE),
    Permission.REVISION_VERIFY: (Role.CONTRIBUTOR, Scope.PROPOSE),
    Permission.REVISION_REVIEW: (Role.REVIEWER, Scope.REVIEW),
    Permission.SOLUTION_RATE: (Role.CONTRIBUTOR, Scope.PROPOSE),
    Permission.RECALL: (Role.VIEWER, Scope.RECALL),
    Permission.GAP_RECORD: (Role.VIEWER, Scope.RECALL),
    Permission.GAP_CLOSE: (Role.CONTRIBUTOR, Scope.PROPOSE),
}

TEAM_PERMISSIONS: Mapping[Permission, tuple[TeamRole, Scope]] = {
    Permission.TEAM_READ: (TeamRole.MEMBER, Scope.READ),
    Permission.TEAM_MANAGE: (TeamRole.ADMIN, Scope.ADMIN),
    Permission.TEAM_OWN: (TeamRole.OWNER, Scope.ADMIN),
}

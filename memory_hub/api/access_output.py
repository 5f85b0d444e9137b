"""What REST of access shows: callers, projects, members, invitations, keys, audit entries."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory_hub.access.models import Project, RecallPolicy
from memory_hub.access.permissions import Role, Scope
from memory_hub.audit.models import AuditEntry


class ProjectOut(serializers.Serializer):
    """A project and what I may be in it."""

    id = serializers.UUIDField()
    path = serializers.CharField(help_text="team/project, as in addresses")
    name = serializers.CharField()
    description = serializers.CharField()
    recall_policy = serializers.ChoiceField(choices=RecallPolicy.choices)
    allow_self_approval = serializers.BooleanField()
    role = serializers.SerializerMethodField()

    @extend_schema_field(serializers.ChoiceField(choices=Role.choices, allow_null=True))
    def get_role(self, project: Project) -> str | None:
        role = self.context["actor"].project_roles.get(project.id)
        return role.value if role else None


class MeOut(serializers.Serializer):
    """Who I am here."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    email = serializers.EmailField()
    acts_as = serializers.CharField(help_text="person or key")
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=Scope.choices),
        allow_null=True,
        help_text="null: not narrowed, only the roles count",
    )
    projects = ProjectOut(many=True)


class MemberOut(serializers.Serializer):
    id = serializers.UUIDField()
    user = serializers.UUIDField(source="user_id")
    name = serializers.CharField(source="user.name")
    email = serializers.EmailField(source="user.email")
    role = serializers.ChoiceField(choices=Role.choices)
    created_at = serializers.DateTimeField()


class InvitationOut(serializers.Serializer):
    id = serializers.UUIDField()
    role = serializers.ChoiceField(choices=Role.choices)
    email = serializers.CharField()
    state = serializers.CharField()
    expires_at = serializers.DateTimeField()
    created_at = serializers.DateTimeField()


class InvitationMadeOut(InvitationOut):
    link = serializers.CharField(help_text="Shown this one time")


class KeyOut(serializers.Serializer):
    id = serializers.UUIDField()
    name = serializers.CharField()
    prefix = serializers.CharField()
    role = serializers.ChoiceField(choices=Role.choices)
    scopes = serializers.ListField(child=serializers.CharField())
    owner = serializers.UUIDField(source="owner_id")
    state = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True)


class KeyMadeOut(KeyOut):
    key = serializers.CharField(help_text="Shown this one time")


class AuditOut(serializers.Serializer):
    id = serializers.UUIDField()
    at = serializers.DateTimeField()
    event = serializers.CharField()
    actor_kind = serializers.CharField()
    actor = serializers.UUIDField(source="actor_id", allow_null=True)
    through = serializers.UUIDField(source="through_id", allow_null=True)
    object_kind = serializers.CharField()
    object = serializers.UUIDField(source="object_id", allow_null=True)
    request_id = serializers.CharField()
    detail = serializers.SerializerMethodField()

    @extend_schema_field(serializers.JSONField(allow_null=True))
    def get_detail(self, entry: AuditEntry) -> dict[str, Any] | None:
        detail = getattr(entry, "detail", None)  # erasure may have removed it
        if detail is None:
            return None
        return {"actor": detail.actor_label, "object": detail.object_label, "data": detail.data}

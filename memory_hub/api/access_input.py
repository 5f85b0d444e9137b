"""What callers send to REST of access: projects, roles, invitations, keys."""

from rest_framework import serializers

from memory_hub.access.models import RecallPolicy
from memory_hub.access.permissions import Role, Scope


class ProjectIn(serializers.Serializer):
    team = serializers.SlugField()
    name = serializers.CharField(max_length=120)
    slug = serializers.SlugField(max_length=60, required=False, default="")
    description = serializers.CharField(required=False, allow_blank=True, default="")


class ProjectChangeIn(serializers.Serializer):
    name = serializers.CharField(max_length=120, required=False)
    description = serializers.CharField(required=False, allow_blank=True)
    recall_policy = serializers.ChoiceField(choices=RecallPolicy.choices, required=False)
    allow_self_approval = serializers.BooleanField(required=False)


class RoleIn(serializers.Serializer):
    role = serializers.ChoiceField(choices=Role.choices)


class InvitationIn(RoleIn):
    email = serializers.EmailField(required=False, allow_blank=True, default="")


class KeyIn(RoleIn):
    name = serializers.CharField(max_length=80)
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices), allow_empty=False)
    expires_at = serializers.DateTimeField(required=False, allow_null=True, default=None)

"""REST of access: who am I, projects, members, invitations, keys, the audit trail."""

from typing import Any, cast
from uuid import UUID

from django.urls import path, reverse
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from memory_hub.access import selectors
from memory_hub.access.models import ApiKey, Project, RecallPolicy, User
from memory_hub.access.permissions import Permission, Role, Scope
from memory_hub.access.policy import require
from memory_hub.access.services.invitations import invitation_create, invitation_revoke
from memory_hub.access.services.keys import key_create, key_revoke
from memory_hub.access.services.projects import member_change, member_remove, project_change, project_create
from memory_hub.audit.filters import AuditFilter
from memory_hub.audit.models import AuditEntry
from memory_hub.common.pagination import NewestFirst

from .base import RETRY, HubView, filter_parameters, filtered, idempotent, remember


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


class MemberOut(serializers.Serializer):
    id = serializers.UUIDField()
    user = serializers.UUIDField(source="user_id")
    name = serializers.CharField(source="user.name")
    email = serializers.EmailField(source="user.email")
    role = serializers.ChoiceField(choices=Role.choices)
    created_at = serializers.DateTimeField()


class RoleIn(serializers.Serializer):
    role = serializers.ChoiceField(choices=Role.choices)


class InvitationIn(RoleIn):
    email = serializers.EmailField(required=False, allow_blank=True, default="")


class InvitationOut(serializers.Serializer):
    id = serializers.UUIDField()
    role = serializers.ChoiceField(choices=Role.choices)
    email = serializers.CharField()
    state = serializers.CharField()
    expires_at = serializers.DateTimeField()
    created_at = serializers.DateTimeField()


class InvitationMadeOut(InvitationOut):
    link = serializers.CharField(help_text="Shown this one time")


class KeyIn(RoleIn):
    name = serializers.CharField(max_length=80)
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices), allow_empty=False)
    expires_at = serializers.DateTimeField(required=False, allow_null=True, default=None)


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


class MeView(HubView):
    """The caller."""

    @extend_schema(operation_id="me", responses=MeOut, tags=["access"])
    def get(self, request: Request) -> Response:
        """Say who calls, with which scopes, and what they see."""
        user = cast("User", request.user)
        said = {
            "id": user.id,
            "name": user.name,
            "email": user.email,
            "acts_as": self.actor.kind.value,
            "scopes": None if self.actor.scopes is None else sorted(self.actor.scopes),
            "projects": list(selectors.my_projects(self.actor)),
        }
        return Response(MeOut(said, context={"actor": self.actor}).data)


class ProjectsView(HubView):
    """The projects I can see."""

    def _show(self, rows: list[Project]) -> Any:
        return ProjectOut(rows, many=True, context={"actor": self.actor}).data

    @extend_schema(operation_id="projects_list", responses=ProjectOut(many=True), tags=["access"])
    def get(self, request: Request) -> Response:
        """List projects, by team and name."""
        return self.paged(selectors.my_projects(self.actor), self._show)

    @extend_schema(
        operation_id="projects_create", request=ProjectIn, responses={201: ProjectOut}, tags=["access"]
    )
    def post(self, request: Request) -> Response:
        """Make a project in a team I administer; I become its maintainer."""
        data = self.input(ProjectIn)
        team = selectors.team_get(self.actor, data.pop("team"))
        made = project_create(actor=self.actor, team=team, creator=cast("User", request.user), **data)
        return Response(ProjectOut(made, context={"actor": self.actor}).data, status=status.HTTP_201_CREATED)


class ProjectView(HubView):
    """One project."""

    @extend_schema(operation_id="projects_get", responses=ProjectOut, tags=["access"])
    def get(self, request: Request, **_: Any) -> Response:
        """Return a project with its settings."""
        project = self.project()
        require(self.actor, Permission.PROJECT_READ, project)
        return Response(ProjectOut(project, context={"actor": self.actor}).data)

    @extend_schema(
        operation_id="projects_change", request=ProjectChangeIn, responses=ProjectOut, tags=["access"]
    )
    def patch(self, request: Request, **_: Any) -> Response:
        """Change settings; what is left out stays."""
        data = self.input(ProjectChangeIn)
        if "recall_policy" in data:
            data["recall_policy"] = RecallPolicy(data["recall_policy"])
        changed = project_change(actor=self.actor, project=self.project(), **data)
        return Response(ProjectOut(changed, context={"actor": self.actor}).data)


class MembersView(HubView):
    """Who is in a project."""

    @extend_schema(operation_id="members_list", responses=MemberOut(many=True), tags=["access"])
    def get(self, request: Request, **_: Any) -> Response:
        """List members, by name."""
        project = self.project()
        require(self.actor, Permission.MEMBERS_READ, project)
        rows = selectors.members(self.actor, project)
        return self.paged(rows, lambda page: MemberOut(page, many=True).data)


class MemberView(HubView):
    """One membership."""

    @extend_schema(operation_id="members_change", request=RoleIn, responses=MemberOut, tags=["access"])
    def patch(self, request: Request, membership: UUID, **_: Any) -> Response:
        """Give a member another role."""
        found = selectors.member_get(self.actor, self.project(), membership)
        changed = member_change(actor=self.actor, membership=found, role=Role(self.input(RoleIn)["role"]))
        return Response(MemberOut(changed).data)

    @extend_schema(operation_id="members_remove", responses={204: None}, tags=["access"])
    def delete(self, request: Request, membership: UUID, **_: Any) -> Response:
        """Take a member out; their keys stop working at once."""
        found = selectors.member_get(self.actor, self.project(), membership)
        member_remove(actor=self.actor, membership=found)
        return Response(status=status.HTTP_204_NO_CONTENT)


class InvitationsView(HubView):
    """Links that let people join."""

    @extend_schema(operation_id="invitations_list", responses=InvitationOut(many=True), tags=["access"])
    def get(self, request: Request, **_: Any) -> Response:
        """List invitations, newest first."""
        project = self.project()
        require(self.actor, Permission.MEMBERS_MANAGE, project)
        rows = selectors.invitations(self.actor, project)
        return self.paged(rows, lambda page: InvitationOut(page, many=True).data)

    @extend_schema(
        operation_id="invitations_create",
        request=InvitationIn,
        responses={201: InvitationMadeOut},
        tags=["access"],
    )
    def post(self, request: Request, **_: Any) -> Response:
        """Make a link. It is shown this one time."""
        data = self.input(InvitationIn)
        made, token = invitation_create(
            actor=self.actor, project=self.project(), role=Role(data["role"]), email=data["email"]
        )
        link = request.build_absolute_uri(reverse("invitation", args=[token]))
        return Response({**InvitationOut(made).data, "link": link}, status=status.HTTP_201_CREATED)


class InvitationView(HubView):
    """One invitation."""

    @extend_schema(operation_id="invitations_revoke", responses=InvitationOut, tags=["access"])
    def delete(self, request: Request, invitation: UUID, **_: Any) -> Response:
        """Make a pending link useless."""
        found = selectors.invitation_get(self.actor, self.project(), invitation)
        return Response(InvitationOut(invitation_revoke(actor=self.actor, invitation=found)).data)


class KeysView(HubView):
    """API keys: my own, and all of the project for its maintainers."""

    @extend_schema(operation_id="keys_list", responses=KeyOut(many=True), tags=["access"])
    def get(self, request: Request, **_: Any) -> Response:
        """List keys, newest first. None of them shows its secret."""
        project = self.project()
        require(self.actor, Permission.KEYS_MANAGE, project)
        rows = selectors.keys(self.actor, project)
        return self.paged(rows, lambda page: KeyOut(page, many=True).data)

    @extend_schema(
        operation_id="keys_create",
        parameters=[RETRY],
        request=KeyIn,
        responses={201: KeyMadeOut},
        tags=["access"],
    )
    def post(self, request: Request, **_: Any) -> Response:
        """Make a key of mine. It is shown this one time: a retry gets the row without it."""
        project = self.project()
        answer = idempotent(request, self.actor, project)
        if isinstance(answer, Response):
            return answer
        data = self.input(KeyIn)
        key, secret = key_create(
            actor=self.actor,
            project=project,
            name=data["name"],
            role=Role(data["role"]),
            scopes=[Scope(scope) for scope in data["scopes"]],
            expires_at=data["expires_at"],
        )
        shown = KeyOut(key).data
        remember(answer, Response(shown, status=status.HTTP_201_CREATED))
        return Response({**shown, "key": secret}, status=status.HTTP_201_CREATED)


class KeyView(HubView):
    """One key."""

    @extend_schema(operation_id="keys_revoke", responses=KeyOut, tags=["access"])
    def delete(self, request: Request, key: UUID, **_: Any) -> Response:
        """Stop a key at once."""
        found: ApiKey = selectors.key_get(self.actor, self.project(), key)
        return Response(KeyOut(key_revoke(actor=self.actor, key=found)).data)


class AuditView(HubView):
    """The audit trail of a project."""

    @extend_schema(
        operation_id="audit_list",
        parameters=filter_parameters(AuditFilter, by_cursor=True),
        responses=AuditOut(many=True),
        tags=["access"],
    )
    def get(self, request: Request, **_: Any) -> Response:
        """List entries, newest first, by a cursor; `?event=` narrows to one kind, `?actor=` to one person."""
        rows = filtered(AuditFilter, request, selectors.audit_trail(self.actor, self.project()))
        paginator = NewestFirst()
        page = paginator.paginate_queryset(rows, request, view=self)
        return paginator.get_paginated_response(AuditOut(page, many=True).data)


_PROJECT = "projects/<slug:team>/<slug:project>/"
urlpatterns = [
    path("me/", MeView.as_view(), name="api-me"),
    path("projects/", ProjectsView.as_view(), name="api-projects"),
    path(_PROJECT, ProjectView.as_view(), name="api-project"),
    path(f"{_PROJECT}members/", MembersView.as_view(), name="api-members"),
    path(f"{_PROJECT}members/<uuid:membership>/", MemberView.as_view(), name="api-member"),
    path(f"{_PROJECT}invitations/", InvitationsView.as_view(), name="api-invitations"),
    path(f"{_PROJECT}invitations/<uuid:invitation>/", InvitationView.as_view(), name="api-invitation"),
    path(f"{_PROJECT}keys/", KeysView.as_view(), name="api-keys"),
    path(f"{_PROJECT}keys/<uuid:key>/", KeyView.as_view(), name="api-key"),
    path(f"{_PROJECT}audit/", AuditView.as_view(), name="api-audit"),
]

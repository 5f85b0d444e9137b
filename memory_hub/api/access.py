"""REST of access: who am I, projects, members, invitations, keys, the audit trail."""

from typing import Any, cast
from uuid import UUID

from django.urls import path, reverse
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from memory_hub.access import selectors
from memory_hub.access.models import ApiKey, Project, RecallPolicy, User
from memory_hub.access.permissions import Permission, Role, Scope
from memory_hub.access.policy import actor_for_user, require
from memory_hub.access.services.invitations import invitation_create, invitation_revoke
from memory_hub.access.services.keys import key_create, key_revoke
from memory_hub.access.services.projects import member_change, member_remove, project_change, project_create
from memory_hub.audit.filters import AuditFilter
from memory_hub.common.pagination import NewestFirst

from .access_input import InvitationIn, KeyIn, ProjectChangeIn, ProjectIn, RoleIn
from .access_output import (
    AuditOut,
    InvitationMadeOut,
    InvitationOut,
    KeyMadeOut,
    KeyOut,
    MemberOut,
    MeOut,
    ProjectOut,
)
from .base import RETRY, HubView, filter_parameters, filtered, idempotent, remember


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
        data, user = self.input(ProjectIn), cast("User", request.user)
        team = selectors.team_get(self.actor, data.pop("team"))
        made = project_create(actor=self.actor, team=team, creator=user, **data)
        # The actor's rights were worked out before there was this project; only people make projects.
        shown = ProjectOut(made, context={"actor": actor_for_user(user)}).data
        return Response(shown, status=status.HTTP_201_CREATED)


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
        parameters=[RETRY],
        request=InvitationIn,
        responses={201: InvitationMadeOut},
        tags=["access"],
    )
    def post(self, request: Request, **_: Any) -> Response:
        """Make a link. It is shown this one time: a retry gets the row without it."""
        project = self.project()
        answer = idempotent(request, self.actor, project)
        if isinstance(answer, Response):
            return answer
        data = self.input(InvitationIn)
        made, token = invitation_create(
            actor=self.actor, project=project, role=Role(data["role"]), email=data["email"]
        )
        link = request.build_absolute_uri(reverse("invitation", args=[token]))
        shown = InvitationOut(made).data
        remember(answer, Response(shown, status=status.HTTP_201_CREATED))
        return Response({**shown, "link": link}, status=status.HTTP_201_CREATED)


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

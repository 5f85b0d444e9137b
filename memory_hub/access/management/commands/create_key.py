"""bin/manage create_key: a key for scripts, printed once."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.models import Project, ProjectMembership, TeamMembership, User
from memory_hub.access.permissions import Role, Scope, TeamRole
from memory_hub.access.policy import actor_for_user
from memory_hub.access.services.keys import key_create
from memory_hub.common.errors import HubError


class Command(BaseCommand):
    help = "Print a new API key once. It belongs to --email, or to an owner of the team."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="TEAM/PROJECT")
        parser.add_argument("--role", required=True, choices=Role.values)
        parser.add_argument("--email", help="whose key it is; its rights are never more than theirs")
        parser.add_argument("--scopes", nargs="+", choices=Scope.values, default=Scope.values)
        parser.add_argument("--name", default="command line")

    def handle(self, *args: Any, **options: Any) -> None:
        team_slug, _, slug = options["project"].partition("/")
        with as_system():
            project = Project.objects.select_related("team").filter(team__slug=team_slug, slug=slug).first()
            if project is None:
                raise CommandError(f"There is no project {options['project']}. It is written TEAM/PROJECT.")
            owner = _owner(project, options["email"])
        actor = actor_for_user(owner)
        try:
            with acting_as(actor):
                _, secret = key_create(
                    actor=actor,
                    project=project,
                    name=options["name"],
                    role=Role(options["role"]),
                    scopes=[Scope(scope) for scope in options["scopes"]],
                )
        except HubError as error:
            raise CommandError(error.message) from error
        self.stdout.write(secret)


def _owner(project: Project, email: str | None) -> User:
    if email:
        member = ProjectMembership.objects.filter(project=project, user__email__iexact=email).first()
        admin = TeamMembership.objects.filter(team_id=project.team_id, user__email__iexact=email).first()
        if member is None and admin is None:
            raise CommandError(f"{email} is not in this project or its team.")
        return (member or admin).user  # type: ignore[union-attr]  # one of them is there
    owner = TeamMembership.objects.filter(team_id=project.team_id, role=TeamRole.OWNER).order_by("id").first()
    if owner is None:
        raise CommandError("The team has no owner; name a person with --email.")
    return owner.user

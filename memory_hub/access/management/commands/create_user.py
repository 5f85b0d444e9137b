"""bin/manage create_user: a person who can sign in, and a first role in a project."""

import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memory_hub.access.actor import as_system
from memory_hub.access.models import Project, User
from memory_hub.access.permissions import Role
from memory_hub.access.services.people import user_create
from memory_hub.access.services.projects import member_add
from memory_hub.common.errors import HubError


class Command(BaseCommand):
    help = "Make an account, for where no invitation can be sent. Its password is made up and printed once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--name", help="left out: what stands before the @ of the address")
        parser.add_argument("--project", metavar="TEAM/PROJECT", help="a project to join")
        parser.add_argument("--role", choices=Role.values, default=Role.CONTRIBUTOR.value)

    def handle(self, *args: Any, **options: Any) -> None:
        email = options["email"]
        password = secrets.token_urlsafe(12)
        try:
            with as_system() as system:
                project = _project(options["project"]) if options["project"] else None
                name = options["name"] or email.partition("@")[0]
                user: User = user_create(actor=system, email=email, name=name, password=password)
                if project is not None:
                    member_add(actor=system, project=project, user=user, role=Role(options["role"]))
        except HubError as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"{user.email} signs in with the password {password} (not shown again).")


def _project(path: str) -> Project:
    team, _, slug = path.partition("/")
    found = Project.objects.select_related("team").filter(team__slug=team, slug=slug).first()
    if found is None:
        raise CommandError(f"There is no project {path}. It is written TEAM/PROJECT.")
    return found

"""bin/manage create_team: a team, its first owner with a password, and a first project."""

import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memory_hub.access.actor import as_system
from memory_hub.access.models import User
from memory_hub.access.services.people import user_create
from memory_hub.access.services.projects import project_create
from memory_hub.access.services.teams import team_create
from memory_hub.common.errors import HubError


class Command(BaseCommand):
    help = "Make a team with an owner. A new person's password is made up and printed once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--owner", required=True, metavar="EMAIL")
        parser.add_argument("--owner-name", help="needed for a person who has no account yet")
        parser.add_argument("--project", help="name of a first project")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with as_system() as system:
                owner = User.objects.filter(email__iexact=options["owner"]).first()
                password = ""
                if owner is None:
                    password = secrets.token_urlsafe(12)
                    name = options["owner_name"] or options["owner"].partition("@")[0]
                    owner = user_create(actor=system, email=options["owner"], name=name, password=password)
                team = team_create(actor=system, name=options["name"], owner=owner)
                if options["project"]:
                    project_create(actor=system, team=team, name=options["project"], creator=owner)
        except HubError as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"Team {team.slug} is ready.")
        if password:
            self.stdout.write(f"{owner.email} signs in with the password {password} (not shown again).")

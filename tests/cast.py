"""The people of the tests, made through the real services."""

from dataclasses import dataclass

from memory_hub.access.actor import Actor, as_system
from memory_hub.access.models import Project, Team, User
from memory_hub.access.permissions import Role, Scope
from memory_hub.access.policy import actor_for_key, actor_for_user
from memory_hub.access.services.keys import key_authenticate, key_create
from memory_hub.access.services.people import user_create
from memory_hub.access.services.projects import member_add, project_create
from memory_hub.access.services.teams import team_create

PASSWORD = "correct horse battery"


@dataclass
class Cast:
    """Team "acme" with projects "ledger" and "atlas"; team "rival" with project "den"."""

    team: Team
    project: Project
    other_project: Project
    rival_team: Team
    rival_project: Project
    alice: User  # owner of the team
    bob: User  # contributor in ledger
    rita: User  # reviewer in ledger
    vera: User  # viewer in ledger
    carol: User  # contributor in atlas, the other project of the team
    mallory: User  # maintainer in den, of the other team

    def actor(self, user: User) -> Actor:
        """Return the person as an actor with the rights of this moment."""
        return actor_for_user(user)

    def key(self, user: User, *, role: Role = Role.CONTRIBUTOR, scopes: list[Scope] | None = None) -> str:
        """Return a new API key of the person in the project ledger (mallory: den)."""
        project = self.rival_project if user == self.mallory else self.project
        with as_system():
            pass
        from memory_hub.access.actor import acting_as

        actor = self.actor(user)
        with acting_as(actor):
            _, whole = key_create(
                actor=actor, project=project, name="agent", role=role, scopes=scopes or list(Scope)
            )
        return whole

    def key_actor(self, user: User, **kwargs: object) -> Actor:
        """Return an API key of the person as an actor."""
        return actor_for_key(key_authenticate(self.key(user, **kwargs)))  # type: ignore[arg-type]


def make_cast() -> Cast:
    """Make everybody. Passwords are PASSWORD."""
    with as_system() as system:

        def person(name: str) -> User:
            return user_create(
                actor=system, email=f"{name}@example.org", name=name.title(), password=PASSWORD
            )

        alice, bob, rita, vera = person("alice"), person("bob"), person("rita"), person("vera")
        carol, mallory = person("carol"), person("mallory")
        team = team_create(actor=system, name="Acme", owner=alice)
        project = project_create(actor=system, team=team, name="Ledger")
        other = project_create(actor=system, team=team, name="Atlas")
        for user, role in ((bob, Role.CONTRIBUTOR), (rita, Role.REVIEWER), (vera, Role.VIEWER)):
            member_add(actor=system, project=project, user=user, role=role)
        member_add(actor=system, project=other, user=carol, role=Role.CONTRIBUTOR)
        rival_team = team_create(actor=system, name="Rival", owner=mallory)
        rival_project = project_create(actor=system, team=rival_team, name="Den", creator=mallory)
    return Cast(
        team=team,
        project=project,
        other_project=other,
        rival_team=rival_team,
        rival_project=rival_project,
        alice=alice,
        bob=bob,
        rita=rita,
        vera=vera,
        carol=carol,
        mallory=mallory,
    )

"""An empty hub for a measure: services of its own, migrated, gone afterwards. No measure touches anybody's data."""

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_hub.access.actor import Actor
    from memory_hub.access.models import Project, User

ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 60
WEB_PROCESSES = len(os.sched_getaffinity(0))


@contextlib.contextmanager
def scratch_hub() -> Iterator[None]:
    """Make this process one of a hub without data, under the application's database role."""
    from memory_hub.embedded import EmbeddedServices
    from memory_hub.launcher.environment import hub_environment

    with tempfile.TemporaryDirectory(prefix="hub-benchmark-", ignore_cleanup_errors=True) as folder:
        services = EmbeddedServices(Path(folder))
        urls = services.start()
        try:
            os.environ.update(hub_environment(Path(folder), urls, role="app"))
            os.environ["DJANGO_SETTINGS_MODULE"] = "memory_hub.settings"
            os.environ.setdefault("LOG_LEVEL", "ERROR")
            command = [sys.executable, str(ROOT / "manage.py"), "migrate", "--noinput", "--verbosity", "0"]
            subprocess.run(command, check=True, env={**os.environ, "HUB_DATABASE_ROLE": "owner"})
            import django

            django.setup()
            yield
            from django.db import connections

            connections["default"].close()
            if connections["default"].settings_dict["OPTIONS"].get("pool"):
                connections["default"].close_pool()  # type: ignore[attr-defined]
        finally:
            services.stop()


@dataclass(frozen=True, slots=True)
class World:
    """A person with a project; nobody else is there unless a measure adds them."""

    person: "User"
    project: "Project"

    @property
    def actor(self) -> "Actor":
        """The person with the rights they have now."""
        from memory_hub.access.policy import actor_for_user

        return actor_for_user(self.person)


def make_world(name: str) -> World:
    """Make a team with one project and its owner, through the services."""
    from memory_hub.access.actor import as_system
    from memory_hub.access.services.people import user_create
    from memory_hub.access.services.projects import project_create
    from memory_hub.access.services.teams import team_create

    with as_system() as system:
        person = user_create(
            actor=system, email=f"{name}@benchmark.example", name=name, password=secrets.token_urlsafe(24)
        )
        team = team_create(actor=system, name=f"Team of {name}", owner=person)
        project = project_create(actor=system, team=team, name=name, creator=person)
    return World(person, project)


@contextlib.contextmanager
def web_server() -> Iterator[str]:
    """Run the hub's web server as bin/start does, one process for each processor; give its address."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=512)
    descriptor = listening.fileno()
    command = [sys.executable, "-m", "memory_hub.launcher.web", "--fd", str(descriptor)]
    servers = [
        subprocess.Popen(command, cwd=ROOT, env=os.environ, pass_fds=[descriptor])
        for _ in range(WEB_PROCESSES)
    ]
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        with urllib.request.urlopen(f"{address}/livez", timeout=_START_SECONDS):
            pass
        yield address
    finally:
        for server in servers:
            server.terminate()
        for server in servers:
            server.wait()
        listening.close()


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` (0 to 1) of the values do not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]

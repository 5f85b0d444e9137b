"""The demo of an empty hub: a team with two people, and a sample run followed by its reworded twin."""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings

from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.models import Project, Team, User
from memory_hub.access.permissions import Role
from memory_hub.access.policy import actor_for_user
from memory_hub.access.services.people import user_create
from memory_hub.access.services.projects import member_add, project_create
from memory_hub.access.services.teams import team_create
from memory_hub.library.models import Revision, Solution
from memory_hub.runs.models import Connection, Run, RunEvent
from memory_hub.runs.samples import Sample, samples
from memory_hub.runs.services import connection_create, run_start

TEAM, PROJECT = "demo", "first-light"
CONTRIBUTOR, REVIEWER = "contributor@demo.example", "reviewer@demo.example"
# A person can follow the steps arriving; the worker itself needs a fraction of that.
_PAUSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Account:
    """A person of the demo; the password is known only here and now."""

    email: str
    role: str
    password: str


def is_empty() -> bool:
    """Say whether nobody uses this hub yet."""
    return not User.objects.exists() and not Team.objects.exists()


def seed() -> tuple[list[Account], list[UUID]]:
    """Make the demo on an empty hub and queue the first sample run; return the accounts and the run's id.

    The twin is started by `follow` once memory holds what the first one left: it could not reuse it before.
    """
    with as_system() as system:
        people = {
            role: (email, name, secrets.token_urlsafe(12))
            for role, email, name in (
                (Role.CONTRIBUTOR, CONTRIBUTOR, "Casey Contributor"),
                (Role.REVIEWER, REVIEWER, "Robin Reviewer"),
            )
        }
        users = {
            role: user_create(actor=system, email=email, name=name, password=password)
            for role, (email, name, password) in people.items()
        }
        team = team_create(actor=system, name="Demo", slug=TEAM, owner=users[Role.REVIEWER])
        project = project_create(
            actor=system,
            team=team,
            name="First light",
            slug=PROJECT,
            description="Sample tasks on real public files. Start a run, review what it left, start its twin.",
        )
        for role, user in users.items():
            member_add(actor=system, project=project, user=user, role=role)
        connection_create(
            actor=system,
            project=project,
            name="Rehearsal",
            kind=Connection.Kind.REHEARSAL,
            options={"pause_seconds": _PAUSE_SECONDS},
        )
    run = start_sample(first_pair()[0])
    accounts = [Account(email, role.value, password) for role, (email, _, password) in people.items()]
    return accounts, [run.id]


def first_pair() -> tuple[Sample, Sample]:
    """Return the sample that the demo runs and its twin."""
    first = samples()[0]
    return first, next(sample for sample in samples() if sample.key == first.twin_key)


def start_sample(sample: Sample) -> Run:
    """Start a sample as the demo's contributor, with the rehearsal."""
    with as_system():
        user = User.objects.get(email=CONTRIBUTOR)
        project = Project.objects.get(team__slug=TEAM, slug=PROJECT)
    actor = actor_for_user(user)
    with acting_as(actor):
        return run_start(
            actor=actor,
            project=project,
            task=sample.task,
            connection=Connection.objects.get(project=project, kind=Connection.Kind.REHEARSAL),
            sandbox=settings.SANDBOX_DEFAULT,
            inputs=sample.uploads(),
            origin=Run.Origin.SAMPLE,
        )


def demo_runs() -> list[Run]:
    """Return the demo's sample runs, the first and, where it was started, the twin."""
    pair = [sample.task for sample in first_pair()]
    with as_system():
        runs = Run.objects.filter(
            project__team__slug=TEAM, project__slug=PROJECT, origin=Run.Origin.SAMPLE, task__in=pair
        ).select_related("project__team")
        first: dict[str, Run] = {}
        for run in runs.order_by("id"):
            first.setdefault(run.task, run)
    return [first[task] for task in pair if task in first]


def follow(*, seconds: float, poll_seconds: float = 0.5) -> list[Run]:
    """Wait until the first run and what it left are settled, start the twin, wait for it; return both.

    Returns what there is when `seconds` are over.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        runs = demo_runs()
        if not runs:
            return []
        if len(runs) == 1 and _is_in_memory(runs[0]):
            start_sample(first_pair()[1])
        elif len(runs) == 2 and all(run.is_settled for run in runs):
            return runs
        time.sleep(poll_seconds)
    return demo_runs()


def _is_in_memory(run: Run) -> bool:
    """Ended, captured, its check replayed, and findable."""
    if not run.is_settled:
        return False
    with as_system():
        waiting = Revision.objects.filter(solution__run=run, needs_verification=True).exists()
        return not waiting and not Solution.objects.filter(run=run, needs_index=True).exists()


def describe(run: Run, site_url: str) -> str:
    """Return one line on a run: its state, its steps, what was recalled, its address, and why it did not succeed."""
    with as_system():
        event = RunEvent.objects.filter(run=run, kind=RunEvent.Kind.RECALLED).first()
        path = f"{site_url}/p/{run.project.team.slug}/{run.project.slug}/runs/{run.id}/"
    items = event.data.get("items", []) if event else []
    used = set(run.memory_use.get("used", []))
    recalled = "; ".join(
        f"“{item['title']}” (score {item['score']:.2f}{', used' if item['revision'] in used else ''})"
        for item in items
    )
    steps = f"{run.step_count} step{'' if run.step_count == 1 else 's'}"
    why = f"  ({run.reason})" if run.reason else ""
    return f"{run.state}, {steps}, recalled: {recalled or 'nothing'}  {path}{why}"


def as_json(accounts: list[Account], runs: list[UUID]) -> str:
    """Return what `seed` made as one line of JSON, for bin/start."""
    people = [{"email": item.email, "role": item.role, "password": item.password} for item in accounts]
    return json.dumps({"accounts": people, "runs": [str(item) for item in runs]})

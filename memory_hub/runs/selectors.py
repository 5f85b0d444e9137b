"""Reads of the runs room."""

from uuid import UUID

from django.db.models import Count, QuerySet

from memory_hub.access.actor import Actor, ActorKind, acting_as, as_system
from memory_hub.access.models import ApiKey, Project, User
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import actor_for_key, actor_for_user, require
from memory_hub.common.errors import HubError, NotFound

from .models import Connection, Run, RunEvent, RunInput, Step


def runs(actor: Actor, project: Project) -> QuerySet[Run]:
    """Return a project's runs, newest first."""
    require(actor, Permission.RUN_READ, project)
    return Run.objects.visible_to(actor).filter(project=project).select_related("starter", "connection")


def under_way_counts(actor: Actor) -> dict[UUID, int]:
    """Return how many runs are queued or running in each of the actor's projects that has any, in one query."""
    unfinished = Run.objects.visible_to(actor).filter(state__in=(Run.State.QUEUED, Run.State.RUNNING))
    rows = unfinished.order_by().values("project_id").annotate(count=Count("id"))
    return {row["project_id"]: row["count"] for row in rows}


def run_get(actor: Actor, run_id: UUID, *, project: Project | None = None) -> Run:
    """Return a run that the actor may see (of this project, where given). Raises NotFound, PermissionDenied."""
    rows = (
        Run.objects.visible_to(actor)
        .select_related("starter", "connection", "project__team")
        .filter(id=run_id)
    )
    run = (rows if project is None else rows.filter(project=project)).first()
    if run is None:
        raise NotFound
    require(actor, Permission.RUN_READ, run)
    return run


def still_sees(actor: Actor, run_id: UUID) -> bool:
    """Say whether the person or key may see the run with the rights they have now; for streams that last for hours."""
    try:
        now_actor = _as_of_now(actor)
        with acting_as(now_actor):
            run_get(now_actor, run_id)
    except HubError:
        return False
    return True


def _as_of_now(actor: Actor) -> Actor:
    if actor.user_id is None:
        raise NotFound
    with as_system():
        if actor.kind is ActorKind.KEY and actor.through_id is not None:
            key = ApiKey.objects.select_related("owner").filter(id=actor.through_id).first()
            if key is None or key.state != "active":
                raise NotFound
            return actor_for_key(key)
        user = User.objects.filter(id=actor.user_id).first()
    if user is None:
        raise NotFound
    return actor_for_user(user)


def inputs(actor: Actor, run: Run) -> QuerySet[RunInput]:
    """Return the input files of a run, by name."""
    return RunInput.objects.visible_to(actor).filter(run=run)


def steps(actor: Actor, run: Run) -> QuerySet[Step]:
    """Return the steps of a run in order."""
    return Step.objects.visible_to(actor).filter(run=run)


def events(actor: Actor, run: Run, *, after: int = 0) -> QuerySet[RunEvent]:
    """Return the log of a run in order, from behind a sequence number."""
    return RunEvent.objects.visible_to(actor).filter(run=run, sequence__gt=after).select_related("step")


def moments(actor: Actor, run: Run) -> dict[str, RunEvent]:
    """Return the last event of each kind but steps and hints: what was recalled, how it ended, what it left."""
    kinds = [kind for kind in RunEvent.Kind.values if kind not in (RunEvent.Kind.STEP, RunEvent.Kind.HINT)]
    return {event.kind: event for event in events(actor, run).filter(kind__in=kinds)}


def starters(actor: Actor, project: Project) -> QuerySet[User]:
    """Return the people who started runs in a project, by name."""
    ids = Run.objects.visible_to(actor).filter(project=project).values("starter_id")
    return User.objects.filter(id__in=ids).order_by("name")


def connections(actor: Actor, project: Project) -> QuerySet[Connection]:
    """Return a project's connections that are in use, by name."""
    require(actor, Permission.RUN_READ, project)
    return (
        Connection.objects.visible_to(actor)
        .filter(project=project, retired_at=None)
        .select_related("created_by")
    )


def connection_get(actor: Actor, connection_id: UUID, *, project: Project | None = None) -> Connection:
    """Return a connection in use that the actor may see. Raises NotFound."""
    rows = (
        Connection.objects.visible_to(actor)
        .filter(id=connection_id, retired_at=None)
        .select_related("created_by")
    )
    connection = (rows if project is None else rows.filter(project=project)).first()
    if connection is None:
        raise NotFound
    require(actor, Permission.RUN_READ, connection)
    return connection

"""Every route × everybody, from the table in matrix.py: what is allowed, what is refused, what is not there."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client, override_settings
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.models import ApiKey, ProjectMembership, User
from memory_hub.access.permissions import Role, Scope
from memory_hub.access.services.invitations import invitation_create
from memory_hub.access.services.people import user_create
from memory_hub.access.services.projects import member_add
from memory_hub.api.base import HubView
from memory_hub.common.clock import now
from memory_hub.library.drafts import NewLesson
from memory_hub.library.services.lessons import lesson_record
from memory_hub.library.services.merge_proposals import merge_propose
from memory_hub.library.services.solutions import solution_archive
from memory_hub.recall.query_words import parse
from memory_hub.recall.services import RecallRequest, gap_record, recall_make
from memory_hub.runs.models import Connection, Run
from memory_hub.runs.services import connection_create, run_start
from tests.cast import PASSWORD, Cast, make_cast
from tests.services.library_support import propose
from tests.web.matrix import OWN, PAGES, PERSON, PUBLIC, REST, ROWS, TEAM_ADMIN, Objects, Row

# Whoever may gets through, to the end.
DONE = (200, 201, 202, 204, 302)
RANKS = {"vera": Role.VIEWER, "bob": Role.CONTRIBUTOR, "rita": Role.REVIEWER, "alice": Role.MAINTAINER}
OUTSIDERS = ("carol", "mallory")


@pytest.fixture(scope="module")
def cast(django_db_setup: None, django_db_blocker: Any) -> Iterator[Cast]:
    """The people, once for all rows: every request is undone again."""
    hashers = override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"])
    with django_db_blocker.unblock(), transaction.atomic(), hashers:
        yield make_cast()
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def otto(cast: Cast) -> User:
    """A contributor in ledger who owns every object there, so that the others own none."""
    with as_system() as system:
        person = user_create(actor=system, email="otto@example.org", name="Otto", password=PASSWORD)
        member_add(actor=system, project=cast.project, user=person, role=Role.CONTRIBUTOR)
    return person


@pytest.fixture(scope="module")
def objects(cast: Cast, otto: User) -> Objects:
    """One of each kind in the project ledger, made by otto."""
    project, person = cast.project, otto
    alice, otto_ = cast.actor(cast.alice), cast.actor(otto)
    proposed = propose(otto_, project)
    unchecked = propose(otto_, project, problem="Another", check_spec=None)
    archived = propose(otto_, project, problem="A third")
    key = cast.key(person, role=Role.VIEWER)
    with acting_as(alice):
        connection = connection_create(actor=alice, project=project, name="R", kind=Connection.Kind.REHEARSAL)
        invitation, token = invitation_create(actor=alice, project=project, role=Role.VIEWER)
    with acting_as(otto_):
        solution_archive(actor=otto_, solution=archived.solution)
        run = run_start(
            actor=otto_, project=project, task="Add up.", connection=connection, origin=Run.Origin.DASHBOARD
        )
        lesson = lesson_record(
            actor=otto_,
            project=project,
            draft=NewLesson(exception_type="KeyError", message="'a'", failing_code="x", fixing_code="y"),
        ).lesson
        recall = recall_make(
            actor=alice, project=project, query=RecallRequest(task="Add up the amounts")
        ).recall
        gap = gap_record(actor=otto_, project=project, asked=parse("Fold a fitted sheet"))
        merge = merge_propose(actor=otto_, solution=proposed.solution, other=unchecked.solution)
        solution = proposed.solution
        solution.refresh_from_db()
        return {
            "team": "acme",
            "project": "ledger",
            "solution": str(solution.id),
            "seen_at": solution.updated_at.isoformat(),
            "unchecked": str(unchecked.solution.id),
            "unchecked_revision": str(unchecked.revision.id),
            "archived": str(archived.solution.id),
            "revision": str(proposed.revision.id),
            "number": 1,
            "lesson": str(lesson.id),
            "run": str(run.id),
            "connection": str(connection.id),
            "membership": str(ProjectMembership.objects.get(user=person).id),
            "invitation": str(invitation.id),
            "token": token,
            "key": str(ApiKey.objects.get(prefix=key.split("_")[1]).id),
            "recall": str(recall.id),
            "merge": str(merge.id),
            "gap": str(gap.id),
        }


def call(row: Row, objects: Objects, client: Client, **headers: str) -> int:
    """Make the request, undo what it did, and return the status."""
    url = reverse(row.route, args=[objects[name] for name in row.arguments])
    json = "application/json"
    with transaction.atomic():
        if row.route.startswith("api-") and row.method != "get":
            answer = client.generic(
                row.method.upper(), url, _json(row.payload(objects)), content_type=json, headers=headers
            )
        else:
            answer = getattr(client, row.method)(url, row.payload(objects) or None, headers=headers)
        transaction.set_rollback(True)
    return int(answer.status_code)


def _json(value: dict[str, Any]) -> str:
    import json

    return json.dumps(value)


def signed_in(cast: Cast, name: str) -> Client:
    client = Client()
    client.force_login(getattr(cast, name))
    return client


def patterns(resolver: URLResolver) -> Iterator[URLPattern]:
    for entry in resolver.url_patterns:
        if isinstance(entry, URLPattern):
            yield entry
        else:
            yield from patterns(entry)


def test_every_route_has_its_row() -> None:
    routes = {str(pattern.name) for pattern in patterns(get_resolver())}
    assert routes - {row.route for row in ROWS} == set(), "a new route needs its row in tests/web/matrix.py"
    assert {row.route for row in ROWS} - routes == set(), "a row names a route that is gone"


def test_every_method_of_rest_has_its_row() -> None:
    methods = {
        (str(pattern.name), method)
        for pattern in patterns(get_resolver())
        if (view := getattr(pattern.callback, "cls", None)) and issubclass(view, HubView)
        for method in view.http_method_names
        if hasattr(view, method) and method not in ("options", "head")
    }
    assert methods == {(row.route, row.method) for row in REST}


PAGE_METHODS = {(row.route, row.method): row for row in PAGES}
UNLISTED = [
    Row(row.route, method, row.least, row.arguments)
    for row in {row.route: row for row in PAGES}.values()
    for method in ("get", "post", "delete")
    if (row.route, method) not in PAGE_METHODS
]


@pytest.mark.parametrize("row", UNLISTED, ids=lambda row: f"{row.method} {row.route}")
def test_a_page_answers_no_method_without_a_row(row: Row, cast: Cast, objects: Objects) -> None:
    """So that nothing is done by a way in that the matrix does not know."""
    person = Client() if row.least == PUBLIC else signed_in(cast, "alice")
    assert call(row, objects, person) == 405, "a new method needs its row in tests/web/matrix.py"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.route}")
def test_who_may(row: Row, cast: Cast, objects: Objects) -> None:
    anonymous = call(row, objects, Client())
    if row.least == PUBLIC:
        assert anonymous in (200, 422)
        return
    assert anonymous in ((401, 403) if row.route.startswith(("api-", "run_stream")) else (302,))
    for name, role in RANKS.items():
        status = call(row, objects, signed_in(cast, name))
        if _may(row, name, role):
            assert status in DONE, name
        else:
            # A team that one belongs to is no secret; what one may not do in it is.
            assert status == row.refused, name
    for name in OUTSIDERS:
        status = call(row, objects, signed_in(cast, name))
        expected = {PERSON: status < 400 or status == 422, TEAM_ADMIN: status in (403, 404)}
        assert expected.get(str(row.least), status == 404), (name, status)


IN_PATH = [row for row in ROWS if {"team", "project"} < set(row.arguments)]


@pytest.mark.parametrize("row", IN_PATH, ids=lambda row: f"{row.method} {row.route}")
def test_an_object_is_not_reached_through_another_project(row: Row, cast: Cast, objects: Objects) -> None:
    """alice maintains both projects, mallory hers: neither address leads to what ledger owns."""
    for name, place in (
        ("alice", {"team": "acme", "project": "atlas"}),
        ("mallory", {"team": "rival", "project": "den"}),
    ):
        assert call(row, {**objects, **place}, signed_in(cast, name)) == 404, name


@pytest.mark.parametrize("row", OWN, ids=lambda row: f"{row.method} {row.route}")
def test_what_one_may_do_with_ones_own(row: Row, objects: Objects, otto: User) -> None:
    """otto, a contributor, made the objects of this test: less than the least role is enough for his own."""
    client = Client()
    client.force_login(otto)
    assert call(row, objects, client) in DONE


@pytest.mark.parametrize(
    "row",
    [row for row in REST if isinstance(row.least, Role) and row.least.rank > 0],
    ids=lambda row: f"{row.method} {row.route}",
)
def test_a_key_needs_the_role_whatever_its_owners(row: Row, cast: Cast, objects: Objects) -> None:
    assert isinstance(row.least, Role)
    below = list(Role)[row.least.rank - 1]
    key = cast.key(cast.alice, role=below)
    expected = row.refused
    if row.route == "api-key":  # alice sees otto's key as the maintainer she is, her lesser key does not
        expected = 404
    assert call(row, objects, Client(), Authorization=f"Bearer {key}") == expected


def _may(row: Row, name: str, role: Role) -> bool:
    if row.least == PERSON:
        return True
    if row.least == TEAM_ADMIN:
        return name == "alice"
    assert isinstance(row.least, Role)
    return role.rank >= row.least.rank


@pytest.mark.parametrize(
    "row", [row for row in REST if row.scope], ids=lambda row: f"{row.method} {row.route}"
)
def test_a_key_needs_the_scope_whatever_its_role(row: Row, cast: Cast, objects: Objects) -> None:
    assert row.scope is not None
    others = [scope for scope in Scope if scope is not row.scope]
    without = cast.key(cast.alice, role=Role.MAINTAINER, scopes=others)
    assert call(row, objects, Client(), Authorization=f"Bearer {without}") == 403
    if row.least == TEAM_ADMIN:
        return  # a key stays within its project, whatever its owner is in the team
    # What is changed must be seen first, so READ goes with it.
    only = cast.key(cast.alice, role=Role.MAINTAINER, scopes=[row.scope, Scope.READ])
    assert call(row, objects, Client(), Authorization=f"Bearer {only}") in DONE


@pytest.mark.parametrize("row", REST, ids=lambda row: f"{row.method} {row.route}")
def test_a_key_of_another_team_finds_nothing(row: Row, cast: Cast, objects: Objects) -> None:
    key = cast.key(cast.mallory, role=Role.MAINTAINER)
    status = call(row, objects, Client(), Authorization=f"Bearer {key}")
    if row.least == PERSON:
        assert status == 200
    else:
        assert status == 404


def test_a_revoked_key_is_no_key(cast: Cast) -> None:
    key = cast.key(cast.bob)
    me = {"path": "/api/v1/me/", "headers": {"Authorization": f"Bearer {key}"}}
    assert Client().get(**me).status_code == 200
    with transaction.atomic():
        with as_system():
            ApiKey.objects.update(revoked_at=now())
        assert Client().get(**me).status_code == 401
        transaction.set_rollback(True)

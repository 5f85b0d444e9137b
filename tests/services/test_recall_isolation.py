"""Nobody recalls what they cannot see: neither through a service, nor by calling the candidate function themselves."""

from collections.abc import Sequence
from uuid import UUID

import pytest
from django.db import connection, transaction

from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.permissions import Role, Scope
from memory_hub.common.errors import NotFound, PermissionDenied
from memory_hub.library.models import Revision
from memory_hub.recall.browse import search_runs, search_solutions
from memory_hub.recall.embedders import configured_embedder, embed_query
from memory_hub.recall.errors import parse_traceback
from memory_hub.recall.models import Embedding, IndexEntry, Recall, Term
from memory_hub.recall.search import search
from memory_hub.recall.selectors import recall_get, search_errors
from memory_hub.recall.services import lookup_error, recall_outcome
from memory_hub.recall.values import ErrorDetails
from tests.cast import Cast
from tests.services.library_support import run_actor, start_run
from tests.services.recall_support import TASK, ask, learn, offered, remember

ERROR = "ValueError: could not convert string to float: '1,5'"


@pytest.fixture
def known(cast: Cast) -> Revision:
    """A solution and a lesson of bob's in the project ledger."""
    learn(cast.actor(cast.bob), cast.project)
    return remember(cast.actor(cast.bob), cast.project)


def candidates(projects: Sequence[UUID], kind: str = "solution") -> int:
    """Call the SQL function as whoever acts, with a question that every arm answers."""
    query, like = ("'valueerror'", ERROR) if kind == "lesson" else ("'amount' | 'row'", TASK)
    embedder = configured_embedder()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM recall_candidates(%s::uuid[], %s, %s::tsquery, %s::tsquery, %s::text[]::tsquery[],"
            " %s::real[], %s::halfvec, %s, 40, 1000, 1000)",
            [
                list(projects), kind, query, query, ["'amount'"], [1.0], str(embed_query(embedder, like)),
                embedder.model_id,
            ],
        )  # fmt: skip
        return int(cursor.fetchone()[0])


def known_terms(projects: Sequence[UUID], asked: Sequence[str]) -> set[str]:
    """Call the function that knows the words of projects, as whoever acts."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT term FROM recall_known_terms(%s::uuid[], 'solution', %s)", [list(projects), list(asked)]
        )
        return {row[0] for row in cursor.fetchall()}


def test_nobody_learns_the_words_of_others_by_a_guess_or_a_typo(cast: Cast, known: Revision) -> None:
    every_project = [cast.project.id, cast.other_project.id, cast.rival_project.id]
    asked = ["amount", "amounz"]
    with acting_as(cast.actor(cast.bob)):
        assert known_terms(every_project, asked) == {"amount"}
        assert known_terms([cast.other_project.id], asked) == set()
    for stranger in (cast.carol, cast.mallory):
        with acting_as(cast.actor(stranger)):
            assert known_terms(every_project, asked) == set()
            assert not Term.objects.exists()
    with transaction.atomic():
        assert known_terms(every_project, asked) == set(), "nobody acts"


@pytest.mark.parametrize("kind", ["solution", "lesson"])
def test_the_candidate_function_reads_the_actor_from_the_transaction(
    cast: Cast, known: Revision, kind: str
) -> None:
    every_project = [cast.project.id, cast.other_project.id, cast.rival_project.id]
    with acting_as(cast.actor(cast.bob)):
        assert candidates(every_project, kind) == 1
        assert candidates([cast.other_project.id], kind) == 0
    for stranger in (cast.carol, cast.mallory):
        with acting_as(cast.actor(stranger)):
            assert candidates(every_project, kind) == 0
    with transaction.atomic():
        assert candidates(every_project, kind) == 0, "nobody acts"


@pytest.mark.parametrize("function", ["recall_candidates", "recall_known_terms"])
def test_the_functions_around_row_security_belong_to_the_owner_and_keep_their_search_path(
    cast: Cast, function: str
) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT prosecdef, pg_get_userbyid(proowner) <> current_user, proconfig::text FROM pg_proc "
            "WHERE proname = %s",
            [function],
        )
        security_definer, of_another, configuration = cursor.fetchone()
    assert security_definer
    assert of_another
    assert "search_path=public, pg_temp" in configuration


@pytest.mark.parametrize("name", ["carol", "mallory"])
def test_a_stranger_recalls_nothing_even_by_the_projects_id(cast: Cast, known: Revision, name: str) -> None:
    stranger = cast.actor(getattr(cast, name))
    with pytest.raises(PermissionDenied):
        ask(stranger, cast.project)
    with acting_as(stranger):
        assert search(text=TASK, projects=[cast.project.id]).scored == []
        assert search_solutions(stranger, [cast.project], TASK).nearest == []
        assert search_errors(stranger, [cast.project], parse_traceback(ERROR)) == []
        assert search_runs(stranger, [cast.project], "Add") == []
        with pytest.raises(PermissionDenied):
            lookup_error(actor=stranger, project=cast.project, error=ErrorDetails(traceback=ERROR))
        assert not IndexEntry.objects.exists()
        assert not Embedding.objects.exists()


def test_a_recall_of_another_project_is_not_there(cast: Cast, known: Revision) -> None:
    made = ask(cast.actor(cast.bob), cast.project).recall
    for stranger in (cast.actor(cast.carol), cast.actor(cast.mallory)):
        with acting_as(stranger):
            assert not Recall.objects.exists()
            with pytest.raises(NotFound):
                recall_get(stranger, made.id)
            with pytest.raises(NotFound):
                recall_outcome(actor=stranger, recall_id=made.id, used=[known.id], outcome="success")


def test_two_projects_never_mix(cast: Cast, known: Revision) -> None:
    alice = cast.actor(cast.alice)
    other = remember(alice, cast.other_project)
    assert offered(ask(alice, cast.project)) == [str(known.id)]
    assert offered(ask(alice, cast.other_project)) == [str(other.id)]


def test_a_key_needs_the_scope_to_recall(cast: Cast, known: Revision) -> None:
    with pytest.raises(PermissionDenied, match="recall"):
        ask(cast.key_actor(cast.bob, scopes=[Scope.READ]), cast.project)
    key = cast.key_actor(cast.vera, role=Role.VIEWER, scopes=[Scope.RECALL])
    made = ask(key, cast.project).recall
    assert (made.user_id, made.key_id) == (cast.vera.id, key.through_id)


def test_a_run_recalls_with_its_starters_rights_of_now(cast: Cast, known: Revision) -> None:
    run = start_run(cast.project, cast.bob)
    answer = ask(run_actor(run), cast.project, run=run)
    assert offered(answer) == [str(known.id)]
    assert answer.recall.run == run
    with pytest.raises(PermissionDenied):
        ask(run_actor(run), cast.other_project)
    with as_system():
        cast.bob.project_memberships.all().delete()
    with pytest.raises(PermissionDenied):
        ask(run_actor(run), cast.project)


def test_without_the_scope_a_run_recalls_nothing(cast: Cast, known: Revision) -> None:
    run = start_run(cast.project, cast.bob)
    run.scopes = [Scope.READ, Scope.PROPOSE]
    with pytest.raises(PermissionDenied, match="recall"):
        ask(run_actor(run), cast.project, run=run)

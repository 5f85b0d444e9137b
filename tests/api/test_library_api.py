"""The library over REST: proposed, read, changed, refined, deleted, with the same rules as everywhere."""

from typing import Any

import pytest

from memory_hub.access.actor import as_system
from memory_hub.access.permissions import Role, Scope
from memory_hub.audit.models import AuditEntry
from memory_hub.library.models import Evidence, Revision, Solution
from tests.api.api_support import LEDGER, Caller, caller
from tests.cast import Cast
from tests.services.library_support import CHECK, CODE, approve, propose, start_run, verified

BODY = {"problem": "Add up the amount of every row.", "code": CODE, "check_spec": CHECK, "tags": ["csv"]}


@pytest.fixture
def bob(cast: Cast) -> Caller:
    return caller(cast, cast.bob)


def proposed(bob: Caller, **changes: Any) -> dict[str, Any]:
    """Propose and return the answer."""
    answer = bob.post(f"{LEDGER}/solutions/", {**BODY, **changes})
    assert answer.status_code == 201, answer.json()
    return dict(answer.json())


# --- proposing


def test_what_was_proposed_is_there_byte_for_byte(bob: Caller) -> None:
    code = "def total(rows):\r\n\treturn '\u2028\u202eé😀  '\n \n"
    said = proposed(bob, code=code)
    assert said["deduplicated"] is False
    shown = bob.get(f"/api/v1/solutions/{said['id']}/").json()
    assert shown["revision"]["code"] == code
    assert shown["revision"]["id"] == said["revision"]
    assert shown["title"] == "Add up the amount of every row."
    assert (shown["status"], shown["verification"], shown["archived"]) == ("candidate", "unverified", False)
    assert shown["revision"]["check_is_waiting"] is True
    assert shown["author"]["name"] == "Bob"
    assert shown["quality"].pop("worth") < 0.1
    assert shown["quality"] == {
        "score": None, "share": None, "n": 0, "reuses": 0, "reuse_successes": 0, "not_applicable": 0,
        "last_verified": None, "last_used": None,
    }  # fmt: skip


def test_the_only_function_is_the_entry_point_unless_told(bob: Caller) -> None:
    only = bob.get(f"/api/v1/revisions/{proposed(bob)['revision']}/").json()
    assert (only["entry_point"], only["is_script"]) == ("total", False)
    two = proposed(bob, code=CODE + "def helper(): pass\n", check_spec=None)
    assert bob.get(f"/api/v1/revisions/{two['revision']}/").json()["is_script"] is True
    script = proposed(bob, problem="As a script", entry_point="", check_spec=None)
    assert bob.get(f"/api/v1/revisions/{script['revision']}/").json()["entry_point"] == ""


def test_the_same_again_is_not_added_and_says_what_it_is_a_duplicate_of(bob: Caller) -> None:
    first = proposed(bob)
    answer = bob.post(f"{LEDGER}/solutions/", BODY)
    assert answer.status_code == 200
    assert answer.json() == {**first, "deduplicated": True, "duplicate_of": first["id"]}


def test_a_list_is_taken_whole(bob: Caller) -> None:
    answer = bob.post(f"{LEDGER}/solutions/", [BODY, {**BODY, "problem": "Another"}, BODY])
    assert answer.status_code == 201
    assert [item["deduplicated"] for item in answer.json()] == [False, False, True]


def test_or_not_at_all_and_the_answer_names_the_one_that_was_refused(bob: Caller) -> None:
    answer = bob.post(f"{LEDGER}/solutions/", [BODY, {**BODY, "problem": "Bad", "entry_point": "nothing"}])
    assert answer.status_code == 422
    assert answer.json()["index"] == 1
    with as_system():
        assert not Solution.objects.exists()


@pytest.mark.parametrize("body", [[], [BODY] * 51])
def test_a_list_has_a_length(bob: Caller, body: list[Any]) -> None:
    assert bob.post(f"{LEDGER}/solutions/", body).status_code == 422


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"code": "x = '\u0000'"}, "code"),
        ({"code": 7}, "code"),
        ({"problem": " "}, "problem"),
        ({"kind": "poem"}, "kind"),
        ({"check_spec": {"args": []}}, "check_spec"),
        ({"code": "def f(:\n", "entry_point": "f"}, "code"),
        ({"tags": ["x" * 41]}, "tags"),
        ({"code": "key = 'AKIAIOSFODNN7EXAMPLX'\n", "check_spec": None}, "code"),
    ],
)
def test_bad_input_is_a_problem_that_names_the_field(
    bob: Caller, changes: dict[str, Any], field: str
) -> None:
    answer = bob.post(f"{LEDGER}/solutions/", {**BODY, **changes})
    assert answer.status_code == 422
    assert answer.headers["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert field in problem["fields"]
    assert problem["code"] in ("invalid_input", "secret_found")


def test_a_body_that_is_no_object_is_refused(bob: Caller) -> None:
    for body in ('"text"', "7", "null", "[7]", "{"):
        answer = bob._client.post(f"{LEDGER}/solutions/", body, content_type="application/json")
        assert answer.status_code in (400, 422), body


def test_a_body_beyond_the_limit_is_refused(bob: Caller, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 2_000
    answer = bob.post(f"{LEDGER}/solutions/", {**BODY, "problem": "x" * 3_000})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


# --- retries


def test_a_retry_with_the_same_key_creates_nothing_twice(bob: Caller) -> None:
    first = bob.post(f"{LEDGER}/solutions/", BODY, retry_key="abc")
    second = bob.post(f"{LEDGER}/solutions/", BODY, retry_key="abc")
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json() == first.json()
    assert second.headers["Idempotent-Replay"] == "true"
    with as_system():
        assert Solution.objects.count() == 1


def test_the_same_key_on_another_body_is_a_mistake_that_is_told(bob: Caller) -> None:
    bob.post(f"{LEDGER}/solutions/", BODY, retry_key="abc")
    for content_type in ("application/json", "application/json; charset=utf-8"):
        answer = bob._client.post(
            f"{LEDGER}/solutions/", {**BODY, "problem": "Another"}, content_type=content_type,
            headers={"Idempotency-Key": "abc"},
        )  # fmt: skip
        assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_key_reused")


def test_a_refused_write_does_not_use_up_its_key(bob: Caller) -> None:
    assert bob.post(f"{LEDGER}/solutions/", {**BODY, "code": ""}, retry_key="abc").status_code == 422
    assert bob.post(f"{LEDGER}/solutions/", BODY, retry_key="abc").status_code == 201


def test_a_refinement_is_retried_safely(bob: Caller) -> None:
    said = proposed(bob)
    body = {"based_on": said["revision"], "code": CODE + "# better\n"}
    first = bob.post(f"/api/v1/solutions/{said['id']}/revisions/", body, retry_key="r")
    second = bob.post(f"/api/v1/solutions/{said['id']}/revisions/", body, retry_key="r")
    assert first.status_code == second.status_code == 201
    assert second.json()["id"] == first.json()["id"]


# --- listing


def test_the_list_is_filtered_by_what_the_query_string_says(cast: Cast, bob: Caller) -> None:
    one = proposed(bob)
    two = proposed(bob, problem="Second", kind="algorithm", tags=["sql"], check_spec=None)
    approve(cast.rita, Revision(id=one["revision"], solution_id=one["id"], project_id=cast.project.id))
    with as_system():
        verified(Revision.objects.get(id=one["revision"]))

    def ids(**query: Any) -> list[str]:
        answer = bob.get(f"{LEDGER}/solutions/", **query)
        assert answer.status_code == 200, answer.json()
        return [row["id"] for row in answer.json()["results"]]

    assert ids() == [two["id"], one["id"]]
    assert ids(status="approved") == [one["id"]]
    assert ids(status="candidate") == [two["id"]]
    assert ids(verification="passed") == [one["id"]]
    assert ids(kind="algorithm") == [two["id"]]
    assert ids(tag="SQL") == [two["id"]]
    assert ids(author=str(cast.rita.id)) == []
    bob.post(f"/api/v1/solutions/{two['id']}/archive/")
    assert ids() == [one["id"]]
    assert ids(status="archived") == [two["id"]]


def test_an_unknown_filter_value_is_refused_not_ignored(bob: Caller) -> None:
    answer = bob.get(f"{LEDGER}/solutions/", status="great")
    assert answer.status_code == 422
    assert "status" in answer.json()["fields"]


def test_a_list_costs_the_same_number_of_queries_however_long(
    bob: Caller, django_assert_max_num_queries: Any
) -> None:
    for number in range(6):
        proposed(bob, problem=f"Problem {number}")
    with django_assert_max_num_queries(22):
        assert bob.get(f"{LEDGER}/solutions/").json()["count"] == 6


def test_pages_have_a_size(bob: Caller) -> None:
    for number in range(3):
        proposed(bob, problem=f"Problem {number}")
    page = bob.get(f"{LEDGER}/solutions/", page_size=2).json()
    assert (page["count"], len(page["results"])) == (3, 2)
    assert page["next"]
    assert bob.get(f"{LEDGER}/solutions/", page=9).status_code == 404


# --- one solution


def test_words_are_changed_and_code_is_not(bob: Caller) -> None:
    said = proposed(bob)
    url = f"/api/v1/solutions/{said['id']}/"
    changed = bob.patch(url, {"title": "Sum", "edge_cases": ["No rows"]}).json()
    assert (changed["title"], changed["edge_cases"]) == ("Sum", ["No rows"])
    stale = bob.patch(url, {"title": "Again", "seen_at": "2020-01-01T00:00:00Z"})
    assert (stale.status_code, stale.json()["code"]) == (409, "stale")


def test_deleting_is_for_maintainers_and_is_final(cast: Cast, bob: Caller) -> None:
    said = proposed(bob)
    url = f"/api/v1/solutions/{said['id']}/"
    assert bob.delete(url).status_code == 403
    alice = caller(cast, cast.alice, role=Role.MAINTAINER)
    assert alice.delete(url).status_code == 204
    assert alice.get(url).status_code == 404
    assert alice.get(f"/api/v1/revisions/{said['revision']}/").status_code == 404


def test_reading_code_is_audited_with_the_key_it_was_read_through(cast: Cast, bob: Caller) -> None:
    said = proposed(bob)
    bob.get(f"/api/v1/revisions/{said['revision']}/")
    with as_system():
        entry = AuditEntry.objects.get(event="solution:read")
    assert (entry.actor_kind, entry.actor_id) == ("key", cast.bob.id)
    assert entry.through_id is not None


# --- revisions


def test_a_refinement_keeps_entry_point_and_check(bob: Caller) -> None:
    said = proposed(bob)
    answer = bob.post(
        f"/api/v1/solutions/{said['id']}/revisions/",
        {"based_on": said["revision"], "code": CODE + "# better\n", "change_note": "Why not"},
    )
    new = answer.json()
    assert answer.status_code == 201
    assert (new["number"], new["entry_point"], new["parent"]) == (2, "total", said["revision"])
    assert new["check_spec"] == {**CHECK, "inputs": {}}
    listed = bob.get(f"/api/v1/solutions/{said['id']}/revisions/").json()["results"]
    assert [row["number"] for row in listed] == [2, 1]
    stale = bob.post(
        f"/api/v1/solutions/{said['id']}/revisions/", {"based_on": said["revision"], "code": CODE}
    )
    assert (stale.status_code, stale.json()["code"], stale.json()["latest"]) == (
        409,
        "stale_revision",
        new["id"],
    )


def test_the_difference_of_two_revisions(bob: Caller) -> None:
    said = proposed(bob)
    new = bob.post(
        f"/api/v1/solutions/{said['id']}/revisions/",
        {"based_on": said["revision"], "code": CODE + "# better", "usage_example": "total([])"},
    ).json()
    shown = bob.get(f"/api/v1/revisions/{said['revision']}/diff/{new['id']}/").json()
    assert shown["diff"].splitlines() == [
        "--- revision 1", "+++ revision 2", "@@ -1,2 +1,3 @@", " def total(rows: list[dict]) -> int:",
        '     return sum(row["amount"] for row in rows)', "+# better", "\\ No newline at end of file",
    ]  # fmt: skip
    assert shown["changed"] == {"usage_example": {"old": "", "new": "total([])"}}
    other = proposed(bob, problem="Another")
    assert bob.get(f"/api/v1/revisions/{said['revision']}/diff/{other['revision']}/").status_code == 404


def test_a_check_is_asked_for_and_shown_as_waiting(bob: Caller) -> None:
    said = proposed(bob)
    with as_system():
        verified(Revision.objects.get(id=said["revision"]))
    answer = bob.post(f"/api/v1/solutions/{said['id']}/verify/", {})
    assert answer.status_code == 202
    assert (answer.json()["check_is_waiting"], answer.json()["verification"]) == (True, "passed")


def test_a_missing_check_is_given_once(bob: Caller) -> None:
    said = proposed(bob, check_spec=None)
    assert bob.post(f"/api/v1/solutions/{said['id']}/verify/", {}).json()["code"] == "no_check"
    url = f"/api/v1/revisions/{said['revision']}/check/"
    assert bob.put(url, CHECK).json()["check_is_waiting"] is True
    assert bob.put(url, CHECK).status_code == 409


# --- evidence and links


def test_a_report_becomes_evidence_and_quality(cast: Cast, bob: Caller) -> None:
    said = proposed(bob)
    url = f"/api/v1/solutions/{said['id']}/evidence/"
    run = start_run(cast.project, cast.bob)
    metric = {"name": "rows", "value": 12.5, "unit": "1/s", "better": "higher"}
    answer = bob.post(url, {"outcome": "success", "metric": metric, "run": str(run.id), "sandbox": "docker"})
    assert answer.status_code == 201
    assert answer.json()["metric"] == metric
    bob.post(url, {"outcome": "failure", "note": "Not on ours"})
    bob.post(url, {"outcome": "success"})
    listed = bob.get(url).json()["results"]
    assert [row["superseded"] for row in listed] == [False, True, False]
    quality = bob.get(f"/api/v1/solutions/{said['id']}/").json()["quality"]
    assert (quality["n"], quality["share"], quality["reuses"]) == (2, 1.0, 0)
    assert quality["score"] == pytest.approx(0.2065, abs=1e-3)  # two reports weigh as much as one use


def test_nobody_reports_that_a_check_passed(bob: Caller) -> None:
    said = proposed(bob)
    bob.post(f"/api/v1/solutions/{said['id']}/evidence/", {"outcome": "success", "kind": "verified"})
    with as_system():
        assert Evidence.objects.get().kind == "reported"


def test_a_solution_without_links_has_none(bob: Caller) -> None:
    assert bob.get(f"/api/v1/solutions/{proposed(bob)['id']}/links/").json()["results"] == []


# --- whose


FOREIGN = [
    ("get", "/api/v1/solutions/{solution}/", None),
    ("patch", "/api/v1/solutions/{solution}/", {"title": "Mine"}),
    ("delete", "/api/v1/solutions/{solution}/", None),
    ("post", "/api/v1/solutions/{solution}/archive/", {}),
    ("delete", "/api/v1/solutions/{solution}/archive/", None),
    ("get", "/api/v1/solutions/{solution}/revisions/", None),
    ("post", "/api/v1/solutions/{solution}/revisions/", {"based_on": "{revision}", "code": "x"}),
    ("get", "/api/v1/solutions/{solution}/evidence/", None),
    ("post", "/api/v1/solutions/{solution}/evidence/", {"outcome": "success"}),
    ("get", "/api/v1/solutions/{solution}/links/", None),
    ("post", "/api/v1/solutions/{solution}/verify/", {}),
    ("get", "/api/v1/solutions/{solution}/reviews/", None),
    ("post", "/api/v1/solutions/{solution}/reviews/", {"revision": "{revision}", "decision": "approve"}),
    ("get", "/api/v1/solutions/{solution}/rating/", None),
    ("put", "/api/v1/solutions/{solution}/rating/", {"stars": 5}),
    ("get", "/api/v1/revisions/{revision}/", None),
    ("put", "/api/v1/revisions/{revision}/check/", CHECK),
    ("get", "/api/v1/revisions/{revision}/diff/{revision}/", None),
    ("get", f"{LEDGER}/solutions/", None),
    ("post", f"{LEDGER}/solutions/", BODY),
    ("get", f"{LEDGER}/lessons/", None),
    ("get", f"{LEDGER}/reviews/", None),
]


@pytest.mark.parametrize(("method", "path", "body"), FOREIGN)
def test_other_projects_and_other_teams_find_nothing(cast: Cast, method: str, path: str, body: Any) -> None:
    mine = propose(cast.actor(cast.bob), cast.project)
    names = {"{solution}": str(mine.solution.id), "{revision}": str(mine.revision.id)}
    for name, value in names.items():
        path = path.replace(name, value)
        body = (
            {k: v.replace(name, value) if isinstance(v, str) else v for k, v in body.items()}
            if body
            else body
        )
    with as_system():
        before = list(Solution.objects.values()), list(Revision.objects.values())
    mallory = caller(cast, cast.mallory)
    answer = getattr(mallory, method)(path, body) if body is not None else getattr(mallory, method)(path)
    assert answer.status_code == 404, answer.content
    assert answer.json()["code"] == "not_found"
    with as_system():
        assert (list(Solution.objects.values()), list(Revision.objects.values())) == before


def test_a_key_without_the_read_scope_reads_nothing(cast: Cast) -> None:
    mine = propose(cast.actor(cast.bob), cast.project)
    narrow = caller(cast, cast.bob, scopes=[Scope.RECALL])
    assert narrow.get(f"/api/v1/solutions/{mine.solution.id}/").status_code == 403
    assert narrow.get(f"{LEDGER}/solutions/").status_code == 403


def test_a_viewer_reads_and_does_not_write(cast: Cast) -> None:
    mine = propose(cast.actor(cast.bob), cast.project)
    vera = caller(cast, cast.vera)
    assert vera.get(f"/api/v1/solutions/{mine.solution.id}/").status_code == 200
    assert vera.post(f"{LEDGER}/solutions/", BODY).status_code == 403
    assert vera.patch(f"/api/v1/solutions/{mine.solution.id}/", {"title": "x"}).status_code == 403
    assert vera.post(f"/api/v1/solutions/{mine.solution.id}/verify/", {}).status_code == 403


def test_without_a_key_nothing_is_said(cast: Cast) -> None:
    mine = propose(cast.actor(cast.bob), cast.project)
    assert Caller("mh_wrong").get(f"/api/v1/solutions/{mine.solution.id}/").status_code == 401


# --- lessons


LESSON = {
    "exception_type": "ValueError",
    "message": "could not convert string to float: '1,5'",
    "failing_code": "float('1,5')\r\n",
    "fixing_code": "float('1,5'.replace(',', '.'))",
}


def test_a_lesson_is_recorded_once(cast: Cast, bob: Caller) -> None:
    first = bob.post(f"{LEDGER}/lessons/", LESSON)
    assert first.status_code == 201
    assert first.json()["failing_code"] == LESSON["failing_code"]
    second = bob.post(f"{LEDGER}/lessons/", LESSON)
    assert (second.status_code, second.json()["id"]) == (200, first.json()["id"])
    assert bob.get(f"/api/v1/lessons/{first.json()['id']}/").json()["is_open"] is False


def test_lessons_are_filtered(bob: Caller) -> None:
    bob.post(f"{LEDGER}/lessons/", LESSON)
    bob.post(
        f"{LEDGER}/lessons/",
        {"exception_type": "pandas.errors.ParserError", "message": "x", "failing_code": "y"},
    )
    assert bob.get(f"{LEDGER}/lessons/", state="open").json()["count"] == 1
    assert bob.get(f"{LEDGER}/lessons/", exception="ParserError").json()["count"] == 1
    assert bob.get(f"{LEDGER}/lessons/").json()["count"] == 2


def test_lessons_of_others_are_not_there(cast: Cast, bob: Caller) -> None:
    lesson = bob.post(f"{LEDGER}/lessons/", LESSON).json()["id"]
    mallory = caller(cast, cast.mallory)
    assert mallory.get(f"/api/v1/lessons/{lesson}/").status_code == 404
    assert mallory.delete(f"/api/v1/lessons/{lesson}/").status_code == 404
    assert bob.delete(f"/api/v1/lessons/{lesson}/").status_code == 403
    alice = caller(cast, cast.alice, role=Role.MAINTAINER)
    assert alice.delete(f"/api/v1/lessons/{lesson}/").status_code == 204


def test_a_lesson_cannot_name_the_solution_of_others(cast: Cast, bob: Caller) -> None:
    theirs = propose(cast.actor(cast.carol), cast.other_project).solution
    assert bob.post(f"{LEDGER}/lessons/", {**LESSON, "solution": str(theirs.id)}).status_code == 404

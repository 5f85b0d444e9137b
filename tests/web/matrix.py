"""The permission matrix: who may call which route. A new route without a row fails the build.

Each row says the least role in the project; those of another project or team get 404, whatever the route.
`payload` is a valid body, so that a refusal can only come from the permission.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from memory_hub.access.permissions import Role, Scope
from tests.cast import PASSWORD

PUBLIC, PERSON, TEAM_ADMIN = "public", "person", "team admin"
V, C, R, M = Role.VIEWER, Role.CONTRIBUTOR, Role.REVIEWER, Role.MAINTAINER

Objects = dict[str, Any]
Payload = Callable[[Objects], dict[str, Any]]


def _empty(_: Objects) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Row:
    """One method of one route. `arguments` names what the path takes from the objects of the test."""

    route: str
    method: str
    least: Role | str
    arguments: tuple[str, ...] = ()
    payload: Payload = field(default=_empty)
    # What a key needs for it (REST only).
    scope: Scope | None = None
    # Below the least role: 403, or 404 where the very object is hidden from them (other people's keys).
    refused: int = 403
    # The owner of the object may as well, as contributor.
    own: bool = False


_P = ("team", "project")


def page(
    route: str, least: Role | str, *more: str, post: Role | None = None, payload: Payload = _empty
) -> list[Row]:
    """A page of a project, and its form's POST where `post` says who may."""
    rows = [Row(route, "get", least, (*_P, *more))]
    return rows + ([Row(route, "post", post, (*_P, *more), payload)] if post else [])


def action(route: str, least: Role, *more: str, payload: Payload = _empty) -> list[Row]:
    """A page's button: POST only."""
    return [Row(route, "post", least, (*_P, *more), payload)]


def rest(route: str, arguments: tuple[str, ...], **methods: tuple[Any, ...]) -> list[Row]:
    """Methods of a REST route: (least role, scope[, payload])."""
    return [
        Row(f"api-{route}", method, said[0], arguments, said[2] if len(said) > 2 else _empty, said[1])
        for method, said in methods.items()
    ]


def _refined(objects: Objects) -> dict[str, Any]:
    return {
        "based_on": objects["revision"],
        "code": "def total(rows):\n    return 5\n",
        "entry_point": "total",
    }


def _decided(objects: Objects) -> dict[str, Any]:
    return {
        "decision": "approve", "note": "Good.", "expected_latest": objects["revision"],
        "expected_status": "candidate",
    }  # fmt: skip


def _reviewed(objects: Objects) -> dict[str, Any]:
    return {"revision": objects["revision"], "decision": "approve", "note": "Good."}


def _seen(objects: Objects) -> list[dict[str, str]]:
    return [
        {"solution": objects["solution"], "latest_revision": objects["revision"]},
        {"solution": objects["unchecked"], "latest_revision": objects["unchecked_revision"]},
    ]


def _merged(objects: Objects) -> dict[str, Any]:
    own, into = _seen(objects)
    return {
        "into": into["solution"], "latest_revision": own["latest_revision"],
        "into_latest_revision": into["latest_revision"],
    }  # fmt: skip


def _pair(objects: Objects) -> dict[str, Any]:
    return {"solution": objects["solution"], "other": objects["unchecked"]}


def _kept_apart(objects: Objects) -> dict[str, Any]:
    return {"decision": "decline", "note": "Other columns.", "seen": _seen(objects)}


def _kept_apart_form(objects: Objects) -> dict[str, Any]:
    one, two = sorted(_seen(objects), key=lambda item: item["solution"])
    return {
        "decision": "decline", "note": "Other columns.", "one_latest": one["latest_revision"],
        "two_latest": two["latest_revision"],
    }  # fmt: skip


SOLUTION = {
    "title": "Sort", "problem": "Sort the rows.", "code": "def sort(rows):\n    return sorted(rows)\n",
    "entry_point": "sort", "kind": "other",
}  # fmt: skip
NEW_PASSWORD = {
    "oldpassword": PASSWORD, "password1": "purple monkey dishwasher", "password2": "purple monkey dishwasher",
}  # fmt: skip
CHECK = {"check_args": "[[1]]", "check_result": "5"}
CONNECTION = {"name": "Other", "kind": "rehearsal"}
LESSON = {
    "exception_type": "KeyError",
    "message": "'x'",
    "failing_code": "d['x']",
    "fixing_code": "d.get('x')",
}


def _run(objects: Objects) -> dict[str, Any]:
    return {
        "task": "Add up.", "connection": objects["connection"], "sandbox": "auto", "memory_on": True,
        "max_steps": 3, "time_limit_seconds": 60,
    }  # fmt: skip


PAGES = [
    Row("home", "get", PERSON),
    Row("account_login", "get", PUBLIC),
    Row("account_login", "post", PUBLIC),
    Row("account_logout", "get", PERSON),
    Row("account_logout", "post", PERSON),
    Row("account_change_password", "get", PERSON),
    Row("account_change_password", "post", PERSON, payload=lambda _: NEW_PASSWORD),
    Row("invitation", "get", PUBLIC, ("token",)),
    Row("invitation", "post", PUBLIC, ("token",)),
    Row("project_new", "get", TEAM_ADMIN, ("team",)),
    Row("project_new", "post", TEAM_ADMIN, ("team",), lambda _: {"name": "Another"}),
    Row("livez", "get", PUBLIC),
    Row("readyz", "get", PUBLIC),
    Row("api-schema", "get", PUBLIC),
    Row("api-docs", "get", PUBLIC),
    Row("search", "get", PERSON),
    *page("project", V),
    *page("project_search", V),
    *page("gaps", V, post=V, payload=lambda _: {"q": "Fold a fitted sheet lib:pandas"}),
    *page("gap", V, "gap", post=C, payload=lambda o: {"decision": "close", "solution": o["solution"]}),
    *page("library", V),
    *page("solution_new", C, post=C, payload=lambda _: SOLUTION),
    *page("solution", V, "solution"),
    *page("solution_edit", C, "solution", post=C, payload=lambda o: {**SOLUTION, "seen_at": o["seen_at"]}),
    *page("solution_delete", M, "solution", post=M),
    Row("solution_archive", "post", R, (*_P, "solution"), own=True),
    *page("revision", V, "solution", "number"),
    *page("revision_raw", V, "solution", "number"),
    *page("revision_check", V, "solution", "number"),
    *page("revision_diff", V, "solution", "number", "number"),
    *page("revision_refine", C, "solution", post=C, payload=_refined),
    *page("check_set", C, "unchecked", "number", post=C, payload=lambda _: CHECK),
    *action("revision_verify", C, "solution", "number"),
    *page("lessons", V),
    *page("lesson", V, "lesson"),
    *action("lesson_delete", M, "lesson"),
    *page("solution_graph", V, "solution"),
    *page("review_queue", V),
    *page("merge_proposal", V, "merge", post=R, payload=_kept_apart_form),
    *page("merge_propose", C, "solution", post=C, payload=lambda o: {"other": o["unchecked"], "note": ""}),
    *action("revision_decide", R, "solution", "number", payload=_decided),
    *action("solution_rate", C, "solution", payload=lambda _: {"stars": "4"}),
    *page("runs", V),
    *page("run_new", C, post=C, payload=_run),
    *page("run", V, "run"),
    *page("run_stream", V, "run"),
    Row("run_cancel", "post", M, (*_P, "run"), own=True),
    *page("connections", V),
    *page("connection_new", M, post=M, payload=lambda _: CONNECTION),
    *page("connection_edit", M, "connection", post=M, payload=lambda _: CONNECTION),
    *page("connection_retire", M, "connection", post=M),
    *page("members", V, post=M, payload=lambda _: {"role": "viewer"}),
    *action("member_edit", M, "membership", payload=lambda _: {"role": "reviewer"}),
    *action("invitation_revoke", M, "invitation"),
    *page("keys", V, post=V, payload=lambda _: {"name": "k", "role": "viewer", "scopes": ["read"]}),
    Row("key_revoke", "post", M, (*_P, "key"), refused=404, own=True),
    *page("audit", M),
    *page("project_settings", M, post=M, payload=lambda _: {"name": "Ledger", "recall_policy": "approved"}),
]

READ, RECALL, PROPOSE, RUN, REVIEW, ADMIN = Scope
REST = [
    Row("api-me", "get", PERSON),
    Row("api-projects", "get", PERSON),
    Row("api-projects", "post", TEAM_ADMIN, (), lambda o: {"team": o["team"], "name": "Another"}, ADMIN),
    *rest("project", _P, get=(V, READ), patch=(M, ADMIN, lambda _: {"name": "New"})),
    *rest("members", _P, get=(V, READ)),
    *rest("member", (*_P, "membership"), patch=(M, ADMIN, lambda _: {"role": "reviewer"})),
    Row("api-member", "delete", M, (*_P, "membership"), scope=ADMIN, own=True),
    *rest("invitations", _P, get=(M, ADMIN), post=(M, ADMIN, lambda _: {"role": "viewer"})),
    *rest("invitation", (*_P, "invitation"), delete=(M, ADMIN)),
    *rest(
        "keys",
        _P,
        get=(V, ADMIN),
        post=(V, ADMIN, lambda _: {"name": "k", "role": "viewer", "scopes": ["admin"]}),
    ),
    Row("api-key", "delete", M, (*_P, "key"), scope=ADMIN, refused=404, own=True),
    *rest("audit", _P, get=(M, ADMIN)),
    *rest(
        "runs", _P, get=(V, READ), post=(C, RUN, lambda o: {"task": "Add.", "connection": o["connection"]})
    ),
    *rest(
        "run-record", _P, post=(C, PROPOSE, lambda _: {"task": "Add.", "outcome": "succeeded", "steps": []})
    ),
    *rest("run", ("run",), get=(V, READ)),
    *rest("run-steps", ("run",), get=(V, READ)),
    *rest("run-events", ("run",), get=(V, READ)),
    Row("api-run-cancel", "post", M, ("run",), scope=RUN, own=True),
    *rest("connections", _P, get=(V, READ), post=(M, ADMIN, lambda _: CONNECTION)),
    *rest(
        "connection",
        ("connection",),
        get=(V, READ),
        patch=(M, ADMIN, lambda _: {"name": "New"}),
        delete=(M, ADMIN),
    ),
    *rest("solutions", _P, get=(V, READ), post=(C, PROPOSE, lambda _: SOLUTION)),
    *rest(
        "solution",
        ("solution",),
        get=(V, READ),
        patch=(C, PROPOSE, lambda _: {"title": "New"}),
        delete=(M, ADMIN),
    ),
    Row("api-solution-archive", "post", R, ("solution",), scope=REVIEW, own=True),
    Row("api-solution-archive", "delete", R, ("archived",), scope=REVIEW, own=True),
    *rest("revisions", ("solution",), get=(V, READ), post=(C, PROPOSE, _refined)),
    *rest("revision", ("revision",), get=(V, READ)),
    *rest("revision-check", ("unchecked_revision",), put=(C, PROPOSE, lambda _: {"args": [], "result": 5})),
    *rest("revision-diff", ("revision", "revision"), get=(V, READ)),
    *rest("evidence", ("solution",), get=(V, READ), post=(C, PROPOSE, lambda _: {"outcome": "success"})),
    *rest("links", ("solution",), get=(V, READ)),
    *rest("solution-graph", ("solution",), get=(V, READ)),
    *rest("solution-merge", ("solution",), post=(R, REVIEW, _merged)),
    *rest("merge-proposals", _P, get=(V, READ), post=(C, PROPOSE, _pair)),
    *rest("merge-proposal", ("merge",), get=(V, READ)),
    *rest("merge-decision", ("merge",), post=(R, REVIEW, _kept_apart)),
    *rest("verify", ("solution",), post=(C, PROPOSE)),
    *rest("lessons", _P, get=(V, READ), post=(C, PROPOSE, lambda _: LESSON)),
    *rest("lesson", ("lesson",), get=(V, READ), delete=(M, ADMIN)),
    *rest("review-queue", _P, get=(V, READ)),
    *rest("reviews", ("solution",), get=(V, READ), post=(R, REVIEW, _reviewed)),
    *rest("rating", ("solution",), get=(V, READ), put=(C, PROPOSE, lambda _: {"stars": 4})),
    *rest("recall", _P, post=(V, RECALL, lambda _: {"task": "Add up the amounts"})),
    Row("api-search", "get", PERSON, (), lambda _: {"q": "Add up"}),
    *rest("project-search", _P, get=(V, READ, lambda _: {"q": "Add up lib:pandas"})),
    *rest("gaps", _P, get=(V, READ), post=(V, RECALL, lambda _: {"q": "Fold a fitted sheet"})),
    *rest("gap", ("gap",), get=(V, READ)),
    *rest("gap-decision", ("gap",), post=(C, PROPOSE, lambda _: {"decision": "dismiss"})),
    *rest("recall-get", ("recall",), get=(V, READ)),
    *rest("recall-outcome", ("recall",), post=(V, RECALL, lambda _: {"used": [], "outcome": "success"})),
]
ROWS = [*PAGES, *REST]
# What an owner may do with their own, as contributor; leaving is a member's own deed.
OWN = [
    *(row for row in ROWS if row.own),
    Row("member_edit", "post", M, (*_P, "membership"), lambda _: {"remove": "1"}),
]

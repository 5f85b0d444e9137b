"""The pages of runs and connections: forms that work without JavaScript, and a run page that shows everything."""

import re
from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from memory_hub.access.actor import as_system
from memory_hub.access.models import User
from memory_hub.runs.models import Connection, Run, RunEvent, RunInput
from memory_hub.runs.samples import samples
from memory_hub.runs.secrets import decrypt
from memory_hub.runs.services import (
    Captured,
    UploadedInput,
    event_append,
    input_path,
    run_capture_begin,
    run_capture_failed,
    run_captured,
    run_prepared,
    step_set_hint,
)
from tests.cast import Cast
from tests.services.runs_support import TASK, again, claimed, end, make_connection, start, take_step

LEDGER = "/p/acme/ledger"


def browser(person: User) -> Client:
    """A browser in which the person is signed in."""
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def connection(cast: Cast) -> Connection:
    return make_connection(cast.project)


@pytest.fixture
def bob(cast: Cast, connection: Connection) -> Client:
    return browser(cast.bob)


def filled(chosen: Connection, **changes: Any) -> dict[str, Any]:
    """The fields of the form for a new run."""
    return {
        "task": TASK, "connection": str(chosen.id), "sandbox": "auto", "memory_on": "on", "max_steps": "8",
        "time_limit_seconds": "300", **changes,
    }  # fmt: skip


def text_of(answer: Any) -> str:
    return re.sub(r"\s+", " ", answer.content.decode())


# --- the list


def test_the_list_shows_runs_and_filters_them(cast: Cast, bob: Client, connection: Connection) -> None:
    start(cast.bob, connection, task="Count the cats.")
    claimed(start(cast.alice, connection, task="Count the dogs."))
    page = text_of(bob.get(f"{LEDGER}/runs/"))
    assert "Count the cats." in page
    assert "Count the dogs." in page
    page = text_of(bob.get(f"{LEDGER}/runs/", {"state": "running"}))
    assert "cats" not in page
    assert "dogs" in page
    assert "Count the dogs." in text_of(bob.get(f"{LEDGER}/runs/", {"starter": str(cast.alice.id)}))
    assert "No run matches" in text_of(bob.get(f"{LEDGER}/runs/", {"state": "lost"}))
    assert bob.get(f"{LEDGER}/runs/", {"state": "wonderful"}).status_code == 422


def test_an_empty_list_tells_the_next_action(cast: Cast, bob: Client) -> None:
    assert f"{LEDGER}/runs/new/" in text_of(bob.get(f"{LEDGER}/runs/"))
    viewer = text_of(browser(cast.vera).get(f"{LEDGER}/runs/"))
    assert "Contributors start runs" in viewer
    assert f"{LEDGER}/runs/new/" not in viewer


def test_the_list_costs_the_same_number_of_queries_however_long(
    cast: Cast,
    bob: Client,
    connection: Connection,
    django_assert_num_queries: Any,
    django_assert_max_num_queries: Any,
) -> None:
    start(cast.bob, connection)
    with django_assert_max_num_queries(40) as few:
        bob.get(f"{LEDGER}/runs/")
    for _ in range(5):
        start(cast.alice, connection)
    with django_assert_num_queries(len(few.captured_queries)):
        bob.get(f"{LEDGER}/runs/")


# --- a new run


def test_a_run_is_started_from_the_form_with_several_files(bob: Client, connection: Connection) -> None:
    files = [SimpleUploadedFile("a.csv", b"1\r\n"), SimpleUploadedFile("b.csv", b"")]
    answer = bob.post(f"{LEDGER}/runs/new/", filled(connection, inputs=files, max_steps="3"))
    with as_system():
        run = Run.objects.get()
        stored = {item.name: input_path(item).read_bytes() for item in RunInput.objects.all()}
    assert (answer.status_code, answer["Location"]) == (302, f"{LEDGER}/runs/{run.id}/")
    assert stored == {"a.csv": b"1\r\n", "b.csv": b""}
    assert (run.max_steps, run.memory_on, run.origin) == (3, True, Run.Origin.DASHBOARD)


def test_memory_is_off_where_it_is_not_ticked(bob: Client, connection: Connection) -> None:
    fields = filled(connection)
    del fields["memory_on"]
    bob.post(f"{LEDGER}/runs/new/", fields)
    with as_system():
        assert Run.objects.get().memory_on is False


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"task": ""}, "This field is required"),
        ({"task": "The key is AKIAIOSFODNN7EXAMPLE."}, "seems to hold a secret"),
        ({"max_steps": "99"}, "less than or equal to 50"),
        ({"time_limit_seconds": "99999999"}, "from 1 to 3600 seconds"),
        ({"sandbox": "none"}, "Select a valid choice"),
        ({"connection": str(uuid4())}, "Select a valid choice"),
    ],
)
def test_a_mistake_brings_the_form_back_with_what_was_typed(
    bob: Client, connection: Connection, changes: dict[str, Any], said: str
) -> None:
    answer = bob.post(f"{LEDGER}/runs/new/", filled(connection, **{"task": "Count the cats.", **changes}))
    assert answer.status_code == 422
    assert said in text_of(answer)
    if "task" not in changes:
        assert "Count the cats." in text_of(answer)
    with as_system():
        assert Run.objects.count() == 0


def test_a_file_over_the_limit_brings_the_form_back(
    bob: Client, connection: Connection, settings: Any
) -> None:
    settings.MAX_UPLOAD_BYTES = 2
    files = [SimpleUploadedFile("a.csv", b"123")]
    answer = bob.post(f"{LEDGER}/runs/new/", filled(connection, inputs=files))
    assert answer.status_code == 413
    assert "a.csv” is larger than" in text_of(answer)
    assert "chosen again" in text_of(answer)


def test_a_sample_fills_the_form_and_brings_its_files(bob: Client, connection: Connection) -> None:
    sample = samples()[0]
    page = text_of(bob.get(f"{LEDGER}/runs/new/", {"sample": sample.key}))
    assert sample.task in page
    assert sample.files[0].name in page
    assert f'<option value="{connection.id}" selected>' in page
    bob.post(f"{LEDGER}/runs/new/", filled(connection, sample=sample.key, task=sample.task))
    with as_system():
        assert Run.objects.get().origin == Run.Origin.SAMPLE
        assert input_path(RunInput.objects.get()).read_bytes() == sample.files[0].read_bytes()


def test_every_sample_is_offered_on_the_form(bob: Client) -> None:
    page = text_of(bob.get(f"{LEDGER}/runs/new/"))
    assert len(samples()) >= 6
    for sample in samples():
        assert f"?sample={sample.key}" in page


def test_an_unknown_sample_is_an_empty_form(bob: Client) -> None:
    assert bob.get(f"{LEDGER}/runs/new/", {"sample": "../../etc/passwd"}).status_code == 200


def test_run_again_fills_the_form_like_that_run(cast: Cast, bob: Client, connection: Connection) -> None:
    run = start(cast.alice, connection, task="Count the cats.", max_steps=5, memory_on=False)
    page = text_of(bob.get(f"{LEDGER}/runs/new/", {"like": str(run.id)}))
    assert "Count the cats." in page
    assert 'name="max_steps" value="5"' in page
    for like in ("nonsense", str(uuid4())):
        assert bob.get(f"{LEDGER}/runs/new/", {"like": like}).status_code == 200


def test_the_form_says_which_sandbox_works_where_workers_told(bob: Client) -> None:
    cache.set("sandboxes", {"bubblewrap": "no namespaces", "landlock": ""})
    page = text_of(bob.get(f"{LEDGER}/runs/new/"))
    cache.delete("sandboxes")
    assert "Does not work here: no namespaces" in page
    assert "Works here." in page


def test_the_form_works_without_the_cache(bob: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr("memory_hub.web.runs.cache.get", refuse)
    assert bob.get(f"{LEDGER}/runs/new/").status_code == 200


def test_without_a_connection_the_form_says_what_to_do(cast: Cast) -> None:
    assert "No model connection yet" in text_of(browser(cast.bob).get(f"{LEDGER}/runs/new/"))


def test_a_viewer_cannot_start_and_a_stranger_finds_nothing(cast: Cast, connection: Connection) -> None:
    for method in ("get", "post"):
        assert getattr(browser(cast.vera), method)(f"{LEDGER}/runs/new/").status_code == 403
        for person in (cast.carol, cast.mallory):
            assert getattr(browser(person), method)(f"{LEDGER}/runs/new/").status_code == 404
    assert Client().get(f"{LEDGER}/runs/new/").status_code == 302


# --- a run


def eventful(cast: Cast, connection: Connection) -> Run:
    """A run that recalled, failed once, got a hint, answered, and was captured."""
    run = claimed(
        start(cast.bob, connection, task="Count the <b>cats</b>.", inputs=[UploadedInput("cats.csv", b"1")])
    )
    run_prepared(
        run=run, sandbox="landlock", environment={"python": "3.11.7", "packages": {"pandas": "3.0.1"}}
    )
    item = {
        "solution": str(uuid4()), "revision": "v1", "title": "Count rows", "rank": 1, "score": 0.83,
        "reason": "same words: count", "status": "approved", "verification": "passed", "entry_point": "count_rows",
    }  # fmt: skip
    event_append(
        run=run, kind=RunEvent.Kind.RECALLED, data={"recall": "r", "no_match": False, "items": [item]}
    )
    failed = take_step(
        run, 1, thought="I try <i>this</i>.", code="int('x')\n", observations="before", error_type="ValueError",
        error_message="invalid literal", error_line="int('x')", error_line_number=1, traceback="Traceback …",
    )  # fmt: skip
    step_set_hint(step=failed, hint="Skip the header.")
    take_step(run, 2, code="final_answer({'cats': 3})", is_final=True, value="3 cats")
    end(run, answer='{"cats": 3}', used_revision_ids=["v1"])
    run_captured(
        run_id=run.id,
        solutions=[Captured(uuid4(), "Count cats")],
        lessons=[Captured(uuid4(), "ValueError: literal")],
    )
    return run


def test_the_page_shows_everything_that_happened(cast: Cast, bob: Client, connection: Connection) -> None:
    run = eventful(cast, connection)
    page = text_of(bob.get(f"{LEDGER}/runs/{run.id}/"))
    for shown in (
        "Count the &lt;b&gt;cats&lt;/b&gt;.", "/inputs/cats.csv", "rehearsal (scripted replies, no model)", "landlock",
        "3.0.1", "Count rows", "83 %", "same words: count", "Offered as the function count_rows(). Used.", "I try &lt;i&gt;this&lt;/i&gt;.",
        "ValueError", "invalid literal", 'href="#step-1-code-1"', "Skip the header.", "3 cats", "Final answer",
        "Count cats", "ValueError: literal", "Succeeded", "200 in, 40 out",
    ):  # fmt: skip
        assert shown in page, shown
    assert "hx-sse:connect" not in page  # nothing more will come
    assert "Cancel run" not in page


def test_a_run_that_goes_on_is_followed_from_where_the_page_ends(
    cast: Cast, bob: Client, connection: Connection
) -> None:
    run = claimed(start(cast.bob, connection))
    take_step(run)
    page = text_of(bob.get(f"{LEDGER}/runs/{run.id}/"))
    assert f'hx-sse:connect="{LEDGER}/runs/{run.id}/stream/?after=3"' in page
    assert "Cancel run" in page
    assert "data-elapsed" in page
    assert 'id="step-1"' in page


@pytest.mark.parametrize(
    ("state", "said"),
    [("failed", "The run failed"), ("cancelled", "The run was cancelled"), ("lost", "The run was lost")],
)
def test_a_run_that_did_not_succeed_says_why(
    cast: Cast, bob: Client, connection: Connection, state: str, said: str
) -> None:
    run = claimed(start(cast.bob, connection))
    take_step(run)
    end(run, Run.State(state), reason="The model cannot be reached.")
    page = text_of(bob.get(f"{LEDGER}/runs/{run.id}/"))
    assert said in page
    assert "The model cannot be reached." in page
    assert "being written to the library" in page
    assert "hx-sse:connect" in page  # what it learnt is still to come


def test_what_could_not_be_kept_is_said(cast: Cast, bob: Client, connection: Connection) -> None:
    run = claimed(start(cast.bob, connection))
    take_step(run)
    end(run)
    run_capture_begin(run_id=run.id, holder="w")
    run_capture_failed(run_id=run.id, reason="The code is too large.")
    assert "The code is too large." in text_of(bob.get(f"{LEDGER}/runs/{run.id}/"))


@pytest.mark.parametrize(
    ("memory_on", "recalled", "said"),
    [
        (False, None, "Memory was off"),
        (True, {"recall": "r", "no_match": True, "items": []}, "Nothing in memory fitted"),
        (True, None, "Memory is asked before the first step"),
    ],
)
def test_the_memory_panel_says_what_memory_did(
    cast: Cast, bob: Client, connection: Connection, memory_on: bool, recalled: Any, said: str
) -> None:
    run = claimed(start(cast.bob, connection, memory_on=memory_on))
    if recalled:
        event_append(run=run, kind=RunEvent.Kind.RECALLED, data=recalled)
    assert said in text_of(bob.get(f"{LEDGER}/runs/{run.id}/"))


def test_a_recalled_item_that_is_malformed_does_not_break_the_page(
    cast: Cast, bob: Client, connection: Connection
) -> None:
    run = claimed(start(cast.bob, connection))
    event_append(
        run=run, kind=RunEvent.Kind.RECALLED, data={"items": [{"title": "Odd", "solution": "no id"}]}
    )
    assert "Odd" in text_of(bob.get(f"{LEDGER}/runs/{run.id}/"))


def test_a_run_of_others_is_not_there(cast: Cast, connection: Connection) -> None:
    run = start(cast.bob, connection)
    for page in ("", "stream/"):
        for person in (cast.carol, cast.mallory):
            assert browser(person).get(f"{LEDGER}/runs/{run.id}/{page}").status_code == 404
        # nor under a project that the person does see
        assert browser(cast.mallory).get(f"/p/rival/den/runs/{run.id}/{page}").status_code == 404
    assert browser(cast.vera).get(f"{LEDGER}/runs/{run.id}/").status_code == 200
    assert Client().get(f"{LEDGER}/runs/{run.id}/stream/").status_code == 401


# --- cancelling


def test_cancelling_without_javascript_comes_back_to_the_run(
    cast: Cast, bob: Client, connection: Connection
) -> None:
    run = claimed(start(cast.bob, connection))
    answer = bob.post(f"{LEDGER}/runs/{run.id}/cancel/", follow=True)
    assert "The run is asked to end." in text_of(answer)
    assert "Cancelling…" in text_of(answer)
    assert again(run).cancel_requested_at
    end(run, Run.State.CANCELLED)
    assert "has ended already" in text_of(bob.post(f"{LEDGER}/runs/{run.id}/cancel/", follow=True))


def test_only_the_starter_and_maintainers_see_and_use_cancel(cast: Cast, connection: Connection) -> None:
    run = claimed(start(cast.bob, connection))
    for person in (cast.vera, cast.rita):
        assert "Cancel run" not in text_of(browser(person).get(f"{LEDGER}/runs/{run.id}/"))
        assert browser(person).post(f"{LEDGER}/runs/{run.id}/cancel/").status_code == 403
    assert browser(cast.mallory).post(f"{LEDGER}/runs/{run.id}/cancel/").status_code == 404
    assert browser(cast.alice).post(f"{LEDGER}/runs/{run.id}/cancel/").status_code == 302
    assert browser(cast.bob).get(f"{LEDGER}/runs/{run.id}/cancel/").status_code == 405


# --- connections


@pytest.fixture
def alice(cast: Cast, settings: Any) -> Client:
    settings.ALLOW_PRIVATE_MODEL_URLS = True
    return browser(cast.alice)


LOCAL = {
    "name": "Local", "kind": "openai", "base_url": "http://127.0.0.1:11434/v1", "model_id": "qwen3:8b",
    "secret": "very-secret-1", "temperature": "0.2", "flatten_messages": "on",
}  # fmt: skip


def created(alice: Client, **changes: str) -> Connection:
    answer = alice.post(f"{LEDGER}/connections/new/", {**LOCAL, **changes})
    assert answer.status_code == 302, text_of(answer)
    with as_system():
        return Connection.objects.get(name=changes.get("name", "Local"))


def test_a_connection_is_added_and_its_key_is_on_no_page(alice: Client) -> None:
    connection = created(alice)
    assert decrypt(connection.encrypted_secret) == "very-secret-1"
    assert connection.options == {"temperature": 0.2, "flatten_messages": True}
    pages = [
        alice.get(f"{LEDGER}/connections/"), alice.get(f"{LEDGER}/connections/{connection.id}/"),
        alice.post(f"{LEDGER}/connections/new/", LOCAL),
        alice.post(f"{LEDGER}/connections/{connection.id}/", {**LOCAL, "name": ""}),
    ]  # fmt: skip
    assert [page.status_code for page in pages] == [200, 200, 409, 422]
    assert [page for page in pages if b"very-secret" in page.content] == []


def test_editing_keeps_the_key_unless_told(alice: Client) -> None:
    connection = created(alice)
    page = f"{LEDGER}/connections/{connection.id}/"
    kept = {**LOCAL, "secret": "", "name": "Mine"}
    alice.post(page, kept)
    assert (again(connection).name, decrypt(again(connection).encrypted_secret)) == ("Mine", "very-secret-1")
    moved = alice.post(page, {**kept, "base_url": "http://127.0.0.1:1/v1"})
    assert moved.status_code == 422
    assert "enter the key again" in text_of(moved)
    alice.post(page, {**kept, "remove_secret": "on"})
    assert again(connection).encrypted_secret == ""


def test_a_rehearsal_needs_nothing_but_a_name(alice: Client, connection: Connection) -> None:
    page = f"{LEDGER}/connections/{connection.id}/"
    assert "API key" not in text_of(alice.get(page))
    assert alice.post(page, {"name": "Play"}).status_code == 302
    assert again(connection).name == "Play"
    with as_system():
        Connection.objects.filter(id=connection.id).update(options={"pause_seconds": 2})
    alice.post(page, {"name": "Play it"})
    assert again(connection).options == {"pause_seconds": 2}


def test_retiring_asks_first(alice: Client, connection: Connection) -> None:
    page = f"{LEDGER}/connections/{connection.id}/retire/"
    assert "Keep it" in text_of(alice.get(page))
    assert alice.post(page).status_code == 302
    assert again(connection).retired_at
    assert alice.get(page).status_code == 404


def test_members_see_connections_and_only_maintainers_manage_them(cast: Cast, connection: Connection) -> None:
    for person in (cast.vera, cast.bob, cast.rita):
        member = browser(person)
        assert "Rehearsal" in text_of(member.get(f"{LEDGER}/connections/"))
        for page in ("new/", f"{connection.id}/", f"{connection.id}/retire/"):
            assert member.get(f"{LEDGER}/connections/{page}").status_code == 403
            assert member.post(f"{LEDGER}/connections/{page}", LOCAL).status_code == 403
    for page in ("", "new/", f"{connection.id}/", f"{connection.id}/retire/"):
        assert browser(cast.mallory).get(f"{LEDGER}/connections/{page}").status_code == 404


def test_the_pages_have_the_names_that_others_link_to(cast: Cast) -> None:
    for name in ("runs", "run_new", "connections", "connection_new"):
        assert reverse(name, args=["acme", "ledger"]).startswith(LEDGER)
    for name in ("run", "run_stream", "run_cancel", "connection_edit", "connection_retire"):
        assert reverse(name, args=["acme", "ledger", uuid4()]).startswith(LEDGER)

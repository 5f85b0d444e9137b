"""When the model does not do its part, the run fails with a reason that helps, and with nothing that it should not say."""

import pytest

from agents_runner.engine import drive
from memory_hub.access.actor import acting_as
from memory_hub.runs.models import Run
from memory_hub.runs.services import connection_retire
from tests.cast import Cast
from tests.fake_openai import FakeOpenAI, Reply, code, error, script
from tests.runner.engine_support import KEY, WORKER, again, connect, execute, queue, steps_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]

FAILURES = {
    "wrong key": (error(401, f"Incorrect API key provided: {KEY}."), "refused the key"),
    "no right": (error(403), "refused the key"),
    "no such model": (error(404, "The model does not exist"), "does not know this model name"),
    "rate limit": (error(429, retry_after="0"), "rate-limited or out of credit"),
    "server error": (error(500, f"Out of memory for {KEY}.", retry_after="0"), "answered 500: Out of memory"),
    "bad request": (error(400, "The context is 4,096 tokens long."), "answered 400: The context is 4,096"),
    "error without words": (Reply(status=418, body=b"{}"), "answered 418: it did not say why"),
    "a page": (Reply(body=b"<html>Hi</html>", content_type="text/html"), "does it end in /v1?"),
    "broken JSON": (Reply(body=b'{"choices": ['), "gave no usable answer"),
    "another JSON": (Reply(body=b'{"error": "no"}'), "gave no chat completion"),
    "no choices": (Reply(body=b'{"choices": []}'), "gave no chat completion"),
    "a list": (Reply(body=b"[1]"), "gave no"),
    "redirect": (
        Reply(status=307, body=b"", headers={"Location": "http://127.0.0.1:1/v1/chat/completions"}),
        "redirects elsewhere, which is not followed",
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_of_the_model_is_told_in_words(committed_cast: Cast, name: str) -> None:
    reply, said = FAILURES[name]
    with FakeOpenAI(lambda _: reply) as server:
        run = execute(committed_cast, connect(committed_cast, server))
    assert run.state == Run.State.FAILED
    assert said in run.reason
    assert server.base_url in run.reason
    assert KEY not in run.reason
    assert "Traceback" not in run.reason
    assert "Error in generating" not in run.reason
    assert not steps_of(run)  # smolagents' half step is none
    assert run.capture == Run.Capture.DONE


def test_a_redirect_is_not_followed(committed_cast: Cast) -> None:
    with FakeOpenAI(script(code("final_answer(1)"))) as target:
        away = Reply(status=308, body=b"", headers={"Location": f"{target.base_url}/chat/completions"})
        with FakeOpenAI(lambda _: away) as server:
            run = execute(committed_cast, connect(committed_cast, server))
    assert run.state == Run.State.FAILED
    assert not target.requests


def test_a_server_that_is_not_there_is_told_in_words(committed_cast: Cast) -> None:
    with FakeOpenAI(lambda _: "") as server:
        address = server.base_url
    run = execute(committed_cast, connect(committed_cast, address))
    assert (run.state, run.reason) == (
        Run.State.FAILED,
        f"The model at {address} cannot be reached. Is the server running, and is the address right?",
    )


def test_a_server_that_does_not_answer_in_the_connections_time_fails_the_run(committed_cast: Cast) -> None:
    with FakeOpenAI(lambda _: Reply(hangs=True)) as server:
        run = execute(committed_cast, connect(committed_cast, server, options={"timeout_seconds": 1}))
    assert run.state == Run.State.FAILED
    assert "did not answer in time" in run.reason
    assert len(server.requests) == 2  # one retry


def test_a_moment_of_trouble_is_tried_again(committed_cast: Cast) -> None:
    replies = iter([error(503, retry_after="0"), Reply(code("final_answer(1)"))])
    with FakeOpenAI(lambda _: next(replies)) as server:
        run = execute(committed_cast, connect(committed_cast, server))
    assert (run.state, len(server.requests)) == (Run.State.SUCCEEDED, 2)


@pytest.mark.parametrize("usage", [None, (None, None), ("many", -3), (10**30, True)])
def test_a_server_that_counts_no_tokens_or_nonsense_does_its_work(
    committed_cast: Cast, usage: tuple[object, object] | None
) -> None:
    with FakeOpenAI(script(Reply(code("final_answer(1)"), usage=usage))) as server:
        run = execute(committed_cast, connect(committed_cast, server))
    assert (run.state, run.answer) == (Run.State.SUCCEEDED, "1")
    assert run.input_tokens in (0, 10_000_000)


def test_a_model_that_fails_midway_leaves_what_was_shown(committed_cast: Cast) -> None:
    with FakeOpenAI(script(code("print('one')"), error(400, "Too long."))) as server:
        run = execute(committed_cast, connect(committed_cast, server))
    assert (run.state, len(steps_of(run))) == (Run.State.FAILED, 1)
    assert run.reason.endswith("answered 400: Too long.")
    assert run.capture == Run.Capture.DONE


def test_a_retired_connection_fails_the_run_with_advice(committed_cast: Cast) -> None:
    connection = connect(committed_cast, "http://127.0.0.1:9/v1")
    run = queue(committed_cast, connection)
    actor = committed_cast.actor(committed_cast.alice)
    with acting_as(actor):
        connection_retire(actor=actor, connection=connection)
    assert drive(run.id, WORKER)
    assert "was removed" in again(run).reason


def test_options_of_the_connection_reach_the_server(committed_cast: Cast) -> None:
    options = {"temperature": 0.5, "max_tokens": 99, "flatten_messages": True}
    with FakeOpenAI(script(code("final_answer(1)"))) as server:
        execute(committed_cast, connect(committed_cast, server, options=options, secret=""))
    asked = server.requests[0]
    assert (asked.body["temperature"], asked.body["max_tokens"]) == (0.5, 99)
    assert all(isinstance(message["content"], str) for message in asked.messages)
    assert asked.authorization == "Bearer none"

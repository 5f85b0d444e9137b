"""From a connection to a smolagents model, and from a model's failure to words that help."""

from __future__ import annotations

from typing import Any

import openai
from smolagents import Model, OpenAIModel

from agents_runner.rehearsal import RehearsalModel, RehearsalRefusedError
from memory_hub.common.errors import HubError, Unavailable
from memory_hub.runs.masking import mask
from memory_hub.runs.model_urls import require_allowed_url
from memory_hub.runs.models import Connection
from memory_hub.runs.secrets import decrypt

_TIMEOUT_SECONDS = 120
_MESSAGE_CHARACTERS = 500
# A local server that wants no key still gets the header; smolagents refuses to send none.
_NO_KEY = "none"


def model_for(connection: Connection | None) -> Model:
    """Return the model of a connection. Raises Unavailable where there is none, InvalidInput for a refused address."""
    if connection is None:
        raise Unavailable(
            "The model connection of this run was removed. Start the run again with another one."
        )
    if connection.kind == Connection.Kind.REHEARSAL:
        return RehearsalModel(pause_seconds=float(connection.options.get("pause_seconds", 0)))
    require_allowed_url(connection.base_url)
    return OpenAIModel(
        model_id=connection.model_id,
        api_base=connection.base_url or None,
        api_key=decrypt(connection.encrypted_secret) if connection.encrypted_secret else _NO_KEY,
        # Retries belong to the run's own time limit: one, and never smolagents' minutes of waiting.
        client_kwargs={
            "timeout": connection.options.get("timeout_seconds", _TIMEOUT_SECONDS),
            "max_retries": 1,
        },
        flatten_messages_as_text=bool(connection.options.get("flatten_messages", True)),
        retry=False,
        **_parameters(connection.options),
    )


def close(model: Model) -> None:
    """End a request that is under way, from another thread: the model's call then fails at once."""
    client = getattr(model, "client", None)
    if isinstance(client, openai.OpenAI):
        client.close()
    stop = getattr(model, "stop", None)
    if callable(stop):
        stop()


def explain_failure(error: BaseException, connection: Connection | None) -> str:
    """Return what went wrong with the model, and what to do, without secrets and without a traceback."""
    cause = error.__cause__ or error
    where = connection.base_url or "the provider" if connection else "the model"
    match cause:
        case RehearsalRefusedError() | HubError():
            return str(cause)
        case openai.APITimeoutError():
            return f"The model at {where} did not answer in time. Try a smaller task, or a longer time limit."
        case openai.APIConnectionError():
            return f"The model at {where} cannot be reached. Is the server running, and is the address right?"
        case openai.AuthenticationError() | openai.PermissionDeniedError():
            return f"The model at {where} refused the key. Set a new one on the Connections page."
        case openai.RateLimitError():
            return f"The model at {where} is rate-limited or out of credit. Wait, or use another connection."
        case openai.NotFoundError():
            return f"The model at {where} does not know this model name or path. Check the connection."
        case openai.APIStatusError():
            said, _ = mask(_said(cause))
            return f"The model at {where} answered {cause.status_code}: {said}"
    return "The model gave no usable answer. The worker's log has the details."


def _said(error: openai.APIStatusError) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    return str(body.get("message") or error.message)[:_MESSAGE_CHARACTERS]


def _client_options(connection: Connection) -> dict[str, Any]:
    """One retry at most: waiting belongs to the run's own time limit. No redirect: it could lead past the URL guard."""
    timeout = connection.options.get("timeout_seconds", _TIMEOUT_SECONDS)
    return {
        "timeout": timeout,
        "max_retries": 1,
        "http_client": openai.DefaultHttpxClient(follow_redirects=False, timeout=timeout),
    }


def _parameters(options: dict[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in ("temperature", "max_tokens") if options.get(name) is not None}

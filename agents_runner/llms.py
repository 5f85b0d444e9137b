"""From a connection to a smolagents model, and from a model's failure to words that help."""

from __future__ import annotations

import logging
from typing import Any

import openai

from agents_runner.chat import ChatModel, OpenSockets, StoppableModel, UnusableAnswer, http_client
from agents_runner.rehearsal import RehearsalModel, RehearsalRefusedError
from memory_hub.common.errors import HubError, Unavailable
from memory_hub.runs.masking import mask
from memory_hub.runs.model_urls import require_allowed_url
from memory_hub.runs.models import Connection
from memory_hub.runs.secrets import decrypt, worth_masking

logger = logging.getLogger(__name__)

_OPENAI = (
    "https://api.openai.com/v1"  # said here, since the library would take another one from its environment
)
_TIMEOUT_SECONDS = 120.0
_CONNECT_SECONDS = 10.0
_MESSAGE_CHARACTERS = 500
# A local server that wants no key still gets the header; the library refuses to send none.
_NO_KEY = "none"


def model_for(connection: Connection | None) -> StoppableModel:
    """Return the model of a connection. Raises Unavailable where there is none, InvalidInput for a refused address."""
    if connection is None:
        raise Unavailable(
            "The model connection of this run was removed. Start the run again with another one."
        )
    options = connection.options
    if connection.kind == Connection.Kind.REHEARSAL:
        return StoppableModel(RehearsalModel(pause_seconds=float(options.get("pause_seconds", 0))))
    address = connection.base_url or _OPENAI
    require_allowed_url(address)
    sockets = OpenSockets()
    timeout = openai.Timeout(
        float(options.get("timeout_seconds", _TIMEOUT_SECONDS)), connect=_CONNECT_SECONDS
    )
    model = ChatModel(
        model_id=connection.model_id,
        api_base=address,
        api_key=_key(connection) or _NO_KEY,
        # Waiting belongs to the run's own time limit: one retry, and never smolagents' minutes between two.
        client_kwargs={
            "timeout": timeout,
            "max_retries": 1,
            "http_client": http_client(sockets, timeout),
        },
        flatten_messages_as_text=bool(options.get("flatten_messages", True)),
        retry=False,
        **_parameters(options),
    )
    return StoppableModel(model, hang_up=sockets.shut)


def secrets_of(connection: Connection | None) -> tuple[str, ...]:
    """Return the key that a run sends; it must not be read anywhere, even after the connection has got another one."""
    key = _key(connection) if connection is not None else ""
    return (key,) if worth_masking(key) else ()


def explain_failure(error: BaseException, connection: Connection | None) -> str:
    """Return what went wrong with the model, and what to do, without secrets and without a traceback."""
    cause = error.__cause__ or error
    where = connection.base_url or "the provider" if connection else "the connection"
    match cause:
        case RehearsalRefusedError() | HubError():
            return str(cause)
        case UnusableAnswer():
            return f"The server at {where} {cause}"
        case openai.APITimeoutError():
            return f"The model at {where} did not answer in time. Try a smaller task, or a longer timeout."
        case openai.APIConnectionError():
            return f"The model at {where} cannot be reached. Is the server running, and is the address right?"
        case openai.AuthenticationError() | openai.PermissionDeniedError():
            return f"The model at {where} refused the key. Set a new one on the Connections page."
        case openai.RateLimitError():
            return f"The model at {where} is rate-limited or out of credit. Wait, or use another connection."
        case openai.NotFoundError():
            return f"The model at {where} does not know this model name or path. Check the connection."
        case openai.APIStatusError() if cause.status_code < 400:
            return (
                f"The server at {where} redirects elsewhere, which is not followed. Give the final address."
            )
        case openai.APIStatusError():
            return f"The model at {where} answered {cause.status_code}: {_said(cause)}"
    # Not the text: it may quote what the server sent.
    logger.warning("The model at %s failed: %s", where, type(cause).__name__)
    return f"The server at {where} gave no usable answer ({type(cause).__name__}). Is it a chat model?"


def _key(connection: Connection) -> str:
    return decrypt(connection.encrypted_secret) if connection.encrypted_secret else ""


def _said(error: openai.APIStatusError) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    said = body.get("message") if isinstance(body.get("message"), str) else ""
    return mask(said[:5_000])[0][:_MESSAGE_CHARACTERS] if said else "it did not say why."


def _parameters(options: dict[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in ("temperature", "max_tokens") if options.get(name) is not None}

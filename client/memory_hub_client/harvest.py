"""Turns smolagents' step objects into plain records, after a run and without disturbing it.

Always from the objects, never from `step.dict()`: that repeats every message, dumps arbitrary objects attribute by
attribute (secrets) and fails on cyclic answers.
"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .errors import read_step_error
from .types import RecordedStep

_MAX_ANSWER_CHARACTERS = 64_000
_MAX_OBSERVATION_CHARACTERS = 20_000  # as much as smolagents shows the model of one output


def is_kind(value: Any, *class_names: str) -> bool:
    """Whether a class of one of these names is among the value's classes (so smolagents need not be imported)."""
    return any(cls.__name__ in class_names for cls in type(value).__mro__)


def record_step(step: Any, observations: str | None, opening_tag: str) -> RecordedStep:
    """One ActionStep as plain data. `observations` are those before a hint was added."""
    code = step.code_action if isinstance(step.code_action, str) else None
    usage = step.token_usage
    return RecordedStep(
        number=int(step.step_number),
        thought=thought_of(step, opening_tag),
        code=code,
        observations=(observations or "")[:_MAX_OBSERVATION_CHARACTERS],
        error=read_step_error(step.error, code) if step.error is not None else None,
        seconds=_seconds(step.timing),
        input_tokens=getattr(usage, "input_tokens", None),
        output_tokens=getattr(usage, "output_tokens", None),
        is_final=bool(step.is_final_answer),
    )


def has_content(step: Any) -> bool:
    """False for the empty half step that smolagents leaves behind when the model fails or the user interrupts."""
    return bool(
        step.model_output or step.code_action or step.error or step.observations or step.action_output
    )


def thought_of(step: Any, opening_tag: str = "<code>") -> str:
    """What the model said before its code. `opening_tag` is the agent's `code_block_tags[0]`."""
    model_output = step.model_output
    if not isinstance(model_output, str):
        return ""
    text = model_output
    if text.lstrip().startswith("{"):  # structured output: {"thought": ..., "code": ...}
        try:
            reply = json.loads(text)
            if isinstance(reply, dict) and isinstance(reply.get("thought"), str):
                return str(reply["thought"]).strip()
        except ValueError:
            pass
    positions = [text.find(tag) for tag in (opening_tag, "```") if tag]
    cut = min((position for position in positions if position >= 0), default=len(text))
    return re.sub(r"\A\s*Thoughts?:\s*", "", text[:cut]).strip()


def _seconds(timing: Any) -> float | None:
    start, end = getattr(timing, "start_time", None), getattr(timing, "end_time", None)
    return (
        max(0.0, end - start) if isinstance(start, (int, float)) and isinstance(end, (int, float)) else None
    )


def sum_tokens(steps: list[Any]) -> tuple[int | None, int | None]:
    """Input and output tokens over action and planning steps; None when no step says. Planning counts too."""
    usages = [usage for step in steps if (usage := getattr(step, "token_usage", None)) is not None]
    if not usages:
        return None, None
    return sum(int(usage.input_tokens or 0) for usage in usages), sum(
        int(usage.output_tokens or 0) for usage in usages
    )


def plain_answer(answer: Any) -> tuple[Any, bool]:
    """(value, False) when JSON holds the answer faithfully, else (repr cut to 64,000 characters, True)."""
    try:
        text = json.dumps(answer, allow_nan=False)
        if len(text) <= _MAX_ANSWER_CHARACTERS:
            value = json.loads(text)
            if _identical(value, answer):  # tuples and number keys come back changed
                return value, False
    except (TypeError, ValueError, RecursionError, OverflowError):
        pass
    return _safe_repr(answer)[:_MAX_ANSWER_CHARACTERS], True


def _identical(left: Any, right: Any) -> bool:
    if isinstance(left, str):
        return isinstance(right, str) and left == str(right)  # smolagents wraps answers in a subclass of str
    if type(left) is not type(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_identical, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(_identical(left[key], right[key]) for key in left)
    return bool(left == right)


def _safe_repr(value: Any) -> str:
    try:
        return value if isinstance(value, str) else repr(value)
    except Exception as error:  # noqa: BLE001 - a user's __repr__ may raise anything
        return f"<{type(value).__name__}: repr failed with {type(error).__name__}>"


def final_call(executor: Any) -> dict[str, Any] | None:
    """The call that made the final answer, where the executor recorded it (our sandboxes do), as plain JSON."""
    call = getattr(getattr(executor, "last_step", None), "final_call", None)
    if call is None:
        return None
    values: Any
    if is_dataclass(call) and not isinstance(call, type):
        values = asdict(call)
    elif isinstance(call, Mapping):
        values = dict(call)
    else:
        return None
    try:
        plain = json.loads(json.dumps(values))
    except (TypeError, ValueError, RecursionError):
        return None
    return plain if isinstance(plain, dict) else None


_SANDBOXES = {
    "LocalPythonExecutor": "local", "DockerExecutor": "docker", "E2BExecutor": "e2b", "ModalExecutor": "modal",
    "BlaxelExecutor": "blaxel", "WasmExecutor": "wasm",
}  # fmt: skip


def sandbox_of(agent: Any) -> str | None:
    """Where the agent's code runs; None for an agent that runs no code. May start a sandbox of ours to know."""
    executor = getattr(agent, "python_executor", None)
    if executor is None:
        return None
    try:
        name = getattr(executor, "sandbox_name", None)
    except Exception:  # noqa: BLE001 - a property of somebody's executor
        name = None
    if isinstance(name, str) and name:
        return name
    for cls in type(executor).__mro__:
        if cls.__name__ in _SANDBOXES:
            return _SANDBOXES[cls.__name__]
    return type(executor).__name__


def environment_of(agent: Any) -> dict[str, Any]:
    """What a solution may depend on. Nothing of the host: no variables, paths, user or machine names."""
    executor = getattr(agent, "python_executor", None)
    sandbox = sandbox_of(agent)
    return {
        "agent": type(agent).__name__,
        "executor": type(executor).__name__ if executor is not None else None,
        "sandbox": sandbox,
        # Elsewhere the sandbox has a Python of its own, and only it could say which.
        "python": platform.python_version() if sandbox == "local" else None,
        "smolagents": _smolagents_version(),
        "model": _text_or_none(getattr(getattr(agent, "model", None), "model_id", None)),
        "authorized_imports": sorted(str(name) for name in getattr(agent, "authorized_imports", None) or ()),
        "tools": sorted(str(name) for name in getattr(agent, "tools", None) or ()),
        "managed_agents": sorted(str(name) for name in getattr(agent, "managed_agents", None) or ()),
    }


@cache  # reading it costs more than all the rest of a record
def _smolagents_version() -> str | None:
    try:
        return version("smolagents")
    except PackageNotFoundError:
        return None


def _text_or_none(value: Any) -> str | None:
    return str(value) if value is not None else None

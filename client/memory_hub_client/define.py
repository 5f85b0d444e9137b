"""Defines recalled functions in the agent's Python session before its first step, where that is safe.

What cannot be defined is offered as text. Nothing is ever executed on the host outside the agent's own executor.
"""

from __future__ import annotations

import ast
import keyword
import logging
from collections.abc import Iterable
from typing import Any

from .local_dialect import dialect_problems
from .types import OfferedCallable

logger = logging.getLogger("memory_hub_client")

# A callable's source may only define things: no loose call or loop runs before the agent has decided anything.
_DEFINING = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Import,
    ast.ImportFrom,
    ast.Assign,
    ast.AnnAssign,
)


def define_callables(agent: Any, callables: Iterable[OfferedCallable]) -> tuple[OfferedCallable, ...]:
    """Define what can be defined; returns those that now exist. Never raises."""
    executor = getattr(agent, "python_executor", None)
    if executor is None:
        return ()
    taken = {
        *getattr(agent, "tools", {}),
        *getattr(agent, "managed_agents", {}),
        *getattr(agent, "state", {}),
    }
    helpers: dict[
        str, str
    ] = {}  # top-level name -> shape of its definition, over all functions defined so far
    defined: list[OfferedCallable] = []
    for item in callables:
        names = _definitions(item.source)
        reason = _reason_against(item, names, taken, helpers)
        if not reason:
            try:
                reason = _define(agent, executor, item)
            except Exception as error:  # noqa: BLE001 - whatever the executor raises, the function is offered as text
                reason = f"{type(error).__name__}: {error}"
        if reason:
            logger.info("%s is offered as text, not defined: %s", item.name, reason)
        else:
            helpers.update(names)
            defined.append(item)
    return tuple(defined)


def _reason_against(
    item: OfferedCallable, names: dict[str, str], taken: set[str], helpers: dict[str, str]
) -> str:
    if not item.name.isidentifier() or keyword.iskeyword(item.name) or item.name not in names:
        return "its source does not define it by plain definitions"
    if clash := sorted(names.keys() & taken):
        return f"it would replace {clash[0]}, a tool or variable of the agent"
    if clash := sorted(name for name in names.keys() & helpers.keys() if names[name] != helpers[name]):
        return f"it would replace {clash[0]} of another recalled function"
    return ""


def _definitions(source: str) -> dict[str, str]:
    """Top-level names a source defines, with the shape of each definition; empty when it does anything else."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    names: dict[str, str] = {}
    for position, node in enumerate(tree.body):
        if position == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a module docstring
        if not isinstance(node, _DEFINING):
            return {}
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names[node.name] = ast.dump(node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                names[(alias.asname or alias.name).split(".")[0]] = ast.dump(node)
        else:
            for part in ast.walk(node):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    names[part.id] = ast.dump(node)
    return names


def _define(agent: Any, executor: Any, item: OfferedCallable) -> str:
    """Define one function; returns why not, or "" when it is done. May raise what the executor raises."""
    if callable(getattr(executor, "define", None)):
        names = executor.define(item.source)
        if isinstance(names, (list, tuple, set, frozenset)) and item.name not in names:
            return "the executor did not define it"
        return ""
    kinds = {cls.__name__ for cls in type(executor).__mro__}
    if "LocalPythonExecutor" in kinds:
        # Functions see the tools and builtins that exist when they are defined, so these come first. The run sends
        # them again; for this executor that is harmless.
        executor.send_tools({**agent.tools, **agent.managed_agents})
        problems = dialect_problems(item.source, executor.static_tools, executor.authorized_imports)
        clash = _definitions(item.source).keys() & set(executor.static_tools)
        if clash:
            return f"{min(clash)} is a builtin of the executor, which would win over it"
        if not problems:
            executor(item.source)
        return "; ".join(problems)
    if "RemotePythonExecutor" in kinds:
        # Real Python. Tools must not be sent here: sending them twice breaks final_answer in smolagents 1.26.
        executor(item.source)
        return ""
    return "this executor has no way to define functions"

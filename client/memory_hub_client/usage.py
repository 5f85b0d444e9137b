"""Which of the offered functions did the code really call? Read from the code itself, by `ast`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from .types import OfferedCallable


def used_callables(
    steps: Iterable[str], offered: Iterable[OfferedCallable], defined: Iterable[str]
) -> tuple[OfferedCallable, ...]:
    """Offered functions that the code of the steps (in order) calls or hands to a call, as in `map(clean, rows)`.

    `defined` are names that exist in the session from the start. A function that the code defines anew counts only
    if the definition is the offered one (copied from the prompt); a name bound to anything else is lost to us.
    """
    by_name = {item.name: item for item in offered}
    ours = {name for name in defined if name in by_name}
    used: dict[str, OfferedCallable] = {}
    for code in steps:
        try:
            tree = ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # it never ran
        for statement in tree.body:
            for name in _called_names(statement) & (ours - _replaced_by_def(statement)):
                used[name] = by_name[name]
            for name in _bound_names(statement) & by_name.keys():
                if isinstance(statement, ast.FunctionDef) and _same_function(statement, by_name[name]):
                    ours.add(name)
                else:
                    ours.discard(name)
    return tuple(used.values())


def _called_names(statement: ast.stmt) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Call):
            values = [node.func, *node.args, *(keyword.value for keyword in node.keywords)]
            names.update(value.id for value in values if isinstance(value, ast.Name))
    return names


def _replaced_by_def(statement: ast.stmt) -> set[str]:
    """A function's own name inside its body is the new function, not the one it replaces."""
    return (
        {statement.name}
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        else set()
    )


def _bound_names(statement: ast.stmt) -> set[str]:
    """Names a top-level statement binds at module level (not those local to a function or a comprehension)."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    names: set[str] = set()
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        pending.extend(ast.iter_child_nodes(node))
    return names


def _same_function(definition: ast.FunctionDef, offered: OfferedCallable) -> bool:
    try:
        tree = ast.parse(offered.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    originals = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == offered.name
    ]
    return any(_shape(definition) == _shape(original) for original in originals)


def _shape(definition: ast.FunctionDef) -> str:
    """The function without its docstring and positions, so that a faithful copy is recognised."""
    body = definition.body[1:] if ast.get_docstring(definition, clean=False) is not None else definition.body
    parts = [definition.args, *definition.decorator_list, *body]
    return "\n".join(ast.dump(part) for part in parts)

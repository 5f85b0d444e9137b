"""The minimal program: a function and everything at top level that it needs, byte for byte from the steps' code."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agents_runner.distill.statements import Statement, executed_statements, parse
from agents_runner.distill.trajectory import StepData

_NEWLINE = re.compile(r"\r\n|\r|\n")
_ALWAYS_DEFINED = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "final_answer"}


@dataclass(frozen=True, slots=True)
class Program:
    """``code``, and the names that it reads and neither defines nor finds among the builtins."""

    code: str
    undefined: frozenset[str]


def function_program(steps: Sequence[StepData], entry_point: str) -> Program | None:
    """The program of the function ``entry_point``, or None when no step defines a top-level function of that name."""
    statements = executed_statements(steps)
    chosen, undefined = _closure(statements, _binders(statements, entry_point, None), {entry_point})
    program = Program(_join(steps, statements, chosen), frozenset(undefined))
    return program if function_node(program.code, entry_point) is not None else None


def script_program(steps: Sequence[StepData]) -> Program | None:
    """The successful steps in order, with what they need from steps that failed later on; None without any."""
    positions = [position for position, step in enumerate(steps) if step.worked]
    if not positions:
        return None
    statements = executed_statements(steps)
    own = [statement for statement in statements if statement.step in positions]
    chosen, undefined = _closure(statements, own, set())
    borrowed = [s for s in statements if s.index in chosen and s.step not in positions]
    parts: list[str] = []
    for position, step in enumerate(steps):
        if position in positions:
            parts.append(step.code)
        else:
            part = _join(steps, statements, {s.index for s in borrowed if s.step == position})
            parts.extend([part] if part else [])
    return Program(_concatenate(parts), frozenset(undefined))


def function_node(code: str, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The last top-level definition of the function ``name`` in ``code``, unless something else binds it later."""
    tree = parse(code)
    found: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    for node in tree.body if tree else []:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            found = node
        elif isinstance(node, ast.Assign) and any(getattr(t, "id", None) == name for t in node.targets):
            found = None
    return found


def _closure(
    statements: Sequence[Statement], start: Iterable[Statement], exempt: set[str]
) -> tuple[set[int], set[str]]:
    """The indices of ``start`` and all that it needs, and the names that nothing binds."""
    chosen: set[int] = set()
    undefined: set[str] = set()
    waiting = list(start)
    asked: set[tuple[str, int | None]] = set()

    def need(name: str, before: int | None) -> None:
        if (name, before) in asked:
            return
        asked.add((name, before))
        binders = _binders(statements, name, before)
        if not binders:
            if name not in _ALWAYS_DEFINED and name not in exempt:
                undefined.add(name)
            return
        waiting.extend(binders)
        imported = isinstance(binders[-1].node, (ast.Import, ast.ImportFrom))
        for statement in statements:
            after = statement.index > binders[0].index and (before is None or statement.index < before)
            if after and name in statement.changes and not (imported and statement.is_definition):
                waiting.append(statement)

    while waiting:
        statement = waiting.pop()
        if statement.index in chosen:
            continue
        chosen.add(statement.index)
        for name in statement.needs_now:
            need(name, statement.index)
        for name in statement.needs_later:
            need(name, None)
    if undefined:
        stars = [s for s in statements if isinstance(s.node, ast.ImportFrom) and s.node.names[0].name == "*"]
        chosen.update(s.index for s in stars)
    return chosen, undefined


def _binders(statements: Sequence[Statement], name: str, before: int | None) -> list[Statement]:
    """The statements that give ``name`` its value (as of statement ``before``, or at the end), in order.

    That is the last one; those before it as well as long as it may not bind the name, or adds to it (x += 1,
    import a.b after import a). Statements that may not have run count only where no other binds the name.
    """
    candidates = [s for s in statements if name in s.binds and (before is None or s.index < before)]
    if not candidates and before is not None:
        candidates = [s for s in statements if name in s.binds and s.index != before]
    strong = [s for s in candidates if not s.weak]
    found: list[Statement] = []
    for statement in reversed(strong or candidates):
        found.append(statement)
        dotted = isinstance(statement.node, ast.Import) and any(
            "." in alias.name and alias.asname is None for alias in statement.node.names
        )
        if not (statement.maybe or dotted or isinstance(statement.node, ast.AugAssign)):
            break
    return found[::-1]


def _join(steps: Sequence[StepData], statements: Sequence[Statement], chosen: set[int]) -> str:
    """The chosen statements in order; those that stand together in their step stay exactly as they stand there."""
    futures = {
        s.index for s in statements if _is_future(s) and s.step in {statements[i].step for i in chosen}
    }
    order = [*sorted(futures), *sorted(chosen - futures)]
    parts: list[str] = []
    run: list[Statement] = []
    for index in order:
        statement = statements[index]
        if run and (statement.step, statement.place) != (run[-1].step, run[-1].place + 1):
            parts.append(_source(steps, run))
            run = []
        run.append(statement)
    if run:
        parts.append(_source(steps, run))
    return _concatenate(parts)


def _source(steps: Sequence[StepData], run: Sequence[Statement]) -> str:
    code = steps[run[0].step].code.encode()
    return code[run[0].start : run[-1].end].decode()


def _concatenate(parts: Sequence[str]) -> str:
    """Parts one below the other, a blank line between them (two around functions), in the newlines of the code."""
    newline = next((match[0] for part in parts for match in [_NEWLINE.search(part)] if match), "\n")
    code = ""
    for part in parts:
        if code:
            big = re.match(r"(?:@|def |class |async def |#)", part) or re.search(
                r"(?:\r\n|\r|\n)[ \t]+\S[^\r\n]*$", code
            )
            code += newline * ((3 if big else 2) - code.endswith(("\n", "\r")))
        code += part
    return code if not code or code.endswith(("\n", "\r")) else code + newline


def _is_future(statement: Statement) -> bool:
    return isinstance(statement.node, ast.ImportFrom) and statement.node.module == "__future__"

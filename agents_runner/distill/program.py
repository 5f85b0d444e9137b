"""The minimal program: a function and everything at top level that it needs, byte for byte from the steps' code."""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
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
    run = _Run(statements)
    chosen, undefined = run.closure(run.binders(entry_point, None))
    program = Program(_join(steps, statements, chosen), frozenset(undefined))
    return program if function_node(program.code, entry_point) is not None else None


def script_program(steps: Sequence[StepData]) -> Program | None:
    """The successful steps in order, with what they need from steps that failed later on; None without any."""
    positions = [position for position, step in enumerate(steps) if step.worked]
    if not positions:
        return None
    statements = executed_statements(steps)
    own = [statement for statement in statements if statement.step in positions]
    chosen, undefined = _Run(statements).closure(own)
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


class _Run:
    """The statements of a run, and what each name meant at each moment of it."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        self.statements = statements
        self._binding: dict[str, list[Statement]] = defaultdict(list)
        self._changing: dict[str, list[Statement]] = defaultdict(list)
        for statement in statements:
            for name in statement.binds:
                self._binding[name].append(statement)
            for name in statement.changes:
                self._changing[name].append(statement)

    def binders(self, name: str, before: int | None) -> list[Statement]:
        """The statements that gave ``name`` its value as of statement ``before`` (None: at the end), in order.

        That is the last one; those before it as well as long as it may not bind the name, or adds to it (x += 1,
        import a.b after import a). Statements that may not have run count only where no other binds the name.
        """
        everywhere = self._binding[name]
        candidates = [s for s in everywhere if before is None or s.index < before] or everywhere
        strong = [s for s in candidates if not s.weak]
        found: list[Statement] = []
        for statement in reversed(strong or candidates):
            found.append(statement)
            if not (
                statement.maybe or isinstance(statement.node, ast.AugAssign) or _imports_dotted(statement)
            ):
                break
        return found[::-1]

    def changers(self, name: str, binders: Sequence[Statement], before: int | None) -> list[Statement]:
        """The statements that changed in place what ``binders`` gave to ``name``, as of ``before``.

        A function that is decorated with something of a module does not change the module.
        """
        imported = isinstance(binders[-1].node, (ast.Import, ast.ImportFrom))
        return [
            s
            for s in self._changing[name]
            if s.index > binders[0].index
            and (before is None or s.index < before)
            and not (imported and s.is_definition)
        ]

    def closure(self, start: Iterable[Statement]) -> tuple[set[int], set[str]]:
        """The indices of ``start`` and of all it needs, and the names that nothing binds.

        A name that a statement reads while it runs has the value of that moment, and so has, through a function
        called there, what that function reads. A function may also be called at the end, so what it reads is
        needed as of then, too.
        """
        undefined: set[str] = set()
        waiting: list[tuple[Statement, int | None]] = [(statement, None) for statement in start]
        done: set[tuple[int, int | None]] = set()
        while waiting:
            statement, moment = waiting.pop()
            if (statement.index, moment) in done:
                continue
            done.add((statement.index, moment))
            needs: set[tuple[str, int | None]] = {(name, statement.index) for name in statement.needs_now}
            needs.update((name, at) for name in statement.needs_later for at in (moment, None))
            for name, at in needs:
                binders = self.binders(name, at)
                if binders:
                    waiting.extend((s, at) for s in (*binders, *self.changers(name, binders, at)))
                elif name not in _ALWAYS_DEFINED:
                    undefined.add(name)
        chosen = {index for index, _ in done}
        if undefined:
            chosen.update(s.index for s in self.statements if _imports_star(s))
        return chosen, undefined


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


def _imports_star(statement: Statement) -> bool:
    return isinstance(statement.node, ast.ImportFrom) and statement.node.names[0].name == "*"


def _imports_dotted(statement: Statement) -> bool:
    return isinstance(statement.node, ast.Import) and any(
        "." in alias.name and alias.asname is None for alias in statement.node.names
    )

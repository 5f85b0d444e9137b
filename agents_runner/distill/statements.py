"""Cuts the code of steps into top-level statements and says what each binds, needs and changes.

Names are resolved by the compiler's own symbol table, so comprehensions, class bodies, nested functions and
`global` are understood as Python understands them. Nothing is executed.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents_runner.distill.errors import module_line
from agents_runner.distill.trajectory import StepData

# methods that change what they are called on: such a statement belongs to the variable it changes
MUTATORS = frozenset(
    [
        "add",
        "append",
        "appendleft",
        "clear",
        "discard",
        "extend",
        "insert",
        "pop",
        "popitem",
        "register",
        "remove",
        "reverse",
        "setdefault",
        "sort",
        "symmetric_difference_update",
        "update",
        "difference_update",
        "intersection_update",
    ]
)
# calls on an imported module that set it up for the code that follows
MODULE_SETTERS = frozenset(
    [
        "set_option",
        "setrecursionlimit",
        "setlocale",
        "filterwarnings",
        "simplefilter",
        "field_size_limit",
        "seed",
        "set_printoptions",
        "seterr",
        "register_dialect",
        "set_int_max_str_digits",
    ]
)
_NEWLINE = re.compile(rb"\r\n|\r|\n")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)
_BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.Match)
# scopes of the symbol table that run where they stand
_AT_ONCE = frozenset(("listcomp", "setcomp", "dictcomp", "genexpr"))


@dataclass(frozen=True, slots=True)
class Statement:
    """One top-level statement. ``start`` and ``end`` are byte offsets in the step's UTF-8 code.

    ``step``: position of its step in the run; ``place``: its position in the step; ``index``: in the whole list.
    ``needs_now``: names read while it runs; ``needs_later``: names read when a function it defines is called.
    ``maybe``: it may bind its names or not (a branch, a loop, an error handler).
    ``weak``: it stands in a step that failed at an unknown place, so it may not have run.
    """

    step: int
    place: int
    index: int
    node: ast.stmt
    start: int
    end: int
    binds: frozenset[str]
    needs_now: frozenset[str]
    needs_later: frozenset[str]
    changes: frozenset[str]
    maybe: bool
    weak: bool

    @property
    def is_definition(self) -> bool:
        """A function, a class or an import."""
        return isinstance(self.node, _DEFINITIONS)


def parse(code: str) -> ast.Module | None:
    """The syntax tree, or None for code that this Python cannot read."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def executed_statements(steps: Sequence[StepData]) -> list[Statement]:
    """The top-level statements that ran, over all steps in order.

    Of a failed step these are the statements before the one that failed; where that is unknown, its functions,
    classes and imports, marked weak.
    """
    statements: list[Statement] = []
    for position, step in enumerate(steps):
        tree = parse(step.code) if step.code.strip() else None
        if tree is None:
            continue
        source = step.code.encode()
        spans = _spans(tree, source)
        if spans is None:
            continue
        failed_at = _failed_at(tree, step)
        for place, (node, span) in enumerate(zip(tree.body, spans, strict=True)):
            weak = False
            if step.error is not None:
                if failed_at is None:
                    weak = True
                elif (node.end_lineno or node.lineno) >= failed_at:
                    break
            names = _names(node)
            if names is not None and (not weak or isinstance(node, _DEFINITIONS)):
                statements.append(
                    Statement(
                        position,
                        place,
                        len(statements),
                        node,
                        *span,
                        *names,
                        isinstance(node, _BRANCHES),
                        weak,
                    )
                )
    return statements


def _failed_at(tree: ast.Module, step: StepData) -> int | None:
    """The line of the top-level statement that failed, or None if unknown."""
    if step.error is None:
        return None
    line = module_line(step.error)
    if line is not None:
        return line
    line = step.error.line_number
    inside_definition = line is not None and any(
        isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and node.lineno <= line <= (node.end_lineno or 0)
        for node in tree.body
    )
    return None if inside_definition else line


def _spans(tree: ast.Module, source: bytes) -> list[tuple[int, int]] | None:
    """Start and end of each top-level statement, with the comments that belong to it; None if they do not add up."""
    line_starts = [0, *(match.end() for match in _NEWLINE.finditer(source))]
    ends = [0]
    spans: list[tuple[int, int]] = []
    for node in tree.body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        if first > len(line_starts) or (node.end_lineno or 0) > len(line_starts):
            return None
        column = 0 if first < node.lineno else node.col_offset
        start = line_starts[first - 1] + column
        end = line_starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        if start < ends[-1] or end <= start:
            return None
        start = _with_comments_above(source, start, ends[-1], line_starts)
        ends.append(_with_comment_after(source, end))
        spans.append((start, ends[-1]))
    return spans


def _with_comments_above(source: bytes, start: int, limit: int, line_starts: Sequence[int]) -> int:
    """Move ``start`` up over the comment lines directly above, not beyond ``limit``."""
    if start not in line_starts:
        return start
    line = line_starts.index(start)
    while line > 0 and line_starts[line - 1] >= limit:
        if not source[line_starts[line - 1] : line_starts[line]].strip().startswith(b"#"):
            break
        line -= 1
    return line_starts[line]


def _with_comment_after(source: bytes, end: int) -> int:
    """Move ``end`` over a comment that ends the line."""
    newline = _NEWLINE.search(source, end)
    rest = source[end : newline.start() if newline else len(source)]
    return end + len(rest.rstrip()) if rest.strip().startswith(b"#") else end


def _names(node: ast.stmt) -> tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str]] | None:
    """What the statement binds, needs now, needs later and changes; None if the compiler refuses it."""
    try:
        table = symtable.symtable(ast.unparse(node), "<statement>", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return None
    binds = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
    now = {s.get_name() for s in table.get_symbols() if s.is_referenced()}
    later: set[str] = set()
    for child in table.get_children():
        _read_names(child, now, later, binds, deferred=False)
    changes = set(_changed_names(node))
    return frozenset(binds), frozenset(now | changes), frozenset(later), frozenset(changes)


def _read_names(
    table: symtable.SymbolTable, now: set[str], later: set[str], binds: set[str], *, deferred: bool
) -> None:
    """Collect the global names that ``table`` and the scopes inside it read, or bind by `global`."""
    deferred = deferred or (table.get_type() == "function" and table.get_name() not in _AT_ONCE)
    for symbol in table.get_symbols():
        if symbol.is_global():
            if symbol.is_referenced():
                (later if deferred else now).add(symbol.get_name())
            if symbol.is_assigned():
                binds.add(symbol.get_name())
    for child in table.get_children():
        _read_names(child, now, later, binds, deferred=deferred)


def _changed_names(node: ast.stmt) -> Iterator[str]:
    """Names of variables that the statement changes in place (not by binding them anew)."""
    for part in _walk_this_scope(node):
        if isinstance(part, ast.AugAssign):
            yield from _root_name(part.target)
        elif isinstance(part, (ast.Subscript, ast.Attribute)) and not isinstance(part.ctx, ast.Load):
            yield from _root_name(part)
        elif isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
            call = part.value
            in_place = any(
                keyword.arg == "inplace" and getattr(keyword.value, "value", False)
                for keyword in call.keywords
            )
            if isinstance(call.func, ast.Attribute) and (
                in_place or call.func.attr in MUTATORS or call.func.attr in MODULE_SETTERS
            ):
                yield from _root_name(call.func)
    # @convert.register, @app.route: the function is entered into what decorates it
    for decorator in getattr(node, "decorator_list", []):
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(target, ast.Attribute):
            yield from _root_name(target)


def _walk_this_scope(node: ast.AST) -> Iterator[ast.AST]:
    """The node and everything inside that runs with it: not the bodies of functions and lambdas."""
    if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _walk_this_scope(child)


def _root_name(node: ast.expr) -> Iterator[str]:
    """ "a" for a, a.b, a[0].c and a().b"""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Name):
        yield node.id

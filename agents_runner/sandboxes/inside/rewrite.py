"""Reads and prepares submitted code before it runs: paths, and the call sites whose results may become the answer.

The functions themselves stay as written, so recursion, generators, signatures and pickling are untouched: only calls
of known top-level functions are rewritten, and only where they stand outside functions (or in a function that itself
gives the final answer). `f(x)` becomes `__record_call__(7, f)(x)`, on the same line and column.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

RECORD_NAME = "__record_call__"
ANSWER_NAME = "final_answer"
Functions = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Site:
    """One rewritten call: which function by name, and the variable its result is assigned to, if any."""

    function: str
    target: str = ""


@dataclass
class Answer:
    """What stands in a `final_answer(...)` call: "call" of `site`, a variable "name", a "constant", or "other"."""

    kind: str
    name: str = ""
    site: int = -1


@dataclass
class Prepared:
    """Submitted code, ready to compile. `last` is the final expression, whose value is the step's value."""

    body: ast.Module
    last: ast.Expression | None
    functions: list[str]
    mentioned: set[str]
    answers: dict[int, Answer] = field(default_factory=dict)


def defined_functions(tree: ast.Module) -> list[str]:
    """Names of the functions defined at the top level (also under `if` and `try` there)."""
    names: list[str] = []
    queue: list[ast.stmt] = list(tree.body)
    while queue:
        node = queue.pop(0)
        if isinstance(node, Functions):
            names.append(node.name)
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            for block in ("body", "orelse", "finalbody"):
                queue += getattr(node, block, [])
    return names


class CallSites(ast.NodeTransformer):
    """Rewrites the call sites; see the module's docstring."""

    def __init__(self, functions: set[str], sites: list[Site]) -> None:
        self.functions = functions
        self.sites = sites
        self.answers: dict[int, Answer] = {}

    def keep_or_enter(self, node: ast.AST) -> ast.AST:
        gives_answer = any(
            isinstance(inner, ast.Name) and inner.id == ANSWER_NAME for inner in ast.walk(node)
        )
        return self.generic_visit(node) if gives_answer else node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = keep_or_enter

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        target = node.targets[-1]
        return self.assigned(node, target.id if isinstance(target, ast.Name) else "")

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        return self.assigned(node, node.target.id if isinstance(node.target, ast.Name) else "")

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        return self.assigned(node, node.target.id)

    def assigned(self, node: ast.Assign | ast.AnnAssign | ast.NamedExpr, name: str) -> ast.AST:
        before = len(self.sites)
        direct = self.is_recorded(node.value)
        self.generic_visit(node)
        if direct and name:
            self.sites[before].target = name
        return node

    def is_recorded(self, node: ast.AST | None) -> bool:
        return (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.functions
        )

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == ANSWER_NAME:
            values = [*node.args, *(keyword.value for keyword in node.keywords)]
            self.answers[node.lineno] = self.answer(values[0]) if len(values) == 1 else Answer("other")
            return self.generic_visit(node)
        if not self.is_recorded(node):
            return self.generic_visit(node)
        assert isinstance(node.func, ast.Name)
        number = len(self.sites)
        self.sites.append(Site(node.func.id))
        function = node.func
        recorded = ast.Call(ast.Name(RECORD_NAME, ast.Load()), [ast.Constant(number), function], [])
        ast.copy_location(recorded, function)
        for child in (recorded.func, recorded.args[0]):
            ast.copy_location(child, function)
        node.func = recorded
        node.args = [self.visit(argument) for argument in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return node

    def answer(self, value: ast.expr) -> Answer:
        if self.is_recorded(value):
            return Answer("call", site=len(self.sites))  # the number its visit is about to give it
        if isinstance(value, ast.Name):
            return Answer("name", name=value.id)
        return Answer("constant" if isinstance(value, ast.Constant) else "other")


def real_path(text: str, folders: dict[str, str]) -> str:
    """ "/inputs/a.csv" -> where that is when it cannot be mounted there; any other text as it is."""
    for inside, real in folders.items():
        if (text == inside or text.startswith(inside + "/")) and not text.startswith(tuple(folders.values())):
            return real + text[len(inside) :]
    return text


class Paths(ast.NodeTransformer):
    """Replaces "/inputs/..." and the like by the real folder, where a sandbox cannot mount it there (Landlock)."""

    def __init__(self, folders: dict[str, str]) -> None:
        self.folders = folders

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, str):
            node.value = real_path(node.value, self.folders)
        elif isinstance(node.value, bytes):
            node.value = real_path(node.value.decode("latin-1"), self.folders).encode("latin-1")
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        for position, part in enumerate(node.values):
            # Only the beginning of an f-string is the beginning of a path.
            if position == 0 or not isinstance(part, ast.Constant):
                self.visit(part)
        return node


def prepare(
    source: str, filename: str, *, known: set[str], sites: list[Site], folders: dict[str, str]
) -> Prepared:
    """Parse and rewrite `source`; new call sites are appended to `sites`. Raises SyntaxError, ValueError."""
    tree = ast.parse(source, filename)
    functions = defined_functions(tree)
    mentioned = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    answers: dict[int, Answer] = {}
    if folders:
        tree = Paths(folders).visit(tree)
    callable_names = known | set(functions)
    if callable_names & mentioned or ANSWER_NAME in mentioned:
        transformer = CallSites(callable_names, sites)
        tree = transformer.visit(tree)
        answers = transformer.answers
    last = None
    if tree.body and isinstance(expression := tree.body[-1], ast.Expr):
        tree.body.pop()
        last = ast.Expression(expression.value)
    return Prepared(tree, last, functions, mentioned, answers)

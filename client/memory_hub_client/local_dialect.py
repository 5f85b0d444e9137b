"""Would smolagents' LocalPythonExecutor run this source as Python does? If not, say why.

That executor interprets a dialect: some constructs are refused, and others silently give other results (tried on
1.26.0). A function that was proven in real Python must not be defined there unless it means the same.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

_SUPPORTED: tuple[type[ast.AST], ...] = (
    ast.Module, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Call, ast.Constant, ast.Tuple, ast.GeneratorExp,
    ast.ListComp, ast.DictComp, ast.SetComp, ast.UnaryOp, ast.Starred, ast.BoolOp, ast.Break, ast.Continue, ast.BinOp,
    ast.Compare, ast.Lambda, ast.FunctionDef, ast.Dict, ast.Expr, ast.For, ast.FormattedValue, ast.If, ast.JoinedStr,
    ast.List, ast.Name, ast.Subscript, ast.IfExp, ast.Attribute, ast.Slice, ast.While, ast.Import, ast.ImportFrom,
    ast.ClassDef, ast.Try, ast.Raise, ast.Assert, ast.With, ast.Set, ast.Return, ast.Pass, ast.Delete,
    # parts of the above
    ast.alias, ast.arg, ast.arguments, ast.comprehension, ast.ExceptHandler, ast.keyword, ast.withitem,
    ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip

_EXCEPTION_NAMES = frozenset(
    name
    for name, value in vars(__import__("builtins")).items()
    if isinstance(value, type) and issubclass(value, BaseException)
)
_CATCH_ALL = {"Exception", "BaseException"}
_TOP_LEVEL = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)


def dialect_problems(
    source: str, known_names: Collection[str], authorized_imports: Collection[str]
) -> list[str]:
    """Reasons not to define `source` in a LocalPythonExecutor, empty when it is safe to.

    known_names: tools and builtins of that executor. authorized_imports: as the executor has them.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return [f"not Python: {error}"]
    problems = [_of_node(node, authorized_imports) for node in ast.walk(tree)]
    problems += _unknown_names(tree, known_names)
    problems += _returns_that_are_caught(tree)
    return [problem for problem in problems if problem]


def _of_node(node: ast.AST, authorized_imports: Collection[str]) -> str:
    if not isinstance(node, _SUPPORTED):
        return f"{type(node).__name__} is not supported"
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.decorator_list:
        return f"decorators of {node.name} would be ignored"
    if isinstance(node, ast.ClassDef) and node.keywords:
        return f"keywords of class {node.name} would be ignored"
    if isinstance(node, ast.FunctionDef):
        return _of_arguments(node.name, node.args)
    if isinstance(node, ast.Lambda) and (
        node.args.defaults or _of_arguments("lambda", node.args) or node.args.vararg
    ):
        return "arguments of a lambda beyond plain ones would be lost"
    if isinstance(node, (ast.For, ast.While)) and node.orelse:
        return "else of a loop would be ignored"
    if isinstance(node, (ast.GeneratorExp)) and len(node.generators) > 1:
        return "a generator expression with several loops fails"
    if isinstance(node, ast.comprehension) and node.is_async:
        return "async is not supported"
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)) and any(
        isinstance(item, ast.Starred) for item in node.elts
    ):
        return "unpacking with * in a list or tuple gives another result"
    if isinstance(node, ast.Dict) and None in node.keys:
        return "unpacking with ** in a dict is not supported"
    if isinstance(node, (ast.Assign, ast.For)) and _has_list_target(node):
        return "unpacking into [a, b] does nothing"
    if isinstance(node, ast.FormattedValue) and node.conversion != -1:
        return "conversions like !r in an f-string would be ignored"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return "@ is not supported"
    if isinstance(node, ast.withitem) and node.optional_vars and not isinstance(node.optional_vars, ast.Name):
        return "with ... as (a, b) is not supported"
    if isinstance(node, ast.Delete) and any(isinstance(target, ast.Attribute) for target in node.targets):
        return "del of an attribute is not supported"
    if isinstance(node, ast.Attribute) and node.attr.startswith("__") and node.attr.endswith("__"):
        return f"access to {node.attr} is forbidden"
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
        and node.keywords
    ):
        return "keywords of print would be ignored"
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return _of_import(node, authorized_imports)
    return ""


def _of_arguments(name: str, arguments: ast.arguments) -> str:
    positional = len(arguments.args)
    if arguments.posonlyargs or arguments.kwonlyargs:
        return f"positional-only and keyword-only arguments of {name} would be lost"
    if arguments.vararg and positional:
        return f"*{arguments.vararg.arg} of {name} would hold the other arguments too"
    if arguments.kwarg and positional:
        return f"**{arguments.kwarg.arg} of {name} would hold the other arguments too"
    return ""


def _has_list_target(node: ast.Assign | ast.For) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(
        isinstance(part, ast.List) and isinstance(part.ctx, ast.Store)
        for t in targets
        for part in ast.walk(t)
    )


def _of_import(node: ast.Import | ast.ImportFrom, authorized: Collection[str]) -> str:
    if isinstance(node, ast.ImportFrom):
        if node.level or node.module is None or any(alias.name == "*" for alias in node.names):
            return "relative and star imports are not supported"
        modules = [node.module]
    else:
        modules = [alias.name for alias in node.names]
        if any("." in alias.name and not alias.asname for alias in node.names):
            return "import a.b without `as` binds another name"
    for module in modules:
        if not any(allowed in ("*", module) or _covers(allowed, module) for allowed in authorized):
            return f"import of {module} is not authorised"
    return ""


def _covers(allowed: str, module: str) -> bool:
    return allowed.endswith(".*") and (module + ".").startswith(allowed[:-1])


def _unknown_names(tree: ast.Module, known_names: Collection[str]) -> list[str]:
    """Names that nothing defines: refused, or silently taken for a variable with a similar name."""
    bound = set(known_names) | _EXCEPTION_NAMES | {"print", "super", "__name__"}
    loaded: dict[str, None] = {}
    annotations = {id(part) for annotation in _annotations(tree) for part in ast.walk(annotation)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                bound.add(node.id)
            elif id(node) not in annotations:
                loaded[node.id] = None
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            bound.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
    return [f"{name} is not available" for name in loaded if name not in bound]


def _annotations(tree: ast.Module) -> list[ast.expr]:
    """Annotations the executor never evaluates: of arguments, results and local variables."""
    found: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            found += [node.returns] if node.returns else []
            found += [part.annotation for part in node.body if isinstance(part, ast.AnnAssign)]
        elif isinstance(node, ast.arg) and node.annotation:
            found.append(node.annotation)
    return found


def _returns_that_are_caught(tree: ast.Module) -> list[str]:
    """The executor returns, breaks and continues by raising Exception: a catch-all around them swallows it."""
    problems = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and any(_catches_all(handler) for handler in node.handlers):
            jumps = (part for statement in node.body for part in ast.walk(statement))
            if any(isinstance(part, (ast.Return, ast.Break, ast.Continue)) for part in jumps):
                problems.append(
                    "return, break or continue inside try would be caught by its `except Exception`"
                )
    return problems


def _catches_all(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(isinstance(part, ast.Name) and part.id in _CATCH_ALL for part in ast.walk(handler.type))

"""What makes two pieces of code the same program, and two statements the same problem. Pure functions.

Comments, blank lines, quotes and other formatting do not count; names, docstrings and the order of statements do: a
docstring may be read by the program (`__doc__`), and what a person wrote there is not thrown away in silence. Code
that Python cannot parse is the same only byte for byte.

The digest is taken over a form of our own, not over `ast.dump`, whose text differs between versions of Python: fields
that are empty or None are left out, so that a field that a later version adds does not change old digests.
"""

import ast
import builtins
import warnings

from memory_hub.common.text import sha256_hex

from .code_facts import content_hash

# Deep nesting makes the parser, or the walk below, raise these instead of SyntaxError.
_ERRORS = (SyntaxError, ValueError, MemoryError, RecursionError)
# How a text was quoted, and comments on types: formatting.
_FORMATTING = frozenset({"kind", "type_comment", "type_ignores"})


def ast_hash(code: str) -> str:
    """Return SHA-256 (64 hex digits) of the program that the code is, or of its bytes where it does not parse."""
    try:
        return sha256_hex(_written(_parse(code)))
    except _ERRORS:
        return content_hash(code)


def problem_hash(problem: str) -> str:
    """Return SHA-256 of a problem statement; case and white space do not count."""
    return sha256_hex(" ".join(problem.casefold().split()))


def called_names(code: str) -> list[str]:
    """Return the names that the code calls and neither binds itself nor finds among Python's own, in order.

    Empty where it does not parse, and where it may bind names that cannot be seen (`from x import *`).
    """
    try:
        tree = _parse(code)
    except _ERRORS:
        return []
    bound = set(dir(builtins))
    called: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.alias):
            if node.name == "*":
                return []
            bound.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            bound.add(node.name)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called.append(node.func.id)
    return [name for name in dict.fromkeys(called) if name not in bound]


def _parse(code: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "invalid escape sequence" is the author's affair
        return ast.parse(code)


def _written(value: object) -> str:
    if isinstance(value, ast.AST):
        fields = (
            f"{name}={_written(field)}"
            for name, field in ast.iter_fields(value)
            if name not in _FORMATTING and field is not None and field != []
        )
        # None is a value here, not an absent field: `x = None` is not `x = ...`.
        own = f"value={value.value!r}" if isinstance(value, ast.Constant) else ",".join(fields)
        return f"{type(value).__name__}({own})"
    if isinstance(value, list):
        return f"[{','.join(_written(item) for item in value)}]"
    return repr(value)

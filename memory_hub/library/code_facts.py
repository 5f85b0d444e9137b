"""What can be said of a piece of code without running it: that it can be kept, what its entry point takes,
and which libraries it imports.
"""

import ast
import sys
import warnings

from memory_hub.common.errors import InvalidInput, TooLarge
from memory_hub.common.text import sha256_hex

MAX_CODE_BYTES = 512 * 1024
# Deep nesting makes the parser raise these instead of SyntaxError.
_PARSER_ERRORS = (SyntaxError, ValueError, MemoryError, RecursionError)


def content_hash(code: str) -> str:
    """Return SHA-256 over the UTF-8 bytes of the code."""
    return sha256_hex(code)


def require_storable_code(code: str) -> None:
    """Raise InvalidInput or TooLarge for code that cannot be kept byte for byte; everything else is kept as it is."""
    if not code.strip():
        raise _invalid("code", "The code is empty.")
    for number, line in enumerate(code.split("\n"), start=1):
        if "\x00" in line:
            raise _invalid(
                "code", f"Line {number} holds a NUL character, which the database cannot keep.", number
            )
    try:
        size = len(code.encode())
    except UnicodeEncodeError as error:
        number = code.count("\n", 0, error.start) + 1
        message = f"Line {number} holds half of a surrogate pair, which is no character of its own."
        raise _invalid("code", message, number) from None
    if size > MAX_CODE_BYTES:
        raise TooLarge(f"The code takes {size:,} bytes; at most {MAX_CODE_BYTES:,} are kept.")


def signature_of(code: str, entry_point: str) -> str:
    """Return "name(parameters) -> result" of a top-level function of the code; empty for a script.

    Raises InvalidInput, with the line, where the code does not parse, and where it has no such function. Where a
    name is defined twice the last one counts, as in Python.
    """
    if not entry_point:
        return ""
    tree = _parse(code)
    found = None
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == entry_point:
            found = node
    if found is None:
        names = top_level_functions(code)
        there = f"It has: {', '.join(names[:8])}." if names else "It has none."
        raise _invalid("entry_point", f"The code has no top-level function “{entry_point}”. {there}")
    result = f" -> {ast.unparse(found.returns)}" if found.returns else ""
    word = "async " if isinstance(found, ast.AsyncFunctionDef) else ""
    return f"{word}{found.name}({ast.unparse(found.args)}){result}"


def top_level_functions(code: str) -> list[str]:
    """Return the names of the functions defined at top level, in order, each once; empty where it does not parse."""
    try:
        body = _parse(code).body
    except InvalidInput:
        return []
    return list(dict.fromkeys(n.name for n in body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)))


def guess_entry_point(code: str) -> str:
    """Return the name of the only top-level function, or nothing where there is none or a choice."""
    names = top_level_functions(code)
    return names[0] if len(names) == 1 else ""


def imported_libraries(code: str) -> list[str]:
    """Return the top-level modules that the code imports anywhere, lower-case, in order of name.

    Empty where it does not parse. Relative imports name no library.
    """
    try:
        tree = _parse(code)
    except InvalidInput:
        return []
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return sorted({name.lower() for name in found})


def _parse(code: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "invalid escape sequence" is the author's affair
            return ast.parse(code)
    except _PARSER_ERRORS as error:
        line = getattr(error, "lineno", None)
        where = f" in line {line}" if line else ""
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        problem = getattr(error, "msg", None) or "it is nested too deeply"
        raise _invalid("code", f"Python {version} cannot read this code{where}: {problem}.", line) from None


def _invalid(field: str, message: str, line: int | None = None) -> InvalidInput:
    if line is None:
        return InvalidInput(message, fields={field: message})
    return InvalidInput(message, fields={field: message}, line=line)

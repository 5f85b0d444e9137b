"""Which modules a piece of code imports."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable

from agents_runner.distill.statements import parse


def imported_modules(code: str) -> list[str]:
    """Top-level names of the imported modules, sorted; [] for code that cannot be read."""
    names: set[str] = set()
    for node in ast.walk(parse(code) or ast.Module([], [])):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return sorted(names - {"__future__"})


def third_party(modules: Iterable[str]) -> list[str]:
    """Those that are not part of Python."""
    return [name for name in modules if name not in sys.stdlib_module_names]

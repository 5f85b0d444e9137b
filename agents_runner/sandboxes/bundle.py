"""Compiles the program of inside/ into one file, once per process, so that a sandbox starts without compiling."""

from __future__ import annotations

import functools
import importlib.util
import marshal
import types
from pathlib import Path

PACKAGE = "agents_runner.sandboxes.inside"
# In the order in which they import each other.
MODULES = [
    "encoder",
    "decoder",
    "codec",
    "failures",
    "processes",
    "quota",
    "output",
    "confine",
    "rewrite",
    "recorder",
    "interpreter",
]
MODULES += ["request", "worker", "supervisor"]

LOADER = """
import marshal, sys, types
def load():
    for name, code in marshal.loads(BUNDLE):
        module = sys.modules[name] = types.ModuleType(name)
        module.__dict__["__name__"] = name
        if code is None:
            module.__path__ = []
        else:
            exec(code, module.__dict__)
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, module)
    module.main()
load()
"""


@functools.cache
def worker_pyc() -> bytes:
    """The bytes of worker.pyc, for the interpreter that runs now: `python -I -S -B worker.pyc`."""
    folder = Path(__file__).parent / "inside"
    parts = PACKAGE.split(".")
    modules: list[tuple[str, types.CodeType | None]] = [
        (".".join(parts[: length + 1]), None) for length in range(len(parts))
    ]
    for name in MODULES:
        source = (folder / f"{name}.py").read_bytes()
        # The file name marks our own frames, which tracebacks of agent code leave out.
        modules.append((f"{PACKAGE}.{name}", compile(source, f"<sandbox {name}>", "exec", dont_inherit=True)))
    loader = compile(
        f"BUNDLE = {marshal.dumps(modules)!r}\n{LOADER}", "<sandbox loader>", "exec", dont_inherit=True
    )
    return importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(loader)

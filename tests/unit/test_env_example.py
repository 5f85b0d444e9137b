""".env.example lists every variable that is read, and no other, with the defaults of the code."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLE = (ROOT / ".env.example").read_text(encoding="utf-8")
LISTED = dict(re.findall(r"^#([A-Z][A-Z_]+)=(.*)$", EXAMPLE, re.MULTILINE))
# Read by bin/_run, before there is any Python of ours.
BY_THE_SHELL = {"MEMORY_HUB_PYTHON"}
READING = ("settings.py", "launcher/start.py")
# A default that depends on nothing else: 600, "auto", 20 * 1024 * 1024.
PLAIN = (ast.Constant, ast.BinOp, ast.operator)


def readers() -> list[ast.Call]:
    return [
        node
        for file in READING
        for node in ast.walk(ast.parse((ROOT / "memory_hub" / file).read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.startswith("env_")
    ]


def name_of(call: ast.Call) -> str:
    argument = call.args[0]
    assert isinstance(argument, ast.Constant)
    return str(argument.value)


def test_it_lists_exactly_what_is_read() -> None:
    assert set(LISTED) - BY_THE_SHELL == {name_of(call) for call in readers()}
    for name in BY_THE_SHELL:
        assert f"${{{name}:-" in (ROOT / "bin" / "_run").read_text(encoding="utf-8")


def test_its_defaults_are_those_of_the_code() -> None:
    compared = 0
    for call in readers():
        default = call.args[1] if len(call.args) > 1 else None
        if default is not None and all(isinstance(node, PLAIN) for node in ast.walk(default)):
            value = eval(compile(ast.Expression(default), "settings.py", "eval"))
            shown = str(value).lower() if isinstance(value, bool) else str(value)
            assert LISTED[name_of(call)] == shown, name_of(call)
            compared += 1
    assert compared > 10


def test_what_is_required_has_no_default_and_says_so() -> None:
    for call in readers():
        if len(call.args) == 1 and not call.keywords:
            name = name_of(call)
            assert LISTED[name] == ""
            assert "Required" in comment_of(name)


def test_what_may_come_from_a_file_is_marked_as_a_secret() -> None:
    secret = {
        name_of(call)
        for call in readers()
        if isinstance(call.func, ast.Name) and call.func.id == "env_secret"
    }
    assert {name for name in LISTED if "Secret." in comment_of(name)} == secret


def comment_of(name: str) -> str:
    """The lines of text right above a variable."""
    above = EXAMPLE[: EXAMPLE.index(f"\n#{name}=")].splitlines()
    lines = []
    while above and above[-1].startswith("# "):
        lines.append(above.pop()[2:])
    return " ".join(reversed(lines))

"""What the documents name exists: linked files, paths, commands, variables, dependencies."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "NOTICE",
    ROOT / "client" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
FOLDERS = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")} - {"data"}
# Made from what others run, not kept in the clone.
MADE_ELSEWHERE = ("docker/secrets", "data/")
# A pattern, a constant of the kernel, a setting of Django that is left as it is.
NOT_OURS = {"NAME_FILE", "RLIMIT_NPROC", "ATOMIC_REQUESTS"}


def named(document: Path) -> str:
    return str(document.relative_to(ROOT))


def links(text: str) -> Iterator[str]:
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:|#", target):
            yield target.partition("#")[0]


def quoted(text: str) -> Iterator[str]:
    """What stands between backticks, code blocks left out."""
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def shell_lines(text: str) -> Iterator[str]:
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        yield from re.sub(r"\\\n\s*", "", block).splitlines()


def commands(text: str) -> Iterator[list[str]]:
    """Every command line of ours: in shell blocks, and between backticks."""
    for line in [*shell_lines(text), *quoted(text)]:
        for part in re.split(r"&&|\||;", line.partition("  #")[0]):
            words = part.split()
            if words and re.match(r"(bin|docker|\.venv|\.ci)/|python$", words[0]):
                yield words


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_every_link_leads_somewhere(document: Path) -> None:
    for target in links(document.read_text(encoding="utf-8")):
        if target.endswith(".png"):
            continue  # the next test
        assert (document.parent / target).exists(), f"{named(document)} links to {target}"


def test_every_picture_is_there() -> None:
    if not (ROOT / "tests" / "browser" / "screenshots.py").exists():
        pytest.skip("nothing makes the pictures yet")
    for document in DOCUMENTS:
        for target in links(document.read_text(encoding="utf-8")):
            if target.endswith(".png"):
                assert (document.parent / target).is_file(), f"{named(document)} shows {target}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_every_path_that_is_named_exists(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    candidates = [word for part in quoted(text) for word in part.split()[:1]]
    if document.name == "NOTICE":
        candidates += [word.rstrip(",.:") for word in text.split()]
    for path in candidates:
        first = path.partition("/")[0]
        if "/" not in path or first not in FOLDERS or re.search(r"[<>…{}()$]", path):
            continue
        if path.startswith(MADE_ELSEWHERE):
            continue
        found = list(ROOT.glob(path)) if "*" in path else [ROOT / path]
        assert any(file.exists() for file in found), f"{named(document)} names {path}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_every_command_that_is_named_exists(document: Path) -> None:
    for words in commands(document.read_text(encoding="utf-8")):
        program = words[0]
        if program.startswith(MADE_ELSEWHERE):
            continue
        if program.startswith((".ci/", "bin/", "docker/")):
            assert (ROOT / program).is_file(), program
        if "-m" in words[1:2]:
            module = words[2]
            if module.split(".")[0] in FOLDERS:
                file = ROOT / Path(*module.split("."))
                assert file.with_suffix(".py").exists() or (file / "__main__.py").exists(), module
        if program == "bin/manage":
            rest = words[3:] if words[1:2] == ["--data"] else words[1:]
            if rest and not re.search(r"[<\[A-Z]", rest[0]):
                assert rest[0] in get_commands(), f"bin/manage {rest[0]}"
        for path in words[1:]:
            if path.startswith("tests/"):
                assert (ROOT / path).exists(), path


def test_commands_are_found_in_documents() -> None:
    """The test above would be of no use if it found nothing."""
    found = {
        " ".join(words[:2])
        for document in DOCUMENTS
        for words in commands(document.read_text(encoding="utf-8"))
    }
    assert {"bin/start", "bin/test", "bin/manage verify_audit", "docker/make-secrets"} <= found


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_every_variable_that_is_named_is_read_somewhere(document: Path) -> None:
    code = "\n".join(
        file.read_text(encoding="utf-8")
        for folder in ("memory_hub", "agents_runner", "client", "bin", "docker")
        for file in (ROOT / folder).rglob("*")
        if file.suffix in (".py", ".sh", "") and file.is_file() and "secrets" not in file.parts
    )
    code += (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    for part in quoted(document.read_text(encoding="utf-8")):
        for name in re.findall(r"^[A-Z][A-Z]+(?:_[A-Z]+)+\b", part):
            if name not in NOT_OURS:
                assert re.search(rf"\b{name.removesuffix('_FILE')}\b", code), (
                    f"{named(document)} names {name}"
                )


def test_every_decision_is_listed_under_a_number_of_its_own() -> None:
    folder = ROOT / "docs" / "decisions"
    records = sorted(path.name for path in folder.glob("[0-9]*.md"))
    listed = re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", (folder / "README.md").read_text(encoding="utf-8"))
    assert sorted(set(listed)) == records
    assert [name[:4] for name in records] == [f"{number:04}" for number in range(1, len(records) + 1)]
    for name in records:
        title = (folder / name).read_text(encoding="utf-8").splitlines()[0]
        assert title.startswith(f"# {name[:4]}: ")


def test_every_direct_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    record = (ROOT / "docs" / "decisions" / "0002-dependencies.md").read_text(encoding="utf-8")
    runtime = [re.split(r"[\s~=<>;]", entry)[0] for entry in project["project"]["dependencies"]]
    table = [cell for row in re.findall(r"^\| ([^|]+) \|", record, re.MULTILINE) for cell in row.split(", ")]
    for name in runtime:
        assert name in table, f"{name} has no reason"
    for name in table[1:]:
        assert name in runtime or set(name) == {"-"}, f"{name} is no dependency any more"
    for entry in project["dependency-groups"]["dev"]:
        assert re.split(r"[\s~=<>;\[]", entry)[0] in record, f"{entry} has no reason"


def test_the_example_of_attaching_an_agent_is_what_the_client_takes() -> None:
    example = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[
        0
    ]
    tree = ast.parse(example)
    imported, attached = tree.body
    assert isinstance(imported, ast.ImportFrom)
    import memory_hub_client

    assert imported.module == memory_hub_client.__name__
    names = {alias.name: getattr(memory_hub_client, alias.name) for alias in imported.names}
    hub_call = next(
        node
        for node in ast.walk(attached)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "HttpHub"
    )
    arguments = {keyword.arg: ast.literal_eval(keyword.value) for keyword in hub_call.keywords}
    names["HttpHub"](*[ast.literal_eval(argument) for argument in hub_call.args], **arguments)
    assert callable(names["attach"])


def test_the_licence_is_the_one_that_the_project_names() -> None:
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert licence.lstrip().startswith("Apache License")
    assert "Version 2.0, January 2004" in licence
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["license"] == {"text": "Apache-2.0"}


def test_works_of_others_are_noticed() -> None:
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    for font in (ROOT / "static" / "fonts").glob("*.woff2"):
        assert str(font.relative_to(ROOT)) in notice
        assert font.with_name(f"{font.stem}.LICENSE.txt").is_file()
    samples = ROOT / "agents_runner" / "samples" / "files"
    licences = (samples / "LICENSES.md").read_text(encoding="utf-8")
    for file in samples.glob("*.csv"):
        assert f"`{file.name}`" in licences
    for data in (ROOT / "memory_hub").rglob("NOTICE*"):
        assert str(data.relative_to(ROOT)) in notice

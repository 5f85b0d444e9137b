"""When bin/start trusts an install, and how this machine's pip configuration reaches uv."""

import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

BOOTSTRAP = Path(__file__).resolve().parent.parent.parent / "bin" / "_bootstrap.py"


@pytest.fixture
def bootstrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module, set upon a clone in a temporary folder with an install that is complete with its run lock."""
    specification = importlib.util.spec_from_file_location("bootstrap", BOOTSTRAP)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "PYTHON", tmp_path / ".venv" / "bin" / "python")
    monkeypatch.setattr(module, "MARKER", tmp_path / ".venv" / "memory-hub.json")
    for lock in (module.RUN_LOCK, module.DEV_LOCK, module.BOOTSTRAP_LOCK):
        (tmp_path / lock).write_text("one==1")
    subprocess.run(["python3", "-m", "venv", "--without-pip", str(tmp_path / ".venv")], check=True)
    module._write_marker(dev=False)
    return module


def test_a_complete_install_is_trusted(bootstrap):
    assert bootstrap.is_complete(dev=False)


def test_the_checks_need_more_than_a_run_does(bootstrap):
    assert not bootstrap.is_complete(dev=True)
    bootstrap._write_marker(dev=True)
    assert bootstrap.is_complete(dev=True)
    assert bootstrap.is_complete(dev=False)


def test_a_changed_lock_is_installed(bootstrap):
    (bootstrap.ROOT / bootstrap.RUN_LOCK).write_text("one==2")
    assert not bootstrap.is_complete(dev=False)
    assert bootstrap._marked() is not None, "on top of what is there"


def test_an_install_without_its_marker_is_made_anew(bootstrap):
    bootstrap.MARKER.unlink()
    assert not bootstrap.is_complete(dev=False)
    assert bootstrap._marked() is None


def test_a_clone_that_was_moved_is_made_anew(bootstrap):
    marked = json.loads(bootstrap.MARKER.read_text())
    bootstrap.MARKER.write_text(json.dumps(marked | {"root": "/elsewhere"}))
    assert bootstrap._marked() is None


def test_a_python_that_vanished_is_noticed(bootstrap):
    bootstrap.PYTHON.unlink()
    bootstrap.PYTHON.symlink_to("/gone/python3")
    assert not bootstrap.is_complete(dev=False)


def test_a_new_install_begins_with_an_empty_venv_that_finds_the_clone(bootstrap):
    stray = bootstrap.VENV / "lib" / "half-written"
    stray.write_text("x")
    bootstrap._make_venv()
    assert not stray.exists()
    found = subprocess.run(
        [bootstrap.PYTHON, "-P", "-c", "import sys; print(*sys.path, sep='\\n')"],
        capture_output=True, text=True, check=True, cwd="/",
    ).stdout.splitlines()  # fmt: skip
    # `client` is not a folder of this clone, so that Python leaves it out.
    assert str(bootstrap.ROOT) in found


def uv_environment(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, listed: str, **own: str
) -> dict[str, str]:
    answer = subprocess.CompletedProcess([], 0, stdout=listed, stderr="")
    monkeypatch.setattr(bootstrap, "_run", lambda command, environment: answer)
    return bootstrap._uv_environment(["pip"], own)


def test_pips_configuration_is_translated_for_uv(bootstrap, monkeypatch):
    listed = (
        "global.index-url='https://index.example/simple'\n"
        "global.extra-index-url='https://one.example/simple https://two.example/simple'\n"
        "global.find-links='/wheels\\n/more'\n"
        "global.cert='/etc/ca.pem'\n"
        "global.trusted-host='index.example'\n"
        "global.proxy='http://proxy.example:3128'\n"
    )
    environment = uv_environment(bootstrap, monkeypatch, listed)
    assert environment["UV_DEFAULT_INDEX"] == "https://index.example/simple"
    assert environment["UV_INDEX"] == "https://one.example/simple https://two.example/simple"
    assert environment["UV_FIND_LINKS"] == "/wheels,/more"
    assert environment["SSL_CERT_FILE"] == "/etc/ca.pem"
    assert environment["UV_INSECURE_HOST"] == "index.example"
    assert environment["ALL_PROXY"] == "http://proxy.example:3128"


def test_a_variable_of_pip_outranks_its_files(bootstrap, monkeypatch):
    listed = ":env:.index-url='https://env.example/'\nglobal.index-url='https://g.example/'\ninstall.index-url='https://i.example/'\n"
    assert uv_environment(bootstrap, monkeypatch, listed)["UV_DEFAULT_INDEX"] == "https://env.example/"


@pytest.mark.parametrize("name", ["UV_DEFAULT_INDEX", "UV_INDEX_URL"])
def test_what_uv_was_told_itself_is_kept(bootstrap, monkeypatch, name):
    environment = uv_environment(
        bootstrap, monkeypatch, "global.index-url='https://pip.example/'", **{name: "own"}
    )
    assert environment[name] == "own"
    assert "https://pip.example/" not in environment.values()


def test_pip_is_not_led_out_of_the_venv(bootstrap, monkeypatch):
    for name in ("PIP_TARGET", "PIP_PREFIX", "PYTHONPATH"):
        monkeypatch.setenv(name, "/elsewhere")
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/")
    environment = bootstrap._pip_environment()
    assert not {"PIP_TARGET", "PIP_PREFIX", "PYTHONPATH"} & environment.keys()
    assert environment["PIP_USER"] == "0"
    assert environment["PIP_INDEX_URL"] == "https://index.example/"


def test_an_install_whose_parent_was_killed_is_waited_for(bootstrap, tmp_path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(BOOTSTRAP), str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout.readline() == "installing\n"
        time.sleep(0.3)
        holder.kill()
    started = time.monotonic()
    with bootstrap._one_at_a_time("start"):
        waited = time.monotonic() - started
    assert 0.5 < waited < 5


HOLDER = """
import importlib.util, pathlib, sys
specification = importlib.util.spec_from_file_location("bootstrap", sys.argv[1])
module = importlib.util.module_from_spec(specification)
specification.loader.exec_module(module)
module.ROOT = pathlib.Path(sys.argv[2])
with module._one_at_a_time("start"):
    print("installing", flush=True)
    module._run(["sleep", "2"], {})
"""

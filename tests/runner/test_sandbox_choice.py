"""Which sandbox is taken: the first whose start-up probe passes, and never none."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agents_runner.sandboxes import bubblewrap, landlock, select
from agents_runner.sandboxes.errors import SandboxUnavailable
from agents_runner.sandboxes.executor import SandboxExecutor
from agents_runner.sandboxes.limits import SandboxLimits
from agents_runner.sandboxes.profiles import DEFAULT_PROFILE, PackageProfile, importable_names, resolve


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Probes are asked again, and what they find is forgotten afterwards."""
    monkeypatch.setattr(select, "probe", functools.cache(select.probe.__wrapped__))
    return monkeypatch


def refuse_namespaces(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """As in an ordinary container: bwrap is there but may not do what it must."""
    program = folder / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    patch.setattr(bubblewrap, "program", lambda: str(program))


def test_both_sandboxes_work_on_this_machine() -> None:
    found = select.available_sandboxes()
    assert {name: answer.works for name, answer in found.items()} == {"bubblewrap": True, "landlock": True}, (
        found
    )


def test_auto_is_bubblewrap_where_it_works() -> None:
    assert SandboxExecutor().sandbox_name == "bubblewrap"


def test_auto_is_landlock_where_namespaces_are_refused(fresh: pytest.MonkeyPatch, tmp_path: Path) -> None:
    refuse_namespaces(fresh, tmp_path)
    with SandboxExecutor("auto", limits=SandboxLimits(step_seconds=15)) as executor:
        assert executor.sandbox_name == "landlock"
        assert executor("import os\n(1 + 1, os.path.exists('/sbx'))").output == (2, False)
    answer = select.available_sandboxes()["bubblewrap"]
    assert not answer.works
    assert "No permissions to create new namespace" in answer.reason


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root can give up rights like this"
)
def test_with_the_rights_of_an_ordinary_container_landlock_really_holds() -> None:
    """Root with the capabilities Docker leaves it: the kernel itself refuses the namespaces."""
    kept = ("setuid", "setgid", "chown", "dac_override", "fowner", "kill", "sys_chroot", "setpcap")
    code = (
        "from agents_runner.sandboxes.select import available_sandboxes\n"
        "from agents_runner.sandboxes.executor import SandboxExecutor\n"
        "assert not available_sandboxes()['bubblewrap'].works\n"
        "with SandboxExecutor() as executor:\n"
        "    print(executor.sandbox_name, executor('import os, pandas\\nos.getuid() > 0').output)\n"
    )
    path = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)])
    bounding = ",".join(["-all", *(f"+{name}" for name in kept)])
    result = subprocess.run(
        ["setpriv", f"--bounding-set={bounding}", "--inh-caps=-all", sys.executable, "-c", code],
        check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert result.stdout.split() == ["landlock", "True"]


def test_without_any_sandbox_code_is_refused_with_the_reasons(
    fresh: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    refuse_namespaces(fresh, tmp_path)
    fresh.setattr(landlock, "abi", lambda: 0)
    target = tmp_path / "ran"
    executor = SandboxExecutor()
    with pytest.raises(SandboxUnavailable) as refused:
        executor(f"open({str(target)!r}, 'w')")
    assert "No permissions" in refused.value.reason
    assert "no Landlock" in refused.value.reason
    assert not target.exists()
    with pytest.raises(SandboxUnavailable):
        executor.define("x = 1")


def test_the_sandbox_asked_for_is_not_replaced_by_another(fresh: pytest.MonkeyPatch, tmp_path: Path) -> None:
    refuse_namespaces(fresh, tmp_path)
    with pytest.raises(SandboxUnavailable, match="bubblewrap"):
        SandboxExecutor("bubblewrap").start()


def test_a_sandbox_that_does_not_isolate_is_not_used(fresh: pytest.MonkeyPatch) -> None:
    fresh.setattr(select, "KNOWN_VARIABLES", frozenset(("PATH",)))
    answer = select.probe("bubblewrap")
    assert not answer.works
    assert "environment of the host" in answer.reason


def test_a_missing_bubblewrap_is_said(fresh: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise SandboxUnavailable("bubblewrap is not installed")

    fresh.setattr(bubblewrap, "program", missing)
    assert select.probe("bubblewrap").reason == "bubblewrap is not installed"


def test_a_probe_is_made_once_per_process() -> None:
    assert select.probe("bubblewrap") is select.probe("bubblewrap")


@pytest.mark.parametrize("name", ["docker", "local", ""])
def test_an_unknown_sandbox_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match="choose one of auto, bubblewrap, landlock"):
        SandboxExecutor(name)


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_landlock_holds_with_what_older_kernels_offer(version: int, fresh: pytest.MonkeyPatch) -> None:
    """The rules and the filter for an older Landlock are accepted, run numpy, and pass the probe."""
    fresh.setattr(landlock, "abi", lambda: version)
    assert select.probe("landlock") == select.Availability("landlock", True)
    with SandboxExecutor("landlock", limits=SandboxLimits(step_seconds=10)) as executor:
        assert executor("import numpy\nopen('a', 'w').write('x')\nint(numpy.arange(3).sum())").output == 3
        code = "import os\ntry:\n    os.kill(os.getppid(), 9)\nexcept OSError as error:\n    kind = type(error).__name__\nkind"
        assert executor(code).output == "PermissionError"


@pytest.mark.skipif(not Path("/usr/bin/bwrap").exists(), reason="the system has no bwrap")
def test_the_systems_own_bwrap_works_too(fresh: pytest.MonkeyPatch) -> None:
    fresh.setattr(bubblewrap, "program", lambda: "/usr/bin/bwrap")
    assert select.probe("bubblewrap").works


def test_limits_must_be_limits() -> None:
    with pytest.raises(ValueError, match="step_seconds"):
        SandboxLimits(step_seconds=0)


def test_the_default_profile_brings_dependencies_and_no_more() -> None:
    packages = resolve(DEFAULT_PROFILE)
    names = dict(packages.versions)
    assert {"numpy", "pandas", "python-dateutil", "six"} <= set(names)
    assert {"numpy", "numpy.libs", "pandas", "dateutil", "six.py"} <= {name for name, _ in packages.items}
    assert set(packages.imports) >= {"numpy", "pandas", "dateutil", "six"}
    assert not {"django", "smolagents", "requests"} & set(packages.imports)
    assert "json" in importable_names(packages)


def test_a_profile_can_be_the_standard_library_alone() -> None:
    profile = PackageProfile("standard", ())
    with SandboxExecutor(profile=profile, limits=SandboxLimits(step_seconds=15)) as executor:
        code = "import csv\ntry:\n    import numpy\nexcept ModuleNotFoundError:\n    numpy = None\nnumpy"
        assert executor(code).output is None


def test_the_room_needs_no_django_and_its_choice_no_smolagents() -> None:
    code = (
        "import sys\nimport agents_runner.sandboxes.select\n"
        "bad = {'django', 'smolagents', 'numpy', 'pandas'} & {n.partition('.')[0] for n in sys.modules}\n"
        "assert not bad, bad\n"
        "import agents_runner.sandboxes.executor\nassert 'django' not in sys.modules\n"
    )
    path = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)])
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": path})

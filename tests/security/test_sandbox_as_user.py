"""The same specification once more as an ordinary user: a hub is installed by root or by anybody."""

from __future__ import annotations

import os
import warnings

import pytest

from tests.security.ordinary_user import ordinary_user

pytestmark = pytest.mark.slow

FILES = [
    "tests/security/test_sandbox_isolation.py",
    "tests/runner/test_sandbox_steps.py",
    "tests/runner/test_sandbox_choice.py",
    "tests/runner/test_sandbox_lifecycle.py",
]


@pytest.mark.timeout(400)
def test_everything_holds_for_an_ordinary_user_too() -> None:
    if os.geteuid() != 0:
        reason = (
            "NOT TESTED AGAIN: the tests run as an ordinary user already, so root's sandboxes were not tried"
        )
        warnings.warn(reason, stacklevel=1)
        pytest.skip(reason)
    options = (
        "-p no:django -p no:cacheprovider --noconftest -o addopts= -o filterwarnings= -q --timeout 100 -x"
    )
    with ordinary_user() as user:
        repository = user.environment["PYTHONPATH"].partition(":")[0]
        temporary = f"{user.environment['HOME']}/pytest"
        process = user.popen(
            "-m", "pytest", *options.split(), f"--basetemp={temporary}", *FILES, cwd=repository
        )
        output, complaint = process.communicate(timeout=390)
    assert process.returncode == 0, output[-6000:] + complaint[-2000:]
    assert " passed" in output

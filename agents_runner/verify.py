"""Verification: a revision's recorded call, replayed in a fresh sandbox, must give the recorded result again."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from agents_runner.sandboxes.errors import CannotCross, SandboxError, SandboxUnavailable, StepFailed
from agents_runner.sandboxes.executor import SandboxExecutor
from memory_hub.access.actor import SYSTEM, as_system
from memory_hub.library.models import Revision
from memory_hub.library.selectors import helpers_of
from memory_hub.library.services.check_inputs import check_input_path
from memory_hub.library.services.verification import (
    verification_claim,
    verification_record,
    verification_release,
)

logger = logging.getLogger(__name__)

_DETAIL_CHARACTERS = 2_000
# Sums of floats may differ in the last bits between machines and library versions; nothing else may.
_RELATIVE_TOLERANCE = 1e-9


def verify(revision_id: UUID) -> bool:
    """Replay the check of a revision that asks for it, and record the verdict. Returns whether this call did.

    Where it cannot be replayed (no sandbox works, a file is gone) the claim is given back with the reason; the sweep
    tries again, a few times.
    """
    with as_system():
        revision = verification_claim(revision_id=revision_id)
        if revision is None:
            return False
        inputs = {item.name: check_input_path(item) for item in revision.solution.check_inputs.all()}
        helpers = [helper.code for helper in helpers_of(revision)]
    started = time.monotonic()
    try:
        if missing := [name for name, path in inputs.items() if not path.is_file()]:
            raise SandboxUnavailable(
                f"the input file {missing[0]} is no longer there"
            )  # until it is restored
        passed, detail, sandbox = replay(revision, inputs, helpers)
    except SandboxError as error:
        logger.warning("Revision %s is not verified now: %s", revision_id, error)
        with as_system():
            verification_release(revision_id=revision_id, reason=f"The check could not be run: {error}")
        return False
    with as_system():
        verification_record(
            actor=SYSTEM,
            revision=revision,
            passed=passed,
            sandbox=sandbox,
            detail=detail,
            seconds=time.monotonic() - started,
        )
    return True


def replay(revision: Revision, inputs: dict[str, Path], helpers: list[str]) -> tuple[bool, str, str]:
    """Return (passed, what happened in words, sandbox). Raises SandboxError.

    helpers: sources of the recalled functions that the revision calls, defined before it.
    """
    check = revision.check_spec or {}
    with SandboxExecutor(settings.SANDBOX_DEFAULT, inputs=inputs) as executor:
        executor.start()  # copies the input files: what the code does to its copies changes no kept file
        sandbox = executor.sandbox_name
        try:
            for source in helpers:
                executor.define(source, name="helper")
            executor.define(revision.code, name=revision.entry_point)
            result = executor.call(revision.entry_point, check.get("args", []), check.get("kwargs", {}))
        except StepFailed as error:
            return False, f"It failed: {error.error.text}"[:_DETAIL_CHARACTERS], sandbox
        except CannotCross as error:
            return False, f"Its result cannot be compared: {error}"[:_DETAIL_CHARACTERS], sandbox
    try:
        difference = next(differences(check.get("result"), result), None)
    except RecursionError:
        return False, "Its result cannot be compared: it is nested too deep.", sandbox
    if difference is None:
        return True, "The recorded call gave the recorded result again.", sandbox
    return False, f"The recorded call gave another result: {difference}"[:_DETAIL_CHARACTERS], sandbox


def differences(expected: Any, actual: Any, where: str = "result") -> Iterator[str]:
    """Yield where two JSON values differ, in words; floats within one part in 10⁹ are equal."""
    if isinstance(expected, bool) or isinstance(actual, bool) or not _both(expected, actual, (int, float)):
        if type(expected) is not type(actual):
            yield f"{where} is {_short(actual)}, not {_short(expected)}"
        elif isinstance(expected, dict):
            for key in sorted(expected.keys() | actual.keys()):
                if key not in actual or key not in expected:
                    yield f"{where}[{key!r}] is {'missing' if key in expected else 'new'}"
                else:
                    yield from differences(expected[key], actual[key], f"{where}[{key!r}]")
        elif isinstance(expected, list):
            if len(expected) != len(actual):
                yield f"{where} has {len(actual)} items, not {len(expected)}"
            for index, (one, other) in enumerate(zip(expected, actual, strict=False)):
                yield from differences(one, other, f"{where}[{index}]")
        elif expected != actual:
            yield f"{where} is {_short(actual)}, not {_short(expected)}"
    elif expected != actual and not _close(expected, actual):
        yield f"{where} is {_short(actual)}, not {_short(expected)}"


def _close(one: float, other: float) -> bool:
    try:
        return math.isclose(one, other, rel_tol=_RELATIVE_TOLERANCE, abs_tol=0.0)
    except OverflowError:  # an integer beyond the range of floats
        return False


def _both(one: Any, other: Any, kinds: tuple[type, ...]) -> bool:
    return isinstance(one, kinds) and isinstance(other, kinds)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:119] + "…"

"""Remembers calls of top-level functions, and finds the one whose return value became the final answer."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agents_runner.sandboxes.inside import codec
from agents_runner.sandboxes.inside.rewrite import Answer, Site

RECORDED_BYTES = 64 * 1024
CALLS_PER_FUNCTION = 200
REMEMBERED = 4


@dataclass(slots=True)
class Call:
    """One finished call. args and result are wire values taken before and right after the call."""

    site: int
    function: str
    target: str
    args: Any
    kwargs: Any
    result: Any
    reason: str
    value: Callable[[], Any]


GONE = object()


def reference(value: Any) -> Callable[[], Any]:
    """Something that gives `value` back, without keeping large tables alive: then it gives GONE."""
    if type(value).__module__.partition(".")[0] not in ("pandas", "numpy"):
        return lambda: value
    try:
        weak = weakref.ref(value)
    except TypeError:
        return lambda: value
    return lambda: GONE if (alive := weak()) is None else alive


def is_shared(value: Any) -> bool:
    """Whether Python may use one object for equal values, so that identity alone proves nothing."""
    if isinstance(value, (str, bytes, tuple)):
        return len(value) <= (0 if isinstance(value, tuple) else 20)
    return value is None or isinstance(value, int)


class Recorder:
    """Keeps the last few calls of each function; `sites` is shared with rewrite.prepare."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace
        self.sites: list[Site] = []
        self.origin: dict[str, str] = {}
        self.calls: list[Call] = []
        self.counts: dict[str, int] = {}

    def begin_step(self) -> None:
        """Forget how often functions were called, not what they returned: an answer may use an earlier step's."""
        self.counts.clear()

    def wrap(self, number: int, function: Any) -> Any:
        """What a rewritten call site really calls: `function` itself, or a stand-in that records this one call."""
        site = self.sites[number]
        name = site.function
        current: Any = self.namespace.get(name)
        if current is not function or name not in self.origin:
            return function
        count = self.counts[name] = self.counts.get(name, 0) + 1
        if count > CALLS_PER_FUNCTION:
            # A helper of a loop, not the entry point; recording it would only cost time.
            if count == CALLS_PER_FUNCTION + 1:
                self.calls = [call for call in self.calls if call.function != name]
            return function

        def recorded(*args: Any, **kwargs: Any) -> Any:
            reason = ""
            wire_args: Any = None
            wire_kwargs: Any = None
            try:
                encoder = codec.Encoder(max_bytes=RECORDED_BYTES, lossy=False)
                wire_args = [encoder.encode(value) for value in args]
                wire_kwargs = {key: encoder.encode(value) for key, value in kwargs.items()}
            except Exception as error:
                reason = f"an argument cannot be recorded: {error}"
            value = function(*args, **kwargs)
            self.remember(number, site, wire_args, wire_kwargs, reason, value)
            return value

        return recorded

    def remember(self, number: int, site: Site, args: Any, kwargs: Any, reason: str, value: Any) -> None:
        result = None
        if not reason:
            result, reason = exact(value)
        self.calls.append(
            Call(number, site.function, site.target, args, kwargs, result, reason, reference(value))
        )
        same = [call for call in self.calls if call.function == site.function]
        if len(same) > REMEMBERED:
            self.calls.remove(same[0])

    def find(self, value: Any, answer: Answer) -> dict[str, Any] | None:
        """The record of the call that returned `value`, as JSON data, or None when no function did."""
        if answer.kind == "constant":
            return None
        for call in reversed(self.calls):
            if call.value() is not value:
                continue
            if answer.kind == "call" and call.site != answer.site:
                continue
            if answer.kind == "name" and call.target != answer.name and is_shared(value):
                continue
            if answer.kind == "other" and is_shared(value):
                continue
            return self.describe(call, value)
        return None

    def describe(self, call: Call, value: Any) -> dict[str, Any]:
        reason = call.reason
        if not reason:
            now, reason = exact(value)
            if not reason and now != call.result:
                reason = "the result was changed after the call"
        record: dict[str, Any] = {
            "entry_point": call.function,
            "defined_in": self.origin.get(call.function, "step"),
            "replayable": not reason,
            "reason": reason,
        }
        if not reason:
            record.update(args=call.args, kwargs=call.kwargs, result=call.result)
        return record


def exact(value: Any) -> tuple[Any, str]:
    """(wire value, "") or (None, why there is none)."""
    try:
        return codec.encode(value, max_bytes=RECORDED_BYTES, lossy=False), ""
    except Exception as error:
        return None, f"the result cannot be recorded: {error}"


def answer_line(depth: int) -> int:
    """Line of the `final_answer(...)` call `depth` frames up."""
    return sys._getframe(depth + 1).f_lineno

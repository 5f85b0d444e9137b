"""The check of a revision: one call of its entry point and the result it must give, in JSON values."""

import json
from collections.abc import Mapping
from typing import Any

from memory_hub.common.errors import InvalidInput

MAX_CHECK_BYTES = 64 * 1024
_PARTS = ("args", "kwargs", "result")


def clean_check(spec: Mapping[str, Any], inputs: Mapping[str, str]) -> dict[str, Any]:
    """Return {"args", "kwargs", "result", "inputs"} ready to be stored. `inputs` is {file name: sha256}.

    Raises InvalidInput for anything but JSON values of at most 64 kB; an `inputs` in the spec itself is ignored,
    since only files that the hub keeps can be put before the check.
    """
    if "result" not in spec:
        raise _invalid("A check names the result that the call must give (`result`, which may be null).")
    if unknown := sorted(set(spec) - {*_PARTS, "inputs"}):
        raise _invalid(f"A check has `args`, `kwargs` and `result`, not {', '.join(unknown)}.")
    args, kwargs = spec.get("args", []), spec.get("kwargs", {})
    if not isinstance(args, list | tuple):
        raise _invalid("`args` is a list of the positional arguments.")
    if not isinstance(kwargs, Mapping) or not all(isinstance(name, str) for name in kwargs):
        raise _invalid("`kwargs` is an object of the named arguments.")
    said = {"args": list(args), "kwargs": dict(kwargs), "result": spec["result"]}
    try:
        text = json.dumps(said, ensure_ascii=False, allow_nan=False)
        size = len(text.encode())
        same = json.loads(text) == said
    except (TypeError, ValueError, RecursionError):
        size, same = 0, False
    if not same:
        raise _invalid(
            "The arguments and the result must be plain JSON values (no NaN, no infinity, no half of a surrogate pair)."
        )
    if size > MAX_CHECK_BYTES:
        raise _invalid(
            f"The arguments and the result take {size:,} bytes; at most {MAX_CHECK_BYTES:,} are kept."
        )
    return {**said, "inputs": dict(inputs)}


def parse_json(text: str, field: str) -> Any:
    """Return what a person typed as JSON. Raises InvalidInput with line and column."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        message = f"This is not JSON: {error.msg} (line {error.lineno}, column {error.colno})."
        raise InvalidInput(message, fields={field: message}) from None
    except (ValueError, RecursionError):
        message = "This is not JSON: NaN and infinity have no JSON value."
        raise InvalidInput(message, fields={field: message}) from None


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _invalid(message: str) -> InvalidInput:
    return InvalidInput(message, fields={"check_spec": message})

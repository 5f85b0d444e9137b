"""What the launcher says: one line per step, with its seconds; the same shape as bin/_bootstrap.py's."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress


def say(text: str, *, end: str = "\n") -> None:
    """Print at once; a terminal that has gone away is no reason to fall over."""
    with suppress(OSError, ValueError):
        print(text, end=end, flush=True)


def complain(text: str) -> None:
    """Print one line on standard error."""
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


@contextmanager
def step(name: str) -> Iterator[None]:
    """Print `name`, and behind it the seconds that the block took, or `failed`."""
    say(f"{name:<44}", end="")
    started = time.monotonic()
    try:
        yield
    except BaseException:
        say("failed")
        raise
    say(f"{time.monotonic() - started:6.1f} s")

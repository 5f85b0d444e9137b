"""Measures of the sandboxes: start, overhead of a step against plain Python, tool round trip.

python -m tests.benchmarks.sandbox
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from agents_runner.sandboxes.executor import SandboxExecutor
from agents_runner.sandboxes.select import available_sandboxes

STEPS = {
    "1 + 1": "1 + 1",
    "a loop of 100,000": "total = 0\nfor n in range(100_000):\n    total += n * n\ntotal",
    "a function and a print": "def f(n):\n    return [n] * n\nprint(len(f(1000)))",
    "200 lines of text back": "['x' * 100] * 200",
}
STARTS = 9
REPEATS = 60


def milliseconds(action: Callable[[], object], repeats: int) -> float:
    """Median of `repeats` runs, in milliseconds."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


def plain(code: str) -> Callable[[], None]:
    """The same code compiled and run by plain `exec`, its prints thrown away."""

    def run() -> None:
        exec(compile(code, "<plain>", "exec"), {"print": lambda *_: None})

    return run


def start_and_stop(name: str) -> float:
    """One start in milliseconds, until the worker answers; stopping is not counted."""
    executor = SandboxExecutor(name)
    began = time.perf_counter()
    executor.start()
    took = time.perf_counter() - began
    executor.cleanup()
    return took * 1000


def report(name: str) -> None:
    starts = [start_and_stop(name) for _ in range(STARTS)]
    print(f"{name}: start {statistics.median(starts):.0f} ms (median of {STARTS})")
    with SandboxExecutor(name) as executor:
        executor.send_tools({"echo": lambda value: value})
        executor("1")
        for title, code in STEPS.items():
            inside = milliseconds(lambda code=code: executor(code), REPEATS)  # type: ignore[misc]
            outside = milliseconds(plain(code), REPEATS)
            print(
                f"{name}: step, {title}: {inside:.2f} ms, plain {outside:.2f} ms, added {inside - outside:.2f} ms"
            )
        began = time.perf_counter()
        executor("for n in range(150): echo(n)")
        print(f"{name}: tool round trip {(time.perf_counter() - began) / 150 * 1000:.2f} ms")
        first = milliseconds(lambda: executor("import pandas"), 1)
        print(f"{name}: first import of pandas {first:.0f} ms")


def main() -> None:
    """Print the measures of every sandbox that works here."""
    for name, answer in available_sandboxes().items():
        if answer.works:
            report(name)
        else:
            print(f"{name}: not measured: {answer.reason}")


if __name__ == "__main__":
    main()

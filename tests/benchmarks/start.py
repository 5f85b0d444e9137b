"""`python -m tests.benchmarks.start`: seconds of a cold `bin/start` (fresh clone, empty home) and of a warm one."""

import time

from tests.start.installation import Installation


def main() -> None:
    """Measure on a clone of the last commit, as the present user, until the web server answers; print."""
    installation = Installation(None)
    try:
        for name in ("cold", "warm"):
            started = time.monotonic()
            hub = installation.start("--no-demo")
            hub.wait_for_line("Memory Hub is at", 600)
            print(
                f"bin/start {name}: {time.monotonic() - started:.1f} s",
                *hub.lines[:-1],
                sep="\n    ",
                flush=True,
            )
            started = time.monotonic()
            hub.end()
            print(f"stop after {name}: {time.monotonic() - started:.1f} s", flush=True)
    finally:
        installation.remove()


if __name__ == "__main__":
    main()

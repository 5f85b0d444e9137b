"""`python -m tests.benchmarks [name …]`: run all measures, or some, each in a process of its own, and print its table.

Those of recall are the product's own: bin/manage benchmark_recall.
"""

import subprocess
import sys
from pathlib import Path

NAMES = ("start", "sandbox", "engine", "live")
ROOT = Path(__file__).resolve().parents[2]


def main(names: list[str]) -> int:
    """Run the measures of these names; return 0 where all came to their end, 2 for a name that is none."""
    if unknown := [name for name in names if name not in NAMES]:
        print(f"There is no measure {unknown[0]!r}; there are {', '.join(NAMES)}.", file=sys.stderr)
        return 2
    failed = False
    for name in names or NAMES:
        print(f"\n== {name}", flush=True)
        done = subprocess.run([sys.executable, "-m", f"tests.benchmarks.{name}"], cwd=ROOT, check=False)
        failed = failed or done.returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

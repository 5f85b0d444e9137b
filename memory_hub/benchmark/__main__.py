"""python -m memory_hub.benchmark: see bin/manage benchmark_recall --help."""

import sys

from .run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

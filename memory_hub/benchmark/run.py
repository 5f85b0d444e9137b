"""The command line of the measures: which of them, on which data, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .scratch import scratch_hub

OF_DATA = ("conala", "recode", "error_fix", "no_match")
WITHOUT_DATA = ("speed", "junk")
MEASURES = (*OF_DATA, *WITHOUT_DATA, "calibration")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments; the same for bin/manage and python -m."""
    parser.add_argument("--data", type=Path, help="folder of the data sets: conala/, recode/, error_fix/")
    parser.add_argument(
        "--only", choices=MEASURES, action="append", help="one measure; may be given several times"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--embedder", choices=("minilm", "none"), default="minilm")
    parser.add_argument(
        "--rows",
        type=int,
        nargs="+",
        default=[1_000, 100_000],
        help="sizes of the library for the measure of speed",
    )


def as_arguments(options: Mapping[str, Any]) -> list[str]:
    """Return parsed options as the command line that says the same."""
    line = [f"--embedder={options['embedder']}", *(f"--only={name}" for name in options["only"] or ())]
    line += ["--json"] if options["json"] else []
    line += [f"--data={options['data']}"] if options["data"] else []
    return [*line, "--rows", *map(str, options["rows"])]


def run(options: argparse.Namespace) -> int:
    """Measure and print. Returns the exit code: 2 where data is needed and not there."""
    wanted = options.only or [*(OF_DATA if options.data else ()), *WITHOUT_DATA]
    if missing := [name for name in wanted if name not in WITHOUT_DATA and not options.data]:
        print(f"{', '.join(missing)}: say with --data DIR where the data sets are.", file=sys.stderr)
        return 2
    if options.data and not (options.data / "conala").is_dir():
        print(f"There is no folder conala in {options.data}.", file=sys.stderr)
        return 2
    os.environ["EMBEDDER"] = options.embedder
    results: dict[str, Any] = {}
    with scratch_hub():
        for name in wanted:
            results[name] = _measures(options)[name]()
            if not options.json:
                _tell(name, results[name])
    if options.json:
        print(json.dumps(results, indent=2))
    return 0


def _measures(options: argparse.Namespace) -> dict[str, Callable[[], dict[str, Any]]]:
    from . import errors, junk, quality, speed

    return {
        "conala": lambda: quality.conala(options.data),
        "recode": lambda: quality.recode(options.data),
        "error_fix": lambda: errors.measure(options.data),
        "no_match": lambda: quality.no_match(options.data),
        "calibration": lambda: quality.calibration(options.data),
        "speed": lambda: speed.measure(options.rows),
        "junk": junk.measure,
    }


def _tell(name: str, result: dict[str, Any]) -> None:
    columns = list(dict.fromkeys(column for row in result.values() for column in row))
    width = max(len(row) for row in result)
    print(
        f"\n== {name}\n{'':{width}}"
        + "".join(f"{column.replace('_', ' '):>{len(column) + 3}}" for column in columns)
    )
    for row, values in result.items():
        cells = "".join(f"{_cell(values.get(column)):>{len(column) + 3}}" for column in columns)
        print(f"{row:{width}}{cells}", flush=True)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.1f}" if value > 20 else f"{value:.3f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def main(arguments: Sequence[str]) -> int:
    """Run as a program of its own."""
    parser = argparse.ArgumentParser(prog="bin/manage benchmark_recall", description="Measure recall.")
    add_arguments(parser)
    return run(parser.parse_args(arguments))

"""Measure the speed of this package and of other packages: `python scripts/benchmark.py`.

The script prints Markdown tables. `--json FILE` saves the results. To write the page in the docs:

    python scripts/benchmark.py --json docs/environments/benchmarks.json
    python scripts/benchmark.py --page

`--against COMMIT` measures this version and an older commit alternately, on one core, and prints
the ratios of their results. With `--json FILE` it adds them to the results in FILE.

`pip install '.[bench]'` installs the other packages (peers). The tables also list peers that are
not installed. The numbers are meaningful only on a machine that runs nothing else.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import aec, gpu, learners, learning, memory, older, ours, search, start
from benchmarks.frame import Measurement, Settings, machine, measure
from benchmarks.page import SECTIONS, comparison, page
from benchmarks.targets import targets

DOCS = Path(__file__).resolve().parent.parent / "docs" / "environments"
RESULTS, PAGE = DOCS / "benchmarks.json", DOCS / "benchmarks.md"

GROUPS: dict[str, Callable[[], Iterator[list[Measurement]]]] = {
    "playouts": ours.playout_groups,
    "steps": ours.step_groups,
    "scaling": ours.scaling_groups,
    "aec": aec.groups,
    "vector": ours.vector_groups,
    "learning": learning.groups,
    "learners": learners.groups,
    "search": search.groups,
    "memory": memory.groups,
    "start": start.groups,
    "gpu": gpu.groups,
}

COMPARED = ("playouts", "scaling", "search", "memory")  # the default sections of `--against`


def run(sections: list[str], settings: Settings, quick: bool) -> dict[str, Any]:
    """Take the measurements of some sections, or only a few with `quick`. Return the results."""
    results: dict[str, Any] = {
        "machine": machine(),
        "settings": {**asdict(settings), "quick": quick},
        "results": [],
    }
    for section in sections:
        for group in _thinned(GROUPS[section]()) if quick else GROUPS[section]():
            print(f"{section}: {len(group)} measurements ...", file=sys.stderr, flush=True)
            results["results"] += measure(group, settings)
    return {**results, "targets": targets(results["results"], results["machine"]["cores"])}


def _thinned(groups: Iterator[list[Measurement]]) -> Iterator[list[Measurement]]:
    """Yield only the first group, with one measurement for each pair of `probe` and `how`."""
    first = {
        (measurement.probe, measurement.how): measurement for measurement in reversed(next(groups))
    }
    yield list(reversed(first.values()))


def _compare(arguments: argparse.Namespace, settings: Settings) -> int:
    """Compare this version with an older commit. Return the exit status."""
    results = json.loads(arguments.json.read_text("utf-8")) if arguments.json else {}
    rows: list[dict[str, Any]] = []
    groups = (group for name in arguments.only or COMPARED for group in GROUPS[name]())
    for row in older.compare(arguments.against, groups, settings):
        said = row.get("failed") or f"{row['ratio']:.2f}"
        name = ", ".join(filter(None, (row["subject"], row["how"])))
        print(f"{name}, batch {row['batch']}: {said}", file=sys.stderr, flush=True)
        rows.append(row)
    results["older"] = {"commit": arguments.against, "rows": rows}
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(comparison(results["older"]))
    return any("failed" in row for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", action="append", choices=GROUPS, help="measure only this section; repeatable"
    )
    parser.add_argument("--quick", action="store_true", help="take a few short samples only")
    parser.add_argument("--repeats", type=int, default=Settings.repeats, help="number of samples")
    parser.add_argument("--seconds", type=float, default=Settings.seconds, help="sample duration")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to this file")
    parser.add_argument("--against", metavar="COMMIT", help="print ratios to an older commit")
    parser.add_argument(
        "--page", action="store_true", help=f"only write {PAGE.name} from {RESULTS.name}"
    )
    arguments = parser.parse_args()
    if arguments.page:
        PAGE.write_text(page(json.loads(RESULTS.read_text("utf-8"))), encoding="utf-8")
        return 0
    settings = Settings(arguments.repeats, arguments.seconds)
    if arguments.quick:
        settings = Settings(repeats=1, seconds=0.01)
    if arguments.against:
        if arguments.json and not arguments.json.is_file():
            parser.error(f"{arguments.json} does not exist: write it first, without --against")
        return _compare(arguments, settings)
    results = run(arguments.only or list(SECTIONS), settings, arguments.quick)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(page(results), end="")
    return any("failed" in row for row in results["results"])


if __name__ == "__main__":
    sys.exit(main())

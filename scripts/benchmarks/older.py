"""Comparison with an older commit: alternating measurements of both versions, and their ratios.

Each measurement runs in two processes, one for this version and one for the older commit. Each
process uses the package and the probes of its version. So the older commit must have the same probe
with the same options.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.frame import Measurement, Settings, measure, ratio

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def tree_of(commit: str) -> Iterator[Path]:
    """Yield a temporary folder with the files of a commit. Its kernels are cached there too.

    Raises:
        subprocess.CalledProcessError: there is no such commit.
    """
    with TemporaryDirectory(prefix="armarl-older-") as folder:
        archive = Path(folder) / "tree.tar"
        subprocess.run(["git", "archive", "-o", archive, commit], cwd=ROOT, check=True)
        subprocess.run(["tar", "-xf", archive, "-C", folder], check=True)
        yield Path(folder)


def compare(commit: str, groups: Iterable[list[Measurement]], settings: Settings) -> bool:
    """Print the ratio of the results of both versions, for each measurement on one core.

    Measurements of other packages are left out.

    Returns:
        Whether all measurements ran in both versions.
    """
    print(f"| | | batch | {commit} | now | now / {commit} |\n| --- | --- | --- | --- | --- | --- |")
    complete = True
    with tree_of(commit) as folder:
        for ours in (
            m for group in groups for m in group if m.package == "armarl" and m.cores == 1
        ):
            now, before = measure([ours, replace(ours, tree=str(folder))], settings)
            print(f"| {ours.subject} | {ours.how} | {ours.batch or ''} | ", end="")
            if "median" in now and "median" in before:
                unit, change = ours.unit, ratio(now, before)
                print(
                    f"{before['median']:,.0f} {unit} | {now['median']:,.0f} {unit} | {change:.2f} |"
                )
            else:
                complete = False
                faults = [row.get("failed") or row.get("lacking") or "" for row in (before, now)]
                print(f"{faults[0]} | {faults[1]} | |")
            sys.stdout.flush()
    return complete

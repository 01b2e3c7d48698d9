"""Comparison with an older commit: alternating measurements of both versions, and their ratios.

Each measurement runs in two processes, one for this version and one for the older commit. Each
process uses the package and the probes of its version. So the older commit must have the same probe
with the same options.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.frame import Measurement, Settings, measure, ratio

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def tree_of(commit: str) -> Iterator[Path]:
    """Yield a temporary folder with the files of a commit. Its compiled kernels are cached there.

    Raises:
        subprocess.CalledProcessError: there is no such commit.
    """
    with TemporaryDirectory(prefix="armarl-older-") as folder:
        archive = Path(folder) / "tree.tar"
        subprocess.run(["git", "archive", "-o", archive, commit], cwd=ROOT, check=True)
        subprocess.run(["tar", "-xf", archive, "-C", folder], check=True)
        yield Path(folder)


def compare(
    commit: str, groups: Iterable[list[Measurement]], settings: Settings
) -> Iterator[dict[str, Any]]:
    """Measure this version and an older one, and yield a row for each measurement on one core.

    A row has `section`, `subject`, `how`, `batch` and `unit`. It also has either `before`, `now`
    and `ratio` (`now` to `before`), or `failed`, the reason why there is no ratio. Measurements of
    other packages are left out.
    """
    with tree_of(commit) as folder:
        for ours in (
            m for group in groups for m in group if m.package == "armarl" and m.cores == 1
        ):
            now, before = measure([ours, replace(ours, tree=str(folder))], settings)
            row = {name: now[name] for name in ("section", "subject", "how", "batch", "unit")}
            if "median" in now and "median" in before:
                medians = {"before": before["median"], "now": now["median"]}
                yield {**row, **medians, "ratio": ratio(now, before)}
            else:
                faults = [
                    f"{when}: {measured.get('failed') or measured.get('lacking')}"
                    for when, measured in ((commit, before), ("now", now))
                    if "median" not in measured
                ]
                yield {**row, "failed": "; ".join(faults)}

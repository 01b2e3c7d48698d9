"""Code that takes measurements. Each measurement has its own process, and the processes alternate.

A measurement names a *probe*: a function that prepares everything (imports, compilation, a first
use) and returns a function to sample. A *chunk* is a sampled function that does some work and
returns the amount of work, such as a number of steps. A *group* contains measurements that are
compared with each other. The processes of a group are prepared one after the other. Then every
process takes one sample per round while the others wait. So the machine's noise affects all
processes alike, and two measurements can be compared within each round.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from armarl_training.common.hardware import processor

SCRIPTS = Path(__file__).resolve().parent.parent
# Packages on which the results depend. The results list the versions of the installed ones.
PACKAGES = (
    *("armarl", "numpy", "numba", "gymnasium", "pettingzoo", "torch", "stable-baselines3"),
    *("sb3-contrib", "pgx", "jax", "envpool", "open_spiel", "pygame-ce"),
)


@dataclass(frozen=True)
class Measurement:
    """One row of the results.

    Attributes:
        section: name of the section of results.
        subject: the measured thing: a variant of a game, or a game of another package (a peer).
        how: mode of the measurement, which distinguishes the rows of one subject.
        batch: number of games in lockstep, or None.
        probe: `module.function` in this folder. The function returns a function to sample.
        options: keyword arguments of the probe.
        unit: unit of the result. If it ends with `/s`, the sampled function is a chunk. It is timed
            and called repeatedly until the sample is long enough. Otherwise the sampled function
            returns the result itself.
        package: the module that must be installed.
        cores: number of cores, and of threads, that the process may use.
        most: maximum number of samples, or None for the number in the settings.
        lacking: reason why this machine cannot take the measurement, such as a missing GPU. If the
            reason is not empty, the measurement is skipped, and the page gives the reason.
        tree: folder of another version of this repository to measure. "" means this version.
    """

    section: str
    subject: str
    how: str
    probe: str
    options: dict[str, Any] = field(default_factory=dict)
    batch: int | None = None
    unit: str = "steps/s"
    package: str = "armarl"
    cores: int = 1
    most: int | None = None
    lacking: str = ""
    tree: str = ""

    def samples(self, settings: Settings) -> int:
        """Return the number of samples to take."""
        return settings.repeats if self.most is None else min(self.most, settings.repeats)


@dataclass(frozen=True)
class Settings:
    """The number and duration of samples."""

    repeats: int = 5  # number of samples
    seconds: float = 1.0  # minimum duration of a sample


def available_cores() -> list[int]:
    """Return the numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))  # this system cannot pin processes to cores


def core_counts() -> list[int]:
    """Return the core counts of the measurements: one core, and all cores."""
    return sorted({1, len(available_cores())})


class _Process:
    """The process of a measurement, which runs `worker.py`."""

    def __init__(self, measurement: Measurement, seconds: float) -> None:
        self._stderr = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed in `close`
        task = json.dumps({**asdict(measurement), "seconds": seconds})
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", task],
            env=_environment(measurement.cores, measurement.tree),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
        )

    def read(self) -> dict[str, Any]:
        """Return the next message. If the process has died, return the last line of its stderr."""
        assert self._process.stdout
        line = self._process.stdout.readline()
        if line:
            message: dict[str, Any] = json.loads(line)
            return message
        self._process.wait()
        self._stderr.seek(0)
        last = self._stderr.read().strip().splitlines()[-1:]
        return {"failed": "".join(last) or f"exit status {self._process.returncode}"}

    def sample(self) -> dict[str, Any]:
        assert self._process.stdin
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return self.read()

    def close(self) -> None:
        assert self._process.stdin
        if self._process.poll() is None:
            self._process.stdin.close()
        self._process.wait()
        self._stderr.close()


def _environment(cores: int, tree: str) -> dict[str, str]:
    threads = ("OMP", "OPENBLAS", "MKL", "NUMBA")
    path = [str(SCRIPTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    its_cache = {}
    if tree:
        path = [f"{tree}/{folder}" for folder in ("scripts", "envs", "training")]
        its_cache = {"ARMARL_CACHE_DIR": f"{tree}/cache"}
    return {
        **os.environ,
        **its_cache,
        "PYTHONPATH": os.pathsep.join(path),
        **{f"{name}_NUM_THREADS": str(cores) for name in threads},
        "ARMARL_THREADS": str(cores),
        "JAX_PLATFORMS": "cpu",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }


def measure(group: Sequence[Measurement], settings: Settings) -> list[dict[str, Any]]:
    """Take the measurements of a group, with alternating samples. Return their results."""
    rows = [_row(measurement) for measurement in group]
    processes: dict[int, _Process] = {}
    try:
        for i, measurement in enumerate(group):
            if measurement.lacking:
                rows[i]["lacking"] = measurement.lacking
                continue
            if importlib.util.find_spec(measurement.package) is None:
                rows[i]["missing"] = measurement.package
                continue
            processes[i] = _Process(measurement, settings.seconds)
            _take(rows[i], processes[i].read())
        for repeat in range(max(measurement.samples(settings) for measurement in group)):
            for i, process in processes.items():
                if "failed" not in rows[i] and repeat < group[i].samples(settings):
                    _take(rows[i], process.sample())
    finally:
        for process in processes.values():
            process.close()
    return [_summary(row) for row in rows]


def _row(measurement: Measurement) -> dict[str, Any]:
    own = ("section", "subject", "how", "batch", "package", "unit", "cores")
    row: dict[str, Any] = {name: getattr(measurement, name) for name in own}
    return {**row, "samples": [], "busy": []}


def _take(row: dict[str, Any], message: dict[str, Any]) -> None:
    """Store a sample or a failure in a row of results. Ignore the message "ready"."""
    if "failed" in message:
        row["failed"] = message["failed"]
    elif "value" in message:
        row["samples"].append(message["value"])
        row["busy"].append(message["busy"])


def _summary(row: dict[str, Any]) -> dict[str, Any]:
    samples, busy = row.pop("samples"), row.pop("busy")
    if not samples or "failed" in row:
        return row
    return {
        **row,
        "median": statistics.median(samples),
        "low": min(samples),
        "high": max(samples),
        "busy": round(statistics.median(busy), 2),
        "samples": samples,
    }


def ratio(row: dict[str, Any], other: dict[str, Any]) -> float:
    """Return the ratio of two results of a group: the median of the ratios of their samples."""
    pairs = zip(row["samples"], other["samples"], strict=True)
    return statistics.median(a / b for a, b in pairs)


def machine() -> dict[str, Any]:
    """Return a description of the machine and the versions of packages."""
    return {
        "processor": processor(),
        "cores": len(available_cores()),
        "pinned": hasattr(os, "sched_setaffinity"),
        "memory_gib": _memory(),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "packages": {name: version for name in PACKAGES if (version := _version(name))},
        "date": datetime.now(UTC).date().isoformat(),
        "load_before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def _memory() -> float | None:
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None

"""The process of one measurement. `frame.py` starts it.

The process prepares the measurement, reports that it is ready, and then takes a sample for every
line of input. It pins itself to its cores before it imports packages that count the cores.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from benchmarks.frame import available_cores


def main() -> None:
    task: dict[str, Any] = json.loads(sys.argv[1])
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, available_cores()[: task["cores"]])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries print to stderr now, so that stdout contains only the answers
    module, _, name = task["probe"].rpartition(".")
    probe = getattr(importlib.import_module(f"benchmarks.{module}"), name)(**task["options"])
    _answer(answers, {"ready": True})
    for _ in sys.stdin:
        _answer(answers, _sample(probe, task["unit"], task["seconds"]))


def _sample(probe: Callable[[], float], unit: str, seconds: float) -> dict[str, float]:
    """Take one sample. Return its value, and the mean number of cores that this process used."""
    done, elapsed = 0.0, 0.0
    begin, begin_cpu = time.perf_counter(), time.process_time()
    while not elapsed or (unit.endswith("/s") and elapsed < seconds):
        done += probe()
        elapsed = time.perf_counter() - begin
    value = done / elapsed if unit.endswith("/s") else done
    return {"value": value, "busy": (time.process_time() - begin_cpu) / elapsed}


def _answer(answers: TextIO, message: dict[str, Any]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()

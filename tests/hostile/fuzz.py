"""Fuzzers for the entry points: `python tests/hostile/fuzz.py --door arrays --cases 100000`.

A case depends only on its number. Many cases run in one process, which may die. A case fails if it
kills or hangs the process, exhausts its memory, or raises an error other than the documented ones.
The failure is printed with the command that repeats it, and a new process continues with the next
case. See `doors` for the cases.
"""

from __future__ import annotations

import argparse
import json
import selectors
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from doors import DOORS, load

AT_ONCE = 20_000  # cases per process
LONGEST = 20.0  # maximum CPU time of a case in seconds
PATIENCE = 600.0  # maximum seconds without a finished case; large, because the machine may be busy
MEMORY = 6 << 30  # bytes of data that a process may have
TOLD = 3  # maximum number of failures of each kind that are printed in full
OUTCOMES = ("accepted", "refused")


class Done(NamedTuple):
    """A finished case: `told` is its outcome or the error text, `seconds` is CPU time."""

    number: int
    told: str
    seconds: float


# --- the process that may die --------------------------------------------------------------------


def work(door: str, first: int, last: int) -> None:
    """Run cases, and print a line of JSON for each as soon as it has finished."""
    prepare, case = load(door)
    prepare()
    _limit_memory()
    print(json.dumps([first - 1, "ready", 0.0]), flush=True)
    for number in range(first, last):
        _ring_after(LONGEST)
        begin = time.process_time()
        try:
            told = case(np.random.default_rng(number))
        except Exception:
            told = f"FAILS\n{traceback.format_exc()[-3000:]}"
        print(json.dumps([number, told, time.process_time() - begin]), flush=True)
    _ring_after(0)


def _limit_memory() -> None:
    """Limit the memory of this process, so that a large allocation raises MemoryError (Linux)."""
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def _ring_after(seconds: float) -> None:
    """Let SIGPROF kill this process after this CPU time, unless this function is called again."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


# --- the process that watches it -----------------------------------------------------------------


def watch(door: str, first: int, last: int) -> Iterator[Done]:
    """Run cases in a process. If the process dies, this is the outcome of the case that it ran.

    Raises:
        RuntimeError: the preparation failed.
    """
    command = [sys.executable, __file__, "--door", door, "--work", str(first), str(last)]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        assert process.stdout is not None
        with selectors.DefaultSelector() as selector, process:
            selector.register(process.stdout, selectors.EVENT_READ)
            number, is_ready = first, False
            while number < last:
                ready = selector.select(PATIENCE)
                line = process.stdout.readline() if ready else ""
                if not line:
                    process.kill()
                    if not is_ready:
                        raise RuntimeError(_death(process.wait(), bool(ready), errors))
                    yield Done(number, _death(process.wait(), bool(ready), errors), 0.0)
                    return
                done, is_ready = Done(*json.loads(line)), True
                if done.told != "ready":
                    number = done.number + 1
                    yield done


def _death(code: int, ended: bool, errors: Any) -> str:
    errors.seek(0)
    said = errors.read()[-3000:]
    if not ended or code == -getattr(signal, "SIGPROF", 0):
        return f"HANGS\n{said}"
    return f"DIES ({code})\n{said}"


def fuzz(door: str, first: int, cases: int, seconds: float) -> int:
    """Run cases until all are finished or the time is over. Return the number of failures."""
    begin, number, failed = time.monotonic(), first, 0
    counts, slowest = dict.fromkeys(OUTCOMES, 0), Done(first, "", 0.0)
    kinds: Counter[str] = Counter()  # failures by the last line of the error text
    used = 0.0
    while number < first + cases and time.monotonic() - begin < seconds:
        for done in watch(door, number, min(number + AT_ONCE, first + cases)):
            number, slowest = done.number + 1, max(done, slowest, key=lambda d: d.seconds)
            used += done.seconds
            if done.told in counts:
                counts[done.told] += 1
            else:
                failed += 1
                kind = done.told.splitlines()[-1]
                kinds[kind] += 1
                if kinds[kind] <= TOLD:
                    print(f"case {done.number} {done.told}")
                    print(f"repeat: {__file__} --door {door} --work {done.number} {number}")
                    sys.stdout.flush()
            if time.monotonic() - begin >= seconds:
                break
    for kind, times in kinds.items():
        print(f"{times} times: {kind}")
    print(
        f"{door}: {number - first} cases from {first}, {counts}, {failed} failed, "
        f"{time.monotonic() - begin:.0f} s ({used:.0f} s of CPU time), "
        f"slowest case {slowest.number}: {slowest.seconds:.1f} s",
        flush=True,
    )
    return failed


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--door", choices=DOORS, required=True)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the number of the first case")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="the time limit")
    parser.add_argument("--work", type=int, nargs=2, help="run these cases in this process")
    chosen = parser.parse_args(arguments)
    if chosen.work:
        work(chosen.door, *chosen.work)
        return 0
    return min(fuzz(chosen.door, chosen.seed, chosen.cases, chosen.seconds), 1)


if __name__ == "__main__":
    sys.exit(main())

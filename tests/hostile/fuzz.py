"""Fuzzers for the doors: `python tests/hostile/fuzz.py --door arrays --cases 100000`.

A case is made from its number alone. Cases run in a process that may die: what kills it, hangs it
or raises anything but our own errors is told with the command that repeats it.
"""

from __future__ import annotations

import argparse
import json
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np

from armarl.armada.chart import STANDARD, load_chart
from armarl.game import Game, States, make_game
from armarl.kernel_cache import KernelCache

AT_ONCE = 2000  # cases of one process
PATIENCE = 300.0  # seconds without a case finished; the first of a process may compile
REFUSALS = (TypeError, ValueError)  # ours are of these kinds

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("armadora", {"players": 2}),
    ("armadora", {"players": 3, "advanced": True, "peek": False}),
    ("armadora", {"players": 4, "advanced": True}),
    ("armadora", {"board": "mini"}),
    ("armada", {"players": 2, "cards": True, "enrolment": True, "max_turns": 20}),
    ("armada", {"players": 3, "cards": True, "max_turns": 20}),
    ("armada", {"players": 4, "enrolment": True, "max_turns": 20}),
]


@cache
def pool(variant: int) -> tuple[Game, States]:
    """A game, and lawful states of it from all over some games."""
    name, options = VARIANTS[variant]
    game = make_game(name, **options)
    states, chance = game.new_states(np.arange(4)), game.new_chance(np.arange(4))
    found = []
    while True:
        found.append(states.copy())
        going_on = np.flatnonzero(game.statuses(states)[0] == 0)
        if going_on.size == 0:
            return game, np.concatenate(found)
        actions = game.random_actions(game.legal_masks(states), chance)
        game.play(states, going_on, actions[going_on])


# --- arrays --------------------------------------------------------------------------------------


def arrays(rng: np.random.Generator) -> str:
    """A method of `Game` with arguments of which some are spoilt."""
    game, known = pool(int(rng.integers(len(VARIANTS))))
    n = int(rng.integers(0, 6))
    states = known[rng.integers(known.size, size=n)].copy()
    numbers, draws = rng.integers(-3, 9, size=n), rng.integers(2**63, size=n, dtype=np.uint64)
    games, seats = rng.permutation(n), rng.integers(game.players, size=n)
    masks = game.legal_masks(states)
    chosen = np.array([rng.choice(np.flatnonzero(m)) if m.any() else 0 for m in masks], np.int64)
    calls: list[tuple[Callable[..., Any], list[Any]]] = [
        (game.deal, [states, games, numbers]),
        (game.apply, [states, games, chosen[games]]),
        (game.check_states, [states]),
        (game.legal_masks, [states]),
        (game.views, [states, seats]),
        (game.concealed, [states, seats]),
        (game.determinised, [states, seats, numbers]),
        (game.statuses, [states]),
        (game.returns, [states, games]),
        (game.playouts, [states, numbers]),
        (game.new_states, [numbers]),
        (game.new_chance, [numbers]),
        (game.random_actions, [masks, draws]),
        (game.questions, [states, games, draws]),
    ]
    method, arguments = calls[rng.integers(len(calls))]
    for i in range(len(arguments)):
        if rng.integers(3) == 0:
            arguments[i] = spoilt(arguments[i], rng)
    frozen = [(a, a.tobytes()) for a in arguments if _is_frozen(a)]
    try:
        method(*arguments)
    except REFUSALS:
        return "refused"
    finally:
        assert all(a.tobytes() == before for a, before in frozen), "what may only be read changed"
    return "accepted"


def _is_frozen(argument: Any) -> bool:
    return isinstance(argument, np.ndarray) and not argument.flags.writeable


def spoilt(array: Any, rng: np.random.Generator) -> Any:
    """An array of another type, length or memory, or with numbers out of range."""
    kind = int(rng.integers(12))
    if kind == 0:
        return array[: rng.integers(array.shape[0] + 1)]
    if kind == 1:
        return np.repeat(array, 2, axis=0)[::2]
    if kind == 2:
        frozen = array.copy()
        frozen.flags.writeable = False
        return frozen
    if kind == 3:
        other = pool(int(rng.integers(len(VARIANTS))))[1]
        return other[rng.integers(other.size, size=array.shape[0])].copy()
    if kind == 4:
        return [array, None, "7", 1.7, True, 2**63, array.tobytes()][rng.integers(7)]
    if kind == 5:
        return array.tolist()
    if kind == 6:
        return array.reshape(1, *array.shape)
    if kind == 7:
        whole = np.zeros(array.nbytes + 1, np.uint8)[1:]  # not aligned
        return whole.view(array.dtype).reshape(array.shape)
    if array.dtype.names:
        return np.concatenate([array, array[:1]])
    if kind == 8:
        types = [np.int8, np.int32, np.uint64, np.float64, np.bool_, np.float32, ">i8"]
        return array.astype(types[rng.integers(len(types))])
    changed = array.copy()
    if changed.size:
        low, high = (np.iinfo(changed.dtype).min, np.iinfo(changed.dtype).max)
        values = [low, high, 0, min(high, 10**6), 2]
        changed.reshape(-1)[rng.integers(changed.size)] = values[rng.integers(5)]
    return changed


# --- states --------------------------------------------------------------------------------------


def states(rng: np.random.Generator) -> str:
    """A lawful state of which some elements or bytes have changed; what is accepted is played."""
    game, known = pool(int(rng.integers(len(VARIANTS))))
    state = known[rng.integers(known.size)].reshape(1).copy()
    for _ in range(rng.integers(1, 4)):
        _change(state, known, rng)
    try:
        game.check_states(state)
    except ValueError:
        return "refused"
    seats = rng.integers(game.players, size=1)
    game.views(state, seats)
    game.describe(state[0])
    game.draw(state[0], int(seats[0]))
    if not game.statuses(state)[0][0]:
        game.check_states(game.determinised(state, seats, seats))
    lengths = game.playouts(state, rng.integers(2**62, size=1))[1]
    assert lengths[0] <= game.max_actions, "a game too long"
    game.check_states(state)
    return "accepted"


def _change(state: States, known: States, rng: np.random.Generator) -> None:
    names = state.dtype.names or ()
    name = names[rng.integers(len(names))]
    column = state[name]
    place = (0, *(rng.integers(size) for size in column.shape[1:]))
    limits = np.iinfo(column.dtype)
    kind = rng.integers(5)
    if kind == 0:
        state[name] = known[name][rng.integers(known.size)]
        return
    if kind == 1:
        state.view(np.uint8)[rng.integers(state.nbytes)] ^= np.uint8(1 << rng.integers(8))
        return
    if kind == 2:  # a piece goes from one place to another
        other = (0, *(rng.integers(size) for size in column.shape[1:]))
        column[place], column[other] = column[other].copy(), column[place].copy()
        return
    value = int(column[place]) + int(rng.integers(-2, 3))
    if kind == 3:
        value = int(rng.integers(limits.min, limits.max, dtype=column.dtype))
    column[place] = min(max(value, limits.min), limits.max)


# --- charts --------------------------------------------------------------------------------------


def charts(rng: np.random.Generator) -> str:
    """A chart's text, mapping or JSON, spoilt; on what is accepted a game is played."""
    chosen: Any
    if rng.integers(2):
        chosen = _spoilt_text(STANDARD.read_text(encoding="utf-8"), rng)
    else:
        chosen = json.loads(json.dumps(load_chart().as_dict()))
        for _ in range(rng.integers(1, 4)):
            _spoil_mapping(chosen, rng)
    try:
        game = make_game("armada", chart=chosen, max_turns=6)
    except (ValueError, OSError):
        return "refused"
    played = game.new_states(1)
    game.playouts(played, np.arange(1))
    game.check_states(played)
    return "accepted"


def _spoilt_text(text: str, rng: np.random.Generator) -> str:
    for _ in range(rng.integers(1, 6)):
        lines = text.splitlines()
        at, kind = int(rng.integers(len(lines))), int(rng.integers(5))
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(at, lines[rng.integers(len(lines))])
        elif kind == 2 and lines[at]:
            place = int(rng.integers(len(lines[at])))
            letter = ".-:~abABZ# \x00\u00e9"[rng.integers(13)]
            lines[at] = lines[at][:place] + letter + lines[at][place + 1 :]
        elif kind == 3:
            lines.append(f"join s{rng.integers(70)} G{rng.integers(9)}")
        else:
            lines.append(f"part s{rng.integers(70)} s{rng.integers(70)}")
        text = "\n".join(lines)
    return text + "\n"


def _spoil_mapping(chart: dict[str, Any], rng: np.random.Generator) -> None:
    key = ("territories", "sea", "borders")[rng.integers(3)]
    part = chart[key]
    at, kind = int(rng.integers(len(part))) if part else 0, int(rng.integers(5))
    names = [t.get("name", "G1") for t in chart["territories"] if isinstance(t, dict)]
    names += [name for name in chart["sea"] if isinstance(name, str)]
    if kind == 0 and part:
        del part[at]
    elif kind == 1:
        part.append([None, 7, [], {}, "x", ["G1"], ["G1", "G1"]][rng.integers(7)])
    elif kind == 2 and len(names) > 1:
        chart["borders"].append([names[rng.integers(len(names))], names[rng.integers(len(names))]])
    elif kind == 3 and part and isinstance(part[at], dict):
        field = ("name", "lair", "island", "city", "post")[rng.integers(5)]
        part[at][field] = [None, True, "green", "central", "Centre", [], "G1"][rng.integers(7)]
    else:
        for city in [
            t["name"] for t in chart["territories"] if isinstance(t, dict) and t.get("city")
        ]:
            for name in names[52 : 52 + int(rng.integers(20))]:
                chart["borders"].append([city, name])


# --- the cache of kernels ------------------------------------------------------------------------


def _sum(x: int, y: int) -> int:
    return x + y


@cache
def _entry() -> tuple[Any, Any, Path, bytes]:
    folder = Path(tempfile.mkdtemp(prefix="armarl-fuzz-"))
    dispatcher = numba.njit(_sum)
    dispatcher._cache = KernelCache(dispatcher, folder)
    dispatcher(1, 2)
    (path,) = folder.iterdir()
    return dispatcher, dispatcher.signatures[0], path, path.read_bytes()


def cached(rng: np.random.Generator) -> str:
    """An entry of the cache, spoilt, is not taken."""
    dispatcher, signature, path, whole = _entry()
    content = bytearray(whole)
    for _ in range(rng.integers(1, 4)):
        kind = rng.integers(4)
        if kind == 0:
            content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del content[rng.integers(1, len(content)) :]
        elif kind == 2:
            content += rng.bytes(int(rng.integers(1, 100)))
        else:
            content = bytearray(rng.bytes(len(content)))
    path.write_bytes(content)
    found = dispatcher._cache.load_overload(signature, dispatcher.targetctx)
    if bytes(content) == whole:
        return "accepted"
    assert found is None, "a spoilt entry was taken"
    return "refused"


DOORS: dict[str, Callable[[np.random.Generator], str]] = {
    "arrays": arrays,
    "states": states,
    "charts": charts,
    "cache": cached,
}


# --- cases in processes --------------------------------------------------------------------------


def work(door: str, first: int, last: int) -> None:
    """Run cases, and write the number and outcome of each as soon as there is one."""
    for number in range(first, last):
        print(number, DOORS[door](np.random.default_rng(number)), flush=True)


def watch(door: str, first: int, last: int) -> Iterator[tuple[int, str]]:
    """Numbers and outcomes of cases that run in a process; its death is the outcome of a case."""
    command = [sys.executable, __file__, "--door", door, "--work", str(first), str(last)]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        assert process.stdout is not None
        with selectors.DefaultSelector() as selector, process:
            selector.register(process.stdout, selectors.EVENT_READ)
            number = first
            while number < last:
                ready = selector.select(PATIENCE)
                line = process.stdout.readline() if ready else ""
                if not line:
                    process.kill()
                    code = process.wait()
                    errors.seek(0)
                    told = errors.read()[-2000:]
                    yield number, f"HANGS\n{told}" if not ready else f"DIES ({code})\n{told}"
                    return
                yield number, line.split()[1]
                number += 1


def fuzz(door: str, first: int, cases: int, seconds: float) -> int:
    """Run cases until all are done or the time is over; the number of those that failed."""
    begin, counts, number, failed = time.monotonic(), {"accepted": 0, "refused": 0}, first, 0
    while number < first + cases and time.monotonic() - begin < seconds:
        for done, outcome in watch(door, number, min(number + AT_ONCE, first + cases)):
            number = done + 1
            if outcome in counts:
                counts[outcome] += 1
            else:
                failed += 1
                print(f"case {done} {outcome}")
                print(f"repeat: {__file__} --door {door} --work {done} {done + 1}")
            if time.monotonic() - begin >= seconds:
                break
    taken = time.monotonic() - begin
    print(f"{door}: {number - first} cases from {first}, {counts}, {failed} failed, {taken:.0f} s")
    return failed


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--door", choices=DOORS, required=True)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="number of the first case")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--work", type=int, nargs=2, help="run these cases here")
    chosen = parser.parse_args(arguments)
    if chosen.work:
        work(chosen.door, *chosen.work)
        return 0
    return min(fuzz(chosen.door, chosen.seed, chosen.cases, chosen.seconds), 1)


if __name__ == "__main__":
    sys.exit(main())

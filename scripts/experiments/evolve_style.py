"""Evolve the numbers of a style of Armada's scripted player, as was done for `admiral`.

    python scripts/experiments/evolve_style.py runs/three.json --players 3 --generations 100
    python scripts/experiments/evolve_style.py runs/cards.json --players 4 --cards --begin conqueror

Each game of a generation has a candidate in one seat. The candidate's numbers are drawn at random
around the means, which are the present numbers of the style. All other seats play one of the other
styles (but never the held-out style), or all play the means. A ridge regression estimates which
changes of the numbers raise the return, and the means move in this direction (evolution strategies:
Salimans et al., 2017, with a regression instead of the weighted sum). The script writes the file
after every generation. The same command continues a stopped evolution, even with a larger number of
generations. At the end the script prints the numbers in the form of
`armarl/games/armada/admiral.py`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import operator
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.core.imputils import lower_builtin, lower_constant
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import models, register_model, typeof_impl
from numba.np.arrayobj import make_array, populate_array

from armarl.compiler import progress
from armarl.compiler.randomness import pick, uniform
from armarl.core import threads
from armarl.core.batch_loops import own
from armarl.core.verbs import ENDED, PLAYING, Fixed, verbs
from armarl.games.armada import style_columns, styles
from armarl.games.armada.style_columns import FAR, STANCES, TABLES
from armarl.games.make_game import make_game

NAMES = [name for name in vars(style_columns) if name.isupper()][: len(styles.CONQUEROR)]
RIVALS = {"conqueror": 8, "raider": 2, "balanced": 1, "explorer": 1, "builder": 1}
AGAINST_ITSELF = 4  # weight of the means as an opponent; RIVALS has the weights of the others
BELOW_ZERO = {"ODDS": -20, "IN_REACH": -40}  # lower limits below 0; the other lower limits are 0
# Upper limits of the numbers. Tolls are costs along a path. Tolls must be small, because their sum
# has 8 bits.
TOLLS = dict.fromkeys(("STEP", "EMBARK", "BLOCKED", "DISCOVER", "FIGHT", "FIGHT_BAND"), 12)
SMALL = {name: 16 for name in NAMES if name.endswith(("GARRISON", "BANDS", "COST"))} | TOLLS
LARGE = {name: 250 for name in NAMES if name.endswith("WORTH")} | {
    "FIGHT_GOAL": 250,
    "FIGHT_OTHER": 250,
}
LOWEST = np.array([BELOW_ZERO.get(name, 0) for name in NAMES])
HIGHEST = np.array([SMALL.get(name, LARGE.get(name, FAR)) for name in NAMES])
RIDGE = 20.0  # weight of the ridge penalty, as a number of games


# --- a table that kernels read from memory (Numba would otherwise compile it as a constant) -------


class LiveTable:
    """An int64 array that may change while compiled kernels read it."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __getitem__(self, index: Any) -> Any:
        return self.array[index]


class LiveTableType(types.Dummy):
    def __init__(self, address: int, columns: int) -> None:
        self.address, self.columns = address, columns
        super().__init__(f"LiveTable({address}, {columns})")


@typeof_impl.register(LiveTable)
def _type_of(table: LiveTable, context: Any) -> LiveTableType:
    return LiveTableType(table.array.ctypes.data, table.array.shape[1])


register_model(LiveTableType)(models.OpaqueModel)


@lower_constant(LiveTableType)
def _constant(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.get_dummy_value()


@infer_global(operator.getitem)
class _GetRow(AbstractTemplate):
    """The type of `table[row]`: a view of the row's memory.

    A Numba function could not return such a view.
    """

    def generic(self, args: Any, kws: Any) -> Any:
        if not isinstance(args[0], LiveTableType):
            return None
        return signature(types.Array(types.int64, 1, "C"), *args)


@lower_builtin(operator.getitem, LiveTableType, types.Integer)
def _row(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    table, row = sig.args[0], make_array(sig.return_type)(context, builder)
    number = context.cast(builder, arguments[1], sig.args[1], types.intp)
    first, columns, step = (
        context.get_constant(types.intp, size) for size in (table.address, table.columns, 8)
    )
    begin = builder.add(first, builder.mul(number, builder.mul(columns, step)))
    pointer = builder.inttoptr(begin, row.data.type)
    populate_array(row, data=pointer, shape=[columns], strides=[step], itemsize=step, meminfo=None)
    return row._getvalue()


# --- games ---------------------------------------------------------------------------------------


class Games(NamedTuple):
    """A batch of games that are played from the deal to the end, with a style for every seat."""

    states: Any  # (games,), dealt games
    numbers: Any  # int64 (games, players), style numbers
    openings: Any  # int64 (games,), number of random actions at the start
    chance: Any  # uint64 (games,)
    masks: Any  # int8 (scratch rows, actions), scratch
    spare: Any  # (scratch rows,), scratch
    returns: Any  # float64 (games, players), output; -1 for all seats if a game was cut short


def play_out(batch: Games, i: int, thread: int, fixed: Fixed) -> None:
    """Play game `i` of a batch to its end, and write its returns."""
    s, mine, played = batch.states[i], own(thread), 0
    mask, spare = batch.masks[mine], batch.spare[mine : mine + 1]
    while verbs.status(s) == PLAYING:
        draw = uniform(batch.chance, i)
        if played < batch.openings[i]:
            verbs.legal(s, mask, *fixed)
            action = pick(mask, draw)
        else:
            number = batch.numbers[i, verbs.to_move(s)]
            action = verbs.greedy(s, number + min(draw, 0.9999999), mask, spare, *fixed)
        verbs.apply(s, action, *fixed)
        played += 1
    returns = batch.returns[i]
    returns[:] = -1.0
    if verbs.status(s) == ENDED:
        verbs.returns(s, 0, returns)


class Evolution:
    """The evolution of a style's numbers for one variant of Armada.

    Attributes:
        means: the present numbers of the style, float64, shape (stances, columns).
        generation: number of generations so far.
    """

    def __init__(self, players: int, cards: bool, games: int, begin: str, seed: int) -> None:
        progress.say = lambda line: None  # no message: these kernels are compiled every time
        known = len(styles.GREEDY_STYLES)
        rows = np.concatenate([styles.STYLES, np.zeros(((games + 2) * STANCES, len(NAMES)), int)])
        first = np.arange(games + 2)[:, None] * STANCES + len(styles.STYLES)
        first_rows = np.concatenate([styles.FIRST_ROWS, np.tile(first, TABLES)])
        self._rows, self._first = np.ascontiguousarray(rows), np.ascontiguousarray(first_rows)
        number, table = styles.GREEDY_STYLES.index(begin), 2 * (players - 2) + cards
        mine = styles.FIRST_ROWS[number, table]
        self.means = styles.STYLES[mine : mine + STANCES].astype(float)
        self._rivals = [styles.GREEDY_STYLES.index(name) for name in RIVALS] + [known]
        weights = np.array([*RIVALS.values(), AGAINST_ITSELF])
        self._weights = weights / weights.sum()
        self._first_candidate, self._games, self._seed = known + 1, games, seed
        greedy = importlib.import_module(
            "armarl.games.armada.scripted.greedy"
        )  # an import statement could find the kernel `greedy` instead of the module `greedy`
        greedy.STYLES = LiveTable(self._rows)  # must be set before anything is compiled
        greedy.FIRST_ROWS = LiveTable(self._first)
        self.game, self.generation = make_game("armada", players=players, cards=cards), 0
        scratch = 2 * threads.most_threads_for(games, 1)
        self._scratch = (
            np.zeros((scratch, len(self.game.actions)), np.int8),
            np.zeros(scratch, self.game.scratch),
        )

    def step(self, rate: float, openings: float) -> dict[str, float]:
        """Play a generation and update the means.

        Args:
            rate: step size.
            openings: fraction of the games that begin with random actions.

        Returns:
            The mean return of the candidates against each opponent, in [-1, 1], by name.
        """
        rng = np.random.default_rng([self._seed, self.generation])
        spreads = 1 + 0.12 * np.abs(self.means)
        tried = self.means + spreads * rng.standard_normal((self._games, *self.means.shape))
        tried = np.clip(np.rint(tried), LOWEST, HIGHEST)
        self._put(0, np.rint(self.means))
        self._put(1, tried)
        rivals = rng.choice(len(self._rivals), self._games, p=self._weights)
        won = self._play(rng, np.array(self._rivals)[rivals], openings)
        against = np.array([won[rivals == k].mean() for k in range(len(self._rivals))])
        apart = ((tried - self.means) / spreads).reshape(self._games, -1)
        apart -= apart.mean(axis=0)
        products = apart.T @ apart + RIDGE * np.eye(apart.shape[1])
        slopes = np.linalg.solve(products, apart.T @ (won - against[rivals]))
        moved = self.means + rate * spreads * slopes.reshape(self.means.shape)
        self.means = np.clip(moved, LOWEST, HIGHEST)
        self.generation += 1
        names = [*RIVALS, "itself"]
        return dict(zip(names, against.tolist(), strict=True))

    def _put(self, first: int, numbers: Any) -> None:
        """Write numbers to the style table from entry `first` on. Entry 0 is the means."""
        row = self._first[self._first_candidate - 1 + first, 0]
        self._rows[row : row + numbers.size // len(NAMES)] = numbers.reshape(-1, len(NAMES))

    def _play(self, rng: Any, rivals: Any, openings: float) -> Any:
        """Play a game for each candidate, in a random seat. Return the candidates' returns."""
        games, players = self._games, self.game.players
        seats = rng.integers(players, size=games)
        numbers = np.repeat(rivals[:, None], players, axis=1)
        numbers[np.arange(games), seats] = self._first_candidate + np.arange(games)
        lengths = np.where(rng.random(games) < openings, rng.integers(1, 80, size=games), 0)
        states = self.game.new_states(rng.integers(1 << 62, size=games))
        chance = self.game.new_chance(rng.integers(1 << 62, size=games))
        returns = np.empty((games, players))
        batch = Games(states, numbers, lengths, chance, *self._scratch, returns)
        self.game.run(play_out, games, batch, least=1)
        return returns[np.arange(games), seats]


def kept(path: Path, evolution: Evolution, settings: dict[str, Any]) -> None:
    """Write the evolution's state to the file, atomically."""
    found = {**settings, "generation": evolution.generation, "numbers": evolution.means.tolist()}
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(json.dumps(found), encoding="utf-8")
    beside.replace(path)


def as_source(means: Any) -> str:
    """Return the numbers as the source of a dictionary in `admiral.py`."""
    numbers = np.rint(means).astype(int).T.tolist()
    lines = [f"    {name}: {tuple(row)}," for name, row in zip(NAMES, numbers, strict=True)]
    return "\n".join(["{", *lines, "}"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--players", type=int, choices=(2, 3, 4), default=2)
    parser.add_argument("--cards", action="store_true")
    parser.add_argument("--begin", choices=styles.GREEDY_STYLES, default="admiral")
    parser.add_argument("--generations", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="time limit")
    parser.add_argument("--games", type=int, default=2048, help="games per generation")
    parser.add_argument("--rate", type=float, default=2.0)
    parser.add_argument(
        "--openings", type=float, default=0.2, help="share of games with random openings (0.2)"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = vars(parser.parse_args())
    path, generations = options.pop("file"), options.pop("generations")
    end = time.monotonic() + 60 * options.pop("minutes")
    rate, openings = options["rate"], options["openings"]
    evolution = Evolution(*(options[n] for n in ("players", "cards", "games", "begin", "seed")))
    if path.exists():
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            same = ("players", "cards", "begin", "seed")
            other = [name for name in same if found[name] != options[name]]
            means, generation = np.array(found["numbers"], float), int(found["generation"])
            if means.shape != evolution.means.shape or not np.isfinite(means).all():
                raise ValueError
        except (ValueError, TypeError, KeyError):
            parser.error(f"{path} is damaged or was not made by this script: name another file")
        if other:
            parser.error(
                f"{path} was made with another value of {', '.join(other)}: name another file"
            )
        evolution.means, evolution.generation = means, generation
    while evolution.generation < generations and time.monotonic() < end:
        began = time.monotonic()
        won = evolution.step(rate, openings)
        kept(path, evolution, options)
        told = "  ".join(f"{name} {mean:+.2f}" for name, mean in won.items())
        speed = options["games"] / (time.monotonic() - began)
        print(f"{evolution.generation}: {told}  ({speed:.0f} games/s)", flush=True)
    print(as_source(evolution.means))


if __name__ == "__main__":
    main()

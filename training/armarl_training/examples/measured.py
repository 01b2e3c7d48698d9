"""The command line and the measurements that all examples share."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl import play_match
from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.games.make_game import make_game

GAME = "armadora"
# Maps observations (n, size) and masks (n, actions) to actions (n,).
Chooser = Callable[[NDArray[np.float32], NDArray[np.int8]], NDArray[Any]]


class Learning(NamedTuple):
    """A policy in training.

    Attributes:
        choose: the current policy, as a function.
        train: function that trains the policy. It returns the number of decisions, and the number
            of illegal actions among them.
    """

    choose: Chooser
    train: Callable[[], tuple[int, int]]


class LearntPlayer:
    """A player that uses a library's policy."""

    def __init__(self, game: Game, choose: Chooser, name: str = "learnt") -> None:
        self.name, self.game, self._choose = name, game, choose

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """See `armarl.Player`."""
        return np.asarray(self._choose(*self.game.views(states, seats)), np.int64)


def main(library: str, modes: Mapping[str, Callable[[int, int], Learning]]) -> None:
    """Train and measure in one mode, and print the results as one line of JSON.

    Args:
        library: name of the Python distribution whose version is printed.
        modes: functions by the name of their mode. Each takes a number of decisions and a seed, and
            returns a `Learning`.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=modes)
    parser.add_argument("--decisions", type=int, default=200_000)
    parser.add_argument("--games", type=int, default=1000, help="games in each measurement")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    learning = modes[options.mode](options.decisions, options.seed)
    before = _win_rate(learning.choose, options.games, options.seed)
    begun = time.perf_counter()
    decisions, illegal = learning.train()
    seconds = time.perf_counter() - begun
    row = {
        "library": library,
        "version": version(library),
        "mode": options.mode,
        "decisions": decisions,
        "illegal": illegal,
        "games": options.games,
        "seed": options.seed,
        "before": before,
        "after": _win_rate(learning.choose, options.games, options.seed + 1),
        "seconds": round(seconds),
    }
    print(json.dumps(row))


def _win_rate(choose: Chooser, games: int, seed: int) -> list[float]:
    """Return the win rate against random, and the ends of its 95 % interval."""
    game = make_game(GAME)
    learnt = play_match(game, [LearntPlayer(game, choose), "random"], games, 1000 + seed)
    own = learnt.standings[0]
    return [round(float(x), 4) for x in (own.win_rate, own.low, own.high)]

"""A player that records everything it is shown, and a count of the deals that it saw repeatedly."""

from __future__ import annotations

import os
import pickle
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from armarl.core.game import Game
from armarl.matches.records import Record
from armarl.players.simple_players import RandomPlayer

MADE: list[Spy] = []  # all spies of this process


class Spy(RandomPlayer):
    """A random player that records every call.

    With a folder, it also writes each call to a file.
    """

    def __init__(self, game: Game, folder: str = "") -> None:
        super().__init__(game)
        self.folder = folder
        self.calls: list[tuple[Any, Any]] = []
        self.identity = uuid4().hex
        MADE.append(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, identity=uuid4().hex)  # a copy is a separate spy

    def choose(self, states: Any, seats: Any, draws: Any) -> Any:
        self.calls.append((states.copy(), seats.copy()))
        if self.folder:
            with (Path(self.folder) / f"{os.getpid()}-{self.identity}").open("ab") as file:
                pickle.dump(self.calls[-1], file)
        return super().choose(states, seats, draws)

    @property
    def seats(self) -> set[int]:
        """Return the seats for which the spy was asked to choose."""
        return {seat for _, seats in self.calls for seat in seats.tolist()}


def written(folder: Path, game: Game) -> list[Spy]:
    """Return the spies of all processes, from the calls that they wrote to a folder."""
    spies = []
    for path in sorted(folder.iterdir()):
        spies.append(Spy(game))
        with path.open("rb") as file:
            while file.peek(1):
                spies[-1].calls.append(pickle.load(file))
    return spies


Sight = tuple[int, int]  # (game, seat)


class Truth:
    """The game and seat of each concealed state, from the records of all games."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.deals: list[bytes] = []  # the deal of each game
        self._games: dict[tuple[bytes, int], set[int]] = defaultdict(set)
        for number, record in enumerate(records):
            self.deals.append(record.states[0].tobytes())
            states, seats = record.states[:-1].copy(), np.array(record.seats, np.int64)
            seen = record.game.concealed(states, seats)
            for state, seat in zip(seen, seats.tolist(), strict=True):
                self._games[state.tobytes(), seat].add(number)

    def sights(self, states: Any, seats: Any) -> list[Sight | None]:
        """Return the game and seat of each state, or None if several games look like the state."""
        found = []
        for state, seat in zip(states, seats.tolist(), strict=True):
            games = self._games[state.tobytes(), seat]
            found.append((min(games), seat) if len(games) == 1 else None)
        return found

    def count(self, spies: Iterable[Spy]) -> tuple[int, int]:
        """Return the number of deals that a spy saw, and the number that it saw more than once.

        A spy saw a deal more than once if it saw two games of the deal, or two seats of a game. The
        numbers are summed over the spies.
        """
        once, more = 0, 0
        for spy in spies:
            seen: dict[bytes, set[Sight]] = defaultdict(set)
            for call in spy.calls:
                for sight in filter(None, self.sights(*call)):
                    seen[self.deals[sight[0]]].add(sight)
            once += len(seen)
            more += sum(len(sights) > 1 for sights in seen.values())
        return once, more

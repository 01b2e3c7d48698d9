"""A slow reference for the single-seat faces: one game through the raw AEC environment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armarl.aec import RawAECEnv
from armarl.game import Game
from armarl.players import Player

_WORD = 2**64
_GOLDEN, _MIX_1, _MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mixed(x: int) -> int:
    """SplitMix64's finaliser, on Python's integers."""
    x = ((x ^ (x >> 30)) * _MIX_1) % _WORD
    x = ((x ^ (x >> 27)) * _MIX_2) % _WORD
    return x ^ (x >> 31)


class Chance:
    """A stream of random numbers in [0, 1), as a batch has one for each game."""

    def __init__(self, seed: int) -> None:
        self.state = mixed(mixed((seed + _GOLDEN) % _WORD) ^ _MIX_2)

    def draw(self) -> float:
        self.state = (self.state + _GOLDEN) % _WORD
        return (mixed(self.state) >> 11) / 2**53


class SeatGame:
    """One seat learns, `players` hold the others, clockwise from it; a seat of None is drawn."""

    def __init__(
        self, game: Game, players: Sequence[Player], reward: str = "win", seat: int | None = None
    ) -> None:
        self.game, self.players, self.env = game, list(players), RawAECEnv(game, reward, None)
        self._fixed_seat = seat
        self.seat = -1
        self.decisions = 0
        self.ended_by_other = False

    def open(self, seed: int | None = None, players: Sequence[Player] | None = None) -> None:
        """A new game up to the learner's first decision, with other players if any are given."""
        if players is not None:
            self.players = list(players)
        if seed is not None:
            self.chance = Chance(seed)
        while True:
            self.env.reset(seed)
            self.seat = self._fixed_seat if self._fixed_seat is not None else self._draw_seat()
            self._play_others()
            if not self.over:
                break
            seed = None
        self.decisions = 0

    def answer(self, action: int) -> float:
        """The learner's action and the others' after it; returns the learner's reward."""
        self.env.step(action)
        self.decisions += 1
        self.ended_by_other = not self.over
        self._play_others()
        return float(self.env.rewards[f"player_{self.seat}"])

    @property
    def over(self) -> bool:
        return any(self.env.terminations.values()) or any(self.env.truncations.values())

    @property
    def truncated(self) -> bool:
        return all(self.env.truncations.values())

    def seen(self) -> tuple[np.ndarray, np.ndarray]:
        """The learner's observation and mask."""
        view = self.env.observe(f"player_{self.seat}")
        return view["observation"], view["action_mask"]

    @property
    def state(self) -> bytes:
        return self.env._states.tobytes()

    def _draw_seat(self) -> int:
        return int(self.chance.draw() * self.game.players)

    def _play_others(self) -> None:
        while not self.over:
            mover = self.env.possible_agents.index(self.env.agent_selection)
            if mover == self.seat:
                return
            player = self.players[(mover - self.seat) % self.game.players - 1]
            seats, draws = np.array([mover]), np.array([self.chance.draw()])
            seen = self.game.concealed(self.env._states, seats)
            self.env.step(int(player.choose(seen, seats, draws)[0]))

"""A slow reference for the single-seat environments: one game in the raw AEC environment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armarl.core.game import Game
from armarl.environments.aec import RawAECEnv
from armarl.players.protocol import Player
from armarl.players.simple_players import RandomPlayer

_WORD = 2**64
_GOLDEN, _MIX_1, _MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mixed(x: int) -> int:
    """Return a hash of 64 bits: the finaliser (last step) of the generator SplitMix64."""
    x = ((x ^ (x >> 30)) * _MIX_1) % _WORD
    x = ((x ^ (x >> 27)) * _MIX_2) % _WORD
    return x ^ (x >> 31)


def _left(x: int, bits: int) -> int:
    return (x << bits | x >> (64 - bits)) % _WORD


def sip_hash(key: bytes, message: bytes) -> int:
    """Return the SipHash-2-4 of a message, computed as in its authors' description."""
    k0, k1 = (int.from_bytes(key[at : at + 8], "little") for at in (0, 8))
    v = [
        0x736F6D6570736575 ^ k0,
        0x646F72616E646F6D ^ k1,
        0x6C7967656E657261 ^ k0,
        0x7465646279746573 ^ k1,
    ]

    def add(into: int, other: int, bits: int) -> None:
        v[into] = (v[into] + v[other]) % _WORD
        v[other] = _left(v[other], bits) ^ v[into]

    def rounds(number: int) -> None:
        for _ in range(number):
            add(0, 1, 13)
            v[0] = _left(v[0], 32)
            add(2, 3, 16)
            add(0, 3, 21)
            add(2, 1, 17)
            v[2] = _left(v[2], 32)

    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


class Chance:
    """A random number generator that gives the same numbers in [0, 1) as that of a batch's game."""

    def __init__(self, seed: int) -> None:
        self.state = _word(seed % _WORD, 1)

    def draw(self) -> float:
        """Return the next number for a player."""
        number = (_word(self.state, 2) >> 11) / 2**53
        self.state = _word(self.state, 3)
        return number

    def uniform(self) -> float:
        """Return the next random number for a choice that is hidden from players."""
        self.state = (self.state + _GOLDEN) % _WORD
        return (mixed(self.state) >> 11) / 2**53


def _word(key: int, wanted_for: int) -> int:
    return sip_hash(key.to_bytes(16, "little"), wanted_for.to_bytes(8, "little"))


class SeatGame:
    """A game with one learning seat. `players` have the other seats, clockwise from that seat.

    If the seat is None, it is drawn for each game.
    """

    def __init__(
        self, game: Game, players: Sequence[Player], reward: str = "win", seat: int | None = None
    ) -> None:
        self.game, self.players, self.env = game, list(players), RawAECEnv(game, reward, None)
        self._fixed_seat = seat
        self.seat = -1
        self.decisions = 0
        self.ended_by_other = False

    def open(self, seed: int | None = None, players: Sequence[Player] | None = None) -> None:
        """Start a new game and play until the learner's first decision.

        Args:
            seed: the seed of the game, or None to continue with the same random numbers.
            players: new players for the other seats, or None to keep the players.
        """
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
        """Play the learner's action and then the others' actions. Return the learner's reward."""
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
        """Return the learner's observation and mask."""
        view = self.env.observe(f"player_{self.seat}")
        return view["observation"], view["action_mask"]

    @property
    def state(self) -> bytes:
        return self.env._states.tobytes()

    def _draw_seat(self) -> int:
        return int(self.chance.uniform() * self.game.players)

    def _play_others(self) -> None:
        while not self.over:
            mover = self.env.possible_agents.index(self.env.agent_selection)
            if mover == self.seat:
                return
            player = self.players[(mover - self.seat) % self.game.players - 1]
            # A batch chooses for the random player in a compiled loop, which uses a hidden number.
            plain = type(player) is RandomPlayer
            number = self.chance.uniform() if plain else self.chance.draw()
            seats, draws = np.array([mover]), np.array([number])
            seen = self.game.concealed(self.env._states, seats)
            self.env.step(int(player.choose(seen, seats, draws)[0]))

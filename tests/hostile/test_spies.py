"""A player's arguments reveal nothing that is hidden from its seat, even if the player cheats."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from armarl import play_match
from armarl.analysis.exploitability import GameTree
from armarl.cli.terminal import play_at_terminal
from armarl.compiler.randomness import draw, sip_hash, uniform
from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.environments.seat_env import SeatEnv
from armarl.games.make_game import make_game
from armarl.players.protocol import Thoughts, ask_thoughts
from armarl.players.simple_players import RandomPlayer
from reference.seat_game import Chance
from reference.seat_game import sip_hash as plain_sip_hash
from variants import Variant, every_game

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def unmixed(x: np.ndarray) -> np.ndarray:
    """Invert the finaliser of SplitMix64."""
    for shift, factor in ((31, _MIX_2), (27, _MIX_1), (30, 1)):
        inverse = np.uint64(pow(factor, -1, 2**64))
        found = x
        for _ in range(64 // shift):
            found = x ^ (found >> np.uint64(shift))
        x = found * inverse
    return x


def mixed(x: np.ndarray) -> np.ndarray:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(_MIX_1)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(_MIX_2)
    return x ^ (x >> np.uint64(31))


def states_behind(first: float, second: float) -> np.ndarray:
    """Return the states of SplitMix64 that give these two successive numbers."""
    with np.errstate(over="ignore"):
        tops = np.uint64(int(first * 2**53)) << np.uint64(11)
        before = unmixed(tops | np.arange(2**11, dtype=np.uint64))
        after = mixed(before + _GOLDEN) >> np.uint64(11)
        return before[after == np.uint64(int(second * 2**53))]


def test_the_attack_works_on_the_generator_that_players_do_not_see() -> None:
    chance = np.array([123456789], np.uint64)
    numbers = [uniform(chance, 0) for _ in range(2)]
    assert int(chance[0]) in states_behind(*numbers) + _GOLDEN


@pytest.mark.parametrize("seed", range(20))
def test_random_numbers_for_players_cannot_be_inverted(seed: int) -> None:
    game = make_game("armadora")
    chance = game.new_chance(np.array([seed]))
    numbers = [draw(chance, 0) for _ in range(6)]
    assert len(set(numbers)) == 6
    for pair in pairwise(numbers):
        assert states_behind(*pair).size == 0


def test_sip_hash_gives_its_authors_test_vector() -> None:
    """Both implementations hash the authors' message of eight bytes."""
    key, message = bytes(range(16)), bytes(range(8))
    assert plain_sip_hash(key, message) == 0x93F5F5799A932462
    words = np.frombuffer(key + message, "<u8")
    assert int(sip_hash(*words)) == 0x93F5F5799A932462


@pytest.mark.parametrize("seed", [0, 7, -1, 2**63 - 1, -(2**63)])
def test_streams_are_equal_to_a_slow_reference(seed: int) -> None:
    chance, plain = make_game("armadora").new_chance(np.array([seed])), Chance(seed)
    for turn in range(20):
        if turn % 3:
            assert draw(chance, 0) == plain.draw()
        else:
            assert uniform(chance, 0) == plain.uniform()


class Writer:
    """A player that writes to all its arguments, to make every action seem legal."""

    def __init__(self, game: Game) -> None:
        self.game, self.name = game, "writer"
        self.refused = 0

    def choose(self, states: States, seats: Any, draws: Any) -> Any:
        actions = RandomPlayer(self.game).choose(states, seats, draws)
        for array in (states, seats, draws):
            try:
                array[:] = np.zeros_like(array)
                if array is states:
                    states["hand"] = 9
                    states["free"] = -1
            except ValueError:
                self.refused += 1
        return actions


def test_a_player_that_writes_to_its_arguments_changes_nothing() -> None:
    """The player's actions and the games are the same as if it had not written."""
    game = make_game("armadora")
    honest = play_match(game, [RandomPlayer(game), "greedy"], games=20, seed=3)
    writing = play_match(game, [Writer(game), "greedy"], games=20, seed=3)
    assert honest.mean_actions == writing.mean_actions
    assert [s.win_rate for s in honest.standings] == [s.win_rate for s in writing.standings]


class ThinkingWriter(Writer):
    """A player that gives probability 1 to action 0, even if illegal, and clears its arguments."""

    def think(self, states: States, seats: Any, draws: Any) -> Thoughts:
        chances = np.zeros((states.size, len(self.game.actions)))
        chances[:, 0] = 1
        for array in (states, seats, draws):
            array[:] = np.zeros_like(array)
        states["players"] = 2
        return Thoughts(probabilities=chances)


def test_a_player_that_writes_while_it_thinks_changes_nothing() -> None:
    """Regression: the probabilities were checked with the masks of the overwritten states."""
    game = make_game("armadora", board="mini")
    states = game.new_states(np.arange(3))
    seats, draws = np.array([0, 1, 1]), np.full(3, 0.5)
    before = [array.tobytes() for array in (states, seats, draws)]
    ask_thoughts(ThinkingWriter(game), game, states, seats, draws)
    assert [array.tobytes() for array in (states, seats, draws)] == before
    with pytest.raises(ValueError, match="reports probabilities that do not sum to 1"):
        GameTree(game).play_of(ThinkingWriter(game), draws=1)


@every_game
def test_a_player_cannot_change_the_rules_for_others(variant: Variant) -> None:
    """Regression: games are shared objects, so a write to `blank` changed all later deals."""
    game = variant.make()
    before = game.blank.tobytes()
    array = "bands" if game.name == "armada" else "card" if game.name == "kuhn_poker" else "hand"
    with pytest.raises(ValueError, match="read-only"):
        game.blank["players"] = 3
    with pytest.raises(ValueError, match="read-only"):
        game.blank[array][...] = 0
    with pytest.raises(ValueError, match="WRITEABLE"):
        game.blank[array].flags.writeable = True
    assert variant.make().blank.tobytes() == before
    dealt = game.new_states(0)
    dealt["players"] = 0  # dealt states are copies and may be changed


class Dreamer(RandomPlayer):
    """A player whose `think` overwrites the states with another position."""

    asked = b""

    def think(self, states: States, seats: Any, draws: Any) -> Thoughts:
        self.asked = states.tobytes() + seats.tobytes() + draws.tobytes()
        states[:] = self.game.new_states(99)
        seats[:], draws[:] = 1, 0.0
        return super().think(states, seats, draws)

    def choose(self, states: States, seats: Any, draws: Any) -> Any:
        assert states.tobytes() + seats.tobytes() + draws.tobytes() == self.asked
        raise ZeroDivisionError("the test needs nothing after this point")


def test_the_action_of_a_player_that_writes_is_checked_in_the_true_position() -> None:
    """Regression: the action was checked in the overwritten position, so it could be illegal."""
    game = make_game("armadora")
    with pytest.raises(ZeroDivisionError):
        play_at_terminal(game, [Dreamer(game)], seat=1, seed=1, think=True)


class Failing(RandomPlayer):
    """A player that raises an error at its third decision."""

    decisions = 0

    def choose(self, states: States, seats: Any, draws: Any) -> Any:
        self.decisions += 1
        if self.decisions == 3:
            raise ZeroDivisionError("nerve")
        return super().choose(states, seats, draws)


def test_no_half_played_step_remains_after_an_error_of_a_player() -> None:
    game = make_game("armadora")
    env = SeatEnv(game, opponents=Failing(game), seat=0)
    env.reset(seed=1)
    with pytest.raises(ZeroDivisionError):
        play_on(env, 9)
    with pytest.raises(RuntimeError, match="half played"):
        env.step(0)
    env.reset(seed=1)
    play_on(env, 9)


def play_on(env: SeatEnv, steps: int) -> None:
    for _ in range(steps):
        env.step(int(np.flatnonzero(env.action_masks())[0]))

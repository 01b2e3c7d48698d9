"""Players who cheat: from what a player is given nothing follows that his seat may not know."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from armarl.exploitability import GameTree
from armarl.game import Game, States, make_game
from armarl.matches import play_match
from armarl.players import RandomPlayer, Thoughts, ask_thoughts
from armarl.randomness import draw, sip_hash, uniform
from armarl.seat_env import SeatEnv
from armarl.terminal import play_at_terminal
from reference.seat_game import Chance
from reference.seat_game import sip_hash as plain_sip_hash
from variants import Variant, every_game

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def unmixed(x: np.ndarray) -> np.ndarray:
    """SplitMix64's finaliser, run backwards."""
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
    """The states of SplitMix64 after which two numbers in a row would be these."""
    with np.errstate(over="ignore"):
        tops = np.uint64(int(first * 2**53)) << np.uint64(11)
        before = unmixed(tops | np.arange(2**11, dtype=np.uint64))
        after = mixed(before + _GOLDEN) >> np.uint64(11)
        return before[after == np.uint64(int(second * 2**53))]


def test_the_attack_works_on_what_players_are_not_shown() -> None:
    chance = np.array([123456789], np.uint64)
    numbers = [uniform(chance, 0) for _ in range(2)]
    assert int(chance[0]) in states_behind(*numbers) + _GOLDEN


@pytest.mark.parametrize("seed", range(20))
def test_draws_of_players_cannot_be_run_backwards(seed: int) -> None:
    game = make_game("armadora")
    chance = game.new_chance(np.array([seed]))
    numbers = [draw(chance, 0) for _ in range(6)]
    assert len(set(numbers)) == 6
    for pair in pairwise(numbers):
        assert states_behind(*pair).size == 0


def test_sip_hash_is_that_of_its_authors() -> None:
    """The vector of their reference for a message of eight bytes; and ours agree."""
    key, message = bytes(range(16)), bytes(range(8))
    assert plain_sip_hash(key, message) == 0x93F5F5799A932462
    words = np.frombuffer(key + message, "<u8")
    assert int(sip_hash(*words)) == 0x93F5F5799A932462


@pytest.mark.parametrize("seed", [0, 7, -1, 2**63 - 1, -(2**63)])
def test_streams_are_those_of_the_slow_reference(seed: int) -> None:
    chance, plain = make_game("armadora").new_chance(np.array([seed])), Chance(seed)
    for turn in range(20):
        if turn % 3:
            assert draw(chance, 0) == plain.draw()
        else:
            assert uniform(chance, 0) == plain.uniform()


class Writer:
    """Writes into whatever he is given, so that any action would seem to be legal."""

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


def test_a_player_who_writes_changes_nothing() -> None:
    """He plays what he would have played, and the game is the one that it would have been."""
    game = make_game("armadora")
    honest = play_match(game, [RandomPlayer(game), "greedy"], games=20, seed=3)
    writing = play_match(game, [Writer(game), "greedy"], games=20, seed=3)
    assert honest.mean_actions == writing.mean_actions
    assert [s.win_rate for s in honest.standings] == [s.win_rate for s in writing.standings]


class ThinkingWriter(Writer):
    """Believes in one action in each place, legal or not, and empties what he is shown."""

    def think(self, states: States, seats: Any, draws: Any) -> Thoughts:
        chances = np.zeros((states.size, len(self.game.actions)))
        chances[:, 0] = 1
        for array in (states, seats, draws):
            array[:] = np.zeros_like(array)
        states["players"] = 2
        return Thoughts(probabilities=chances)


def test_a_player_who_writes_while_he_thinks_changes_nothing() -> None:
    """The mask by which his probabilities were judged was that of what he had written."""
    game = make_game("armadora", board="mini")
    states = game.new_states(np.arange(3))
    seats, draws = np.array([0, 1, 1]), np.full(3, 0.5)
    before = [array.tobytes() for array in (states, seats, draws)]
    ask_thoughts(ThinkingWriter(game), game, states, seats, draws)
    assert [array.tobytes() for array in (states, seats, draws)] == before
    with pytest.raises(ValueError, match="reports probabilities that do not sum to 1"):
        GameTree(game).play_of(ThinkingWriter(game), draws=1)


@every_game
def test_nobody_changes_the_rules_for_all(variant: Variant) -> None:
    """Games are shared: who wrote into `blank` changed what was dealt to everybody."""
    game = variant.make()
    before = game.blank.tobytes()
    array = "launches" if game.name == "armada" else "card" if game.name == "kuhn_poker" else "hand"
    with pytest.raises(ValueError, match="read-only"):
        game.blank["players"] = 3
    with pytest.raises(ValueError, match="read-only"):
        game.blank[array][...] = 0
    with pytest.raises(ValueError, match="WRITEABLE"):
        game.blank[array].flags.writeable = True
    assert variant.make().blank.tobytes() == before
    dealt = game.new_states(0)
    dealt["players"] = 0  # what is made of it is its holder's own


class Dreamer(RandomPlayer):
    """When he thinks aloud, he writes another position over the one that he is asked in."""

    asked = b""

    def think(self, states: States, seats: Any, draws: Any) -> Thoughts:
        self.asked = states.tobytes() + seats.tobytes() + draws.tobytes()
        states[:] = self.game.new_states(99)
        seats[:], draws[:] = 1, 0.0
        return super().think(states, seats, draws)

    def choose(self, states: States, seats: Any, draws: Any) -> Any:
        assert states.tobytes() + seats.tobytes() + draws.tobytes() == self.asked
        raise ZeroDivisionError("as far as this test goes")


def test_a_player_who_writes_while_he_thinks_is_judged_by_the_game() -> None:
    """What he chose was judged by the position that he had written: he played what is illegal."""
    game = make_game("armadora")
    with pytest.raises(ZeroDivisionError):
        play_at_terminal(game, [Dreamer(game)], seat=1, seed=1, think=True)


class Failing(RandomPlayer):
    """Loses his nerve at his third decision."""

    decisions = 0

    def choose(self, states: States, seats: Any, draws: Any) -> Any:
        self.decisions += 1
        if self.decisions == 3:
            raise ZeroDivisionError("nerve")
        return super().choose(states, seats, draws)


def test_after_an_error_of_a_player_nothing_goes_on_half_played() -> None:
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

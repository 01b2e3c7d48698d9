"""Players cannot cheat, play illegal actions, or die unnoticed."""

import os
import subprocess
import sys

import numpy as np
import pytest

import tiny
from armarl import play_match
from armarl.core.errors import IllegalActionError
from armarl.environments.seat_env import SeatEnv
from armarl.games.make_game import make_game
from armarl.players.protocol import choose_legally
from armarl.players.simple_players import GreedyPlayer, RandomPlayer
from armarl.roster.make_player import make_player

TWO, THREE = make_game("armadora"), make_game("armadora", players=3)


class Painter:
    """A player that writes to its arguments, to make the actions it wants legal."""

    name = "painter"

    def __init__(self, game, action):
        self.game, self.action = game, action

    def choose(self, states, seats, draws):
        raw = states.view(np.uint8)
        raw[:] = np.random.default_rng(0).integers(0, 256, raw.size, np.uint8)
        # In these new states the action is legal.
        states[:] = self.game.new_states(np.arange(states.size))
        seats[:], draws[:] = 0, 0
        return np.full(states.size, self.action)


def test_a_player_cannot_make_an_action_legal_by_writing_to_its_arguments():
    """Actions that are legal only in the changed states are refused."""
    game = TWO
    states, only, chance = game.new_states(1), np.zeros(1, int), game.new_chance(np.ones(1, int))
    wanted = game.actions.id("W1 a1")
    game.apply(states, only, np.array([wanted]))
    before = states.tobytes()
    with pytest.raises(IllegalActionError, match="'painter' of seat 1: `W1 a1` is illegal"):
        choose_legally(Painter(game, wanted), game, *game.questions(states, only, chance))
    assert states.tobytes() == before


def test_opponents_of_a_player_that_writes_see_the_true_game():
    """The changes to the arrays do not affect the rest of the game."""
    game = TWO
    passing = game.actions.id("pass")

    class Passing:
        name = "painter"

        def choose(self, states, seats, draws):
            return np.full(states.size, passing)

    honest = play_match(game, [Passing(), "greedy"], games=20, seed=1)
    assert play_match(game, [Painter(game, passing), "greedy"], games=20, seed=1) == honest


def test_actions_cannot_change_after_their_check():
    game, kept = TWO, []

    class Late:
        name = "late"

        def choose(self, states, seats, draws):
            kept.append(np.zeros(states.size, np.int64))
            return kept[-1]

    states = game.concealed(game.new_states(1), np.zeros(1, int))
    chosen = choose_legally(Late(), game, states, np.zeros(1, int), np.zeros(1))
    kept[-1][:] = 10**6
    assert chosen[0] == 0


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (np.zeros(2, int), ValueError, "actions of shape"),
        (np.zeros(1), TypeError, "actions of type float64; action ids must be integers"),
        (None, TypeError, "returned None; choose must return an array of action ids"),
        (np.zeros(1, bool), TypeError, "actions of type bool"),
        (np.array([-1]), IllegalActionError, "there is no action -1"),
        (np.array([2**63], np.uint64), IllegalActionError, "there is no action"),
    ],
)
def test_invalid_answers_are_refused(answer, error, message):
    class Odd:
        name = "odd"

        def choose(self, states, seats, draws):
            return answer

    states = TWO.concealed(TWO.new_states(1), np.zeros(1, int))
    with pytest.raises(error, match=message):
        choose_legally(Odd(), TWO, states, np.zeros(1, int), np.zeros(1))


def test_a_player_of_another_variant_is_refused():
    """The player would read and write out of bounds."""
    advanced = make_game("armadora", advanced=True)
    for wrong in (RandomPlayer(advanced), GreedyPlayer(THREE), tiny.network(advanced)):
        message = f"'{wrong.name}' was made for armadora with [23] players.*, but this game is arma"
        with pytest.raises(ValueError, match=message):
            make_player(wrong, TWO)
        with pytest.raises(ValueError, match=message):
            play_match(TWO, [wrong, "random"], games=2)
        with pytest.raises(ValueError, match=message):
            SeatEnv(TWO, opponents=wrong)
        states = TWO.concealed(TWO.new_states(1), np.zeros(1, int))
        with pytest.raises(ValueError, match=message):
            choose_legally(wrong, TWO, states, np.zeros(1, int), np.zeros(1))


# --- worker processes ----------------------------------------------------------------------------

_START = "from armarl import make_game\nfrom armarl import play_match\nimport tiny\n"
_MATCH = "play_match(make_game('armadora'), [{}, 'random'], games=300, workers=2)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (_MATCH.format("tiny.Killed()"), "a worker process ended before its job was done"),
        (_MATCH.format("'random'"), "under `if __name__ == '__main__':`"),
    ],
    ids=["killed", "without a guard"],
)
def test_worker_processes_that_die_end_the_match(tmp_path, text, said):
    guard = "if __name__ == '__main__':\n    " if "Killed" in text else ""
    script = tmp_path / "script.py"
    script.write_text(_START + guard + text + "\n", "utf-8")
    ended = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert ended.returncode == 1
    assert said in ended.stderr

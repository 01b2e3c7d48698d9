"""The sentences about the end of a game of Armadora."""

from typing import Any

import numpy as np
import pytest

from armarl import make_game
from armarl.core.pictures.picture import Scene
from armarl.games.armadora.text.tell import _end


@pytest.mark.parametrize(
    ("actions", "told"),
    [
        (["W4 c4", "W2 d4"], "goes to player 0 (4 points against 2 of player 1)."),
        (["W1 c4", "W2 d4"], "goes to player 1 (2 points against 1 of player 0)."),
        (["W4 c4", "P a1-b1", "stop"], "goes to player 0 (4 points)."),
        (["W3 c4", "W3 d4"], "is tied (3 points): 20 gold each for player 0 and player 1."),
        ([], "is nobody's."),
    ],
)
def test_a_sentence_says_where_the_gold_of_a_territory_goes(actions: list[str], told: str) -> None:
    """ARM-16, ARM-17. Regression: the sentence was "goes to player 0: player 0 4, player 1 2"."""
    game = make_game("armadora")
    states = game.new_states(0)
    for text in [*actions, "pass", "pass"]:
        before, seat = states.copy(), int(game.statuses(states)[1][0])
        action = game.actions.id(text)
        game.apply(states, np.array([0]), np.array([action]))
    words = game.tell(states[0], (seat, action), before=before[0]).words
    assert f"The territory of 40 squares around a1 with 40 gold {told}" in words


def test_sentences_say_where_the_gold_of_three_players_goes() -> None:
    game = make_game("armadora", players=3)
    states = game.new_states(0)
    for text in ["W1 c4", "W4 d4", "W2 e3", "pass", "pass", "pass"]:
        before = states.copy()
        game.apply(states, np.array([0]), np.array([game.actions.id(text)]))
    words = game.tell(states[0], (2, game.actions.id("pass")), before=before[0]).words
    assert words[-2].endswith("player 1 (4 points against 1 of player 0 and 2 of player 2).")
    assert words[-1] == "Gold: 0 for player 0, 40 for player 1, 0 for player 2. player 1 wins."


def told_at_the_end(**changes: Any) -> list[str]:
    game = make_game("armadora", advanced=True)
    result = {"result": {"gold": [20, 19], "winners": [0]}}
    view = game.describe(game.new_states(0)[0]) | result | changes
    return list(_end(Scene(game, view, None, None, None, ("Ada", "Ben"))))


def test_arm_29_a_sentence_says_that_a_reinforcement_wins_a_tie() -> None:
    pieces = {"face_up": False, "arrows": 0}
    first = {"player": 0, "value": 3, "reinforcement": 0, **pieces}
    second = {"player": 1, "value": 4, "reinforcement": None, **pieces}
    words = told_at_the_end(
        palisades=["a1-a2", "b1-b2", "c1-c2", "c1-d1"],
        warriors={"a1": first, "b1": second},
        gold={"c1": 5},
    )
    assert words[1].endswith("goes to Ada (4 points and a reinforcement against 4 of Ben).")


@pytest.mark.parametrize(("gold", "told"), [(20, " by larger piles (ARM-19)."), (19, ".")])
def test_arm_19_a_sentence_says_that_larger_piles_decide(gold: int, told: str) -> None:
    words = told_at_the_end(result={"gold": [20, gold], "winners": [0]})
    assert words[-1] == f"Gold: 20 for Ada, {gold} for Ben. Ada wins{told}"

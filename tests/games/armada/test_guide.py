"""Explanations of a position of Armada on the page of `armarl play --web`."""

import numpy as np
import pytest

from armarl import make_game, make_player
from armarl.games.armada.guide import question
from armarl.games.armada.state import CLAIM_DUE, NEW_CLAIM, ORDER

GAME = make_game("armada")


def state_of_a_turn():
    """Return a position in the first turn of a colour."""
    player, states = make_player("greedy", GAME), GAME.new_states(3)
    while states[0]["stage"] != ORDER:
        seats = GAME.statuses(states)[1]
        action = player.choose(GAME.concealed(states, seats), seats, np.full(1, 0.5))
        GAME.apply(states, np.zeros(1, np.int64), action)
    return states[0]


def test_a_person_reads_how_bands_are_spread():
    states = GAME.new_states(3)
    for _ in range(2):
        GAME.apply(states, np.zeros(1, np.int64), np.flatnonzero(GAME.legal_masks(states)[0])[:1])
    said, places = question(GAME, states[0])
    assert said.endswith("The number may be 0, and your last territory gets the rest (ADA-13).")
    assert len(places) == 1


@pytest.mark.parametrize(
    ("whose", "claim", "when"),
    [(0, CLAIM_DUE, "its turn"), (0, NEW_CLAIM, "its next turn"), (1, CLAIM_DUE, "its next turn")],
)
def test_ada_28_a_person_reads_when_a_claim_is_judged(whose, claim, when):
    state = state_of_a_turn()
    assert "claims" not in question(GAME, state)[0]
    in_turn = int(state["colour"][0])
    state["claims"][in_turn if whose == 0 else (in_turn + 1) % 4] = claim
    said, _ = question(GAME, state)
    assert f"It wins if it still owns enough at the end of {when} (ADA-28)." in said

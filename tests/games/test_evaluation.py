"""The verb `evaluate` estimates returns in the middle of a game, for searches that stop there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.games.catalogue import OURS
from armarl.games.make_game import make_game
from armarl.players.simple_players import GreedyPlayer, RandomPlayer

GAMES = 60
KEPT = {"armadora": 0.1, "armada": 0.015}  # share of positions used: about eight in each game
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("armadora", {"board": "mini"}),
    *(("armadora", {"players": n, "advanced": a}) for n in (2, 3, 4) for a in (False, True)),
    *(("armada", {"players": n, "cards": c}) for n, c in ((2, False), (3, True), (4, False))),
]
EVERY_VARIANT = pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)


def estimates(game: Game, states: States) -> NDArray[np.float64]:
    evaluate = game.verbs.evaluate
    out = np.full((states.size, game.players), np.nan)
    for s, row in zip(states, out, strict=True):
        evaluate(s, row, *game.fixed_records)
    return out


def positions(game: Game, games: int = GAMES) -> tuple[States, NDArray[np.int64], Any]:
    """Return positions of games between greedy players with some random actions.

    The result is the positions, the game of each position, and the returns of all games.
    """
    rng = np.random.default_rng(game.players)
    states = game.new_states(np.arange(games))
    greedy, random = GreedyPlayer(game), RandomPlayer(game)
    found, owners = [], []
    while True:
        statuses, seats = game.statuses(states)
        going = np.flatnonzero(statuses == 0)
        if going.size == 0:
            returns = game.returns(states, np.arange(games))
            return np.concatenate(found), np.concatenate(owners), returns
        kept = going[rng.random(going.size) < KEPT[game.name]]
        found.append(states[kept])
        owners.append(kept)
        at_random = rng.random(going.size) < 0.2
        for player, turn in ((random, going[at_random]), (greedy, going[~at_random])):
            actions = player.choose(states[turn], seats[turn], rng.random(turn.size))
            game.apply(states, turn, actions)


@EVERY_VARIANT
def test_estimates_are_possible_returns(name: str, options: dict[str, Any]) -> None:
    """Estimates are in [-1, 1], add up to 0 over the sides, and are equal for partners.

    The state does not change.
    """
    game = make_game(name, **options)
    states, _, _ = positions(game)
    before = states.tobytes()
    found = estimates(game, states)
    assert states.tobytes() == before
    assert (np.abs(found) <= 1).all()
    first_seats = [game.sides.index(side) for side in sorted(set(game.sides))]
    assert np.allclose(found[:, first_seats].sum(axis=1), 0, atol=1e-12)
    assert (found == found[:, [game.sides.index(side) for side in game.sides]]).all()
    different = np.unique(found[:, 0]).size  # on the mini board, positions differ little
    assert different > (1 if "board" in options else found.shape[0] / 4)


# On the mini board, games end after a few actions and most are even.
@pytest.mark.parametrize(("name", "options"), VARIANTS[1:], ids=str)
def test_winners_have_higher_estimates(name: str, options: dict[str, Any]) -> None:
    """Estimates and returns are correlated by more than four standard errors over games."""
    game = make_game(name, **options)
    # In two-player Armada between greedy players, estimates are less accurate, so use more games.
    states, owners, returns = positions(game, 4 * GAMES if game.players == 2 else GAMES)
    agreement = (estimates(game, states) * returns[owners]).sum(axis=1)
    by_game = np.array([agreement[owners == i].mean() for i in np.unique(owners)])
    assert by_game.mean() > 4 * by_game.std() / np.sqrt(by_game.size)


@pytest.mark.parametrize("name", [entry.name for entry in OURS])
def test_a_new_deal_favours_nobody_much(name: str) -> None:
    for players in (2, 3, 4):
        game = make_game(name, players=players)
        assert (np.abs(estimates(game, game.new_states(np.arange(20)))) < 0.25).all()


def test_estimates_of_armada_shrink_before_the_turn_limit() -> None:
    long, short = (make_game("armada", max_turns=turns) for turns in (400, 30))
    states, _, _ = positions(long)
    cut = states.copy()
    cut["max_turns"] = np.maximum(cut["turn"] + 1, 1)
    assert (np.abs(estimates(short, cut)) <= 0.1 * np.abs(estimates(long, states)) + 1e-12).all()

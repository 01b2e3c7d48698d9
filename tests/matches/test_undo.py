"""Sentences about actions (`Game.tell`), and the actions that can be taken back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from armarl.core.game import Game
from armarl.games.make_game import make_game
from armarl.matches.undo import can_be_undone
from armarl.players.simple_players import GreedyPlayer
from variants import every_game

ONLY = np.zeros(1, np.int64)


def after(game: Game, states: Any, *texts: str) -> Any:
    """Return two copies of a state, one before the last action and one after it."""
    states = states.copy()
    before = states.copy()
    for text in texts:
        before = states.copy()
        game.apply(states, ONLY, np.array([game.actions.id(text)]))
    return before[0], states[0]


def armada(**options: Any) -> tuple[Game, Any]:
    """Return a game of Armada, and its first position after the preliminary turns."""
    game = make_game("armada", players=2, **options)
    states = game.new_states(3)
    while game.describe(states[0])["turn"]["stage"] == "preliminary":  # puts all bands on one place
        game.apply(states, ONLY, np.flatnonzero(game.legal_masks(states)[0])[-1:])
    return game, states


def scripted(game: Game, seed: int, word: str = "") -> Iterator[tuple[Any, int, Any]]:
    """Play a game of the scripted player, with a preference for actions that begin with a word.

    Yield the states before and after each action.
    """
    states, rng, player = game.new_states(seed), np.random.default_rng(0), GreedyPlayer(game)
    while not game.statuses(states)[0][0]:
        before, seats = states[0].copy(), game.statuses(states)[1]
        action = player.choose(game.concealed(states, seats), seats, rng.random(1))
        legal = np.flatnonzero(game.legal_masks(states)[0])
        liked = [a for a in legal if word and game.actions.text(a).startswith(word)]
        action = np.array(liked[:1]) if liked else action
        game.apply(states, ONLY, action)
        yield before, int(action[0]), states[0].copy()


def first(game: Game, states: Any, word: str) -> str:
    texts = game.actions.legal_texts(game.legal_masks(states)[0])
    return next(text for text in texts if text.startswith(word))


def undone(game: Game, states: Any, *texts: str) -> bool:
    before, now = after(game, states, *texts)
    return can_be_undone(game, before, game.actions.id(texts[-1]), now)


def tell(game: Game, before: Any, action: int, now: Any, seat: int | None = None) -> Any:
    mover = int(game.statuses(np.array([before]))[1][0])
    return game.tell(now, (mover, action), seat, before=before).words


def test_a_fight_is_described_with_its_dice() -> None:
    """Regression: only the record contained the dice."""
    dice = {"combat": [2] * 6, "gold": [4] * 6, "tribes": [3] * 6}
    game, told = make_game("armada", dice=dice), []
    for before, action, now in scripted(game, 1):
        words = tell(game, before, action, now)
        dice_told = [word for word in words if word.startswith("Dice: ")]
        assert bool(dice_told) == (before["rng"] != now["rng"])
        told += words
    assert {"Dice: 2 hits.", "Dice: gold 4, tribes 3."} <= {*told}
    assert any("finds 4 gold and 3 tribes." in word for word in told)
    assert any(" loses 2 bands on " in word for word in told)


def test_changes_of_places_are_described() -> None:
    game, states = armada()
    move = first(game, states, "move G")
    before, now = after(game, states, move, "count 1")
    (words,) = tell(game, before, game.actions.id("count 1"), now)
    origin, target = move.split()[1:]
    assert words == f"player 0 moves 1 band from {origin} to {target}."


def test_cards_are_described_only_to_their_owner() -> None:
    game, told = make_game("armada", players=2, cards=True), 0
    for before, action, now in scripted(game, 1, "buy"):
        old, new = game.describe(before)["hands"][0], game.describe(now)["hands"][0]
        if len(new) > len(old):
            (card,) = Counter(new) - Counter(old)
            assert f"player 0 draws {card}." in tell(game, before, action, now, 0)
            assert f"player 0 draws {card}." in tell(game, before, action, now)
            assert "player 0 draws a card." in tell(game, before, action, now, 1)
            assert not can_be_undone(game, before, action, now)
            told += 1
    assert told


def test_the_value_that_the_mage_reads_is_described_only_to_its_player() -> None:
    game = make_game("armadora", players=3, advanced=True)
    rng, found = np.random.default_rng(0), False
    for seed in range(200):
        states = game.new_states(seed)
        while not game.statuses(states)[0][0] and not found:
            before = states[0].copy()
            mover = int(game.statuses(states)[1][0])
            legal = np.flatnonzero(game.legal_masks(states)[0])
            action = rng.choice(legal)
            game.apply(states, ONLY, np.array([action]))
            notation = game.actions.text(action)
            if notation.startswith("mage"):
                found, square = True, notation.split()[1]
                value = game.describe(states[0])["warriors"][square]["value"]
                reads = f": it has value {value}"
                assert reads in tell(game, before, action, states[0], mover)[0]
                owner = game.describe(states[0])["warriors"][square]["player"]
                (third,) = {0, 1, 2} - {mover, owner}
                assert ": it has" not in tell(game, before, action, states[0], third)[0]
                assert not can_be_undone(game, before, int(action), states[0])
        if found:
            break
    assert found


@every_game
def test_sentences_reveal_nothing_hidden(variant: Any) -> None:
    """If the hidden information is dealt differently, the sentences for the seat are equal."""
    game, rng = variant.make(), np.random.default_rng(0)
    states = game.new_states(1)
    for _ in range(40):
        if game.statuses(states)[0][0]:
            break
        action = rng.choice(np.flatnonzero(game.legal_masks(states)[0]))
        before = states.copy()
        game.apply(states, ONLY, np.array([action]))
        for seat in range(game.players):
            seats = np.array([seat])
            was, now = (game.concealed(one, seats)[0] for one in (before, states))
            if before[0]["rng"] != states[0]["rng"]:
                continue  # sentences about dice need random numbers, which concealed states lack
            last, mover = int(action), int(game.statuses(before)[1][0])
            told = game.tell(now, (mover, last), seat, before=was)
            assert told == game.tell(states[0], (mover, last), seat, before=before[0])


# --- undo ----------------------------------------------------------------------------------------


def test_orders_without_chance_can_be_taken_back() -> None:
    game, states = armada()
    move = first(game, states, "move G")
    assert undone(game, states, move)
    assert undone(game, states, move, "count 1")
    assert not undone(game, states, "end")  # another seat is to move after that


def test_dice_cannot_be_taken_back() -> None:
    game, thrown = make_game("armada", players=2), 0
    for before, action, now in scripted(game, 1):
        if before["rng"] != now["rng"]:
            thrown += 1
            assert not can_be_undone(game, before, action, now)
    assert thrown


def test_a_palisade_can_be_taken_back_and_a_warrior_cannot() -> None:
    game = make_game("armadora")
    states = game.new_states(0)
    assert undone(game, states, first(game, states, "P "))
    assert not undone(game, states, "W1 a1")  # the other player is to move after that


def test_a_game_without_sentences_shows_its_actions() -> None:
    from variants import KUHN_POKER

    game = KUHN_POKER[0].make()
    states = game.new_states(0)
    before, action = states[0].copy(), int(np.flatnonzero(game.legal_masks(states)[0])[0])
    game.apply(states, ONLY, np.array([action]))
    notation = game.actions.text(action)
    assert tell(game, before, action, states[0]) == (f"player 0: {notation}.",)

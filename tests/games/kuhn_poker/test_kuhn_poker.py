"""Kuhn poker, a game from outside the package: every history agrees with a slow reference."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from armarl.games.make_game import make_game
from kuhn_poker.valid import valid
from variants import KUHN_POKER  # importing it registers the game

EVERY_NUMBER_OF_PLAYERS = pytest.mark.parametrize("players", [2, 3, 4])
IT = np.zeros(1, np.int64)


class Table:
    """A slow reference. A game is a list of the actions that players have taken."""

    def __init__(self, cards, said=()):
        self.cards, self.said = cards, list(said)  # one card per player; pairs (player, action)

    @property
    def bettor(self):
        return next((player for player, word in self.said if word == "bet"), None)

    @property
    def to_move(self):
        """Return the player to move.

        The game ends if all have checked, or if the bettor would be next.
        """
        player = len(self.said) % len(self.cards)
        come_round = self.bettor is None and len(self.said) == len(self.cards)
        return None if come_round or (self.said and player == self.bettor) else player

    @property
    def legal(self):
        if self.to_move is None:
            return []
        return ["check", "bet"] if self.bettor is None else ["call", "fold"]

    def after(self, word):
        return Table(self.cards, [*self.said, (self.to_move, word)])

    def chips(self, player):
        return 1 + sum(p == player and word in ("bet", "call") for p, word in self.said)

    @property
    def contenders(self):
        players = range(len(self.cards))
        return [p for p in players if self.bettor is None or self.chips(p) == 2]

    def returns(self):
        players = range(len(self.cards))
        winner = max(self.contenders, key=lambda player: self.cards[player])
        pot = sum(map(self.chips, players))
        won = [(pot if player == winner else 0) - self.chips(player) for player in players]
        return [chips / (2 * (len(self.cards) - 1)) for chips in won]

    def shown(self, seat, player):
        laid_open = self.to_move is None and len(self.contenders) > 1
        return player == seat or (laid_open and player in self.contenders)


def histories(players):
    """Return every history of every deal: the states, and the tables that must agree with them."""
    game = make_game("kuhn_poker", players=players)
    deals = game.deals()
    waiting = [
        (deals[i : i + 1].copy(), Table(tuple(deals["card"][i, :players])))
        for i in range(len(deals))
    ]
    while waiting:
        states, table = waiting.pop()
        yield game, states, table
        for word in table.legal:
            after = states.copy()
            game.apply(after, IT, np.array([game.actions.id(word)]))
            waiting.append((after, table.after(word)))


@EVERY_NUMBER_OF_PLAYERS
def test_every_history_follows_the_rules(players):
    count = 0
    for game, states, table in histories(players):
        count += 1
        statuses, seats = game.statuses(states)
        assert (statuses[0] == 1) == (table.to_move is None)
        assert game.actions.legal_texts(game.legal_masks(states)[0]) == table.legal
        assert valid(states[0], game.blank) == 0
        if table.to_move is None:
            assert np.allclose(game.returns(states, IT)[0], table.returns())
        else:
            assert seats[0] == table.to_move
        # There are thousands of histories, and the smaller games test the same code.
        if players == 4:
            continue
        for seat in range(players):
            cards = [c if table.shown(seat, p) else None for p, c in enumerate(table.cards)]
            view = game.describe(states[0], seat)
            assert view["cards"] == cards
            assert view["chips"] == [table.chips(player) for player in range(players)]
            words = {"check": "checked", "bet": "bet", "call": "called", "fold": "folded"}
            said = dict(table.said)
            assert view["words"] == [words.get(said.get(p), "nothing") for p in range(players)]
    assert count == {2: 6 * 9, 3: 24 * 25, 4: 120 * 65}[players]


@EVERY_NUMBER_OF_PLAYERS
def test_no_seat_learns_what_it_is_not_shown(players):
    """Exactly the histories that look the same to a seat have the same bytes."""
    seen = {}
    for game, states, table in histories(players):
        for seat in range(players):
            seats = np.array([seat])
            cards = tuple(c if table.shown(seat, p) else 0 for p, c in enumerate(table.cards))
            key = (seat, cards, tuple(table.said))
            observations, masks = game.views(states, seats)
            bytes_shown = game.concealed(states, seats).tobytes()
            shown = (bytes_shown, observations.tobytes(), masks.tobytes())
            assert seen.setdefault(key, shown) == shown
    for part in range(2):
        assert len({(key[0], shown[part]) for key, shown in seen.items()}) == len(seen)


@EVERY_NUMBER_OF_PLAYERS
def test_deals_are_uniform_and_agree_with_what_is_shown(players):
    game = make_game("kuhn_poker", players=players)
    n, orders = 6000, list(permutations(range(1, players + 2)))
    dealt = game.new_states(np.arange(n))["card"][:, : players + 1]
    counts = [int((dealt == order).all(axis=1).sum()) for order in orders]
    assert sum(counts) == n
    assert all(abs(c - n / len(orders)) < 5 * np.sqrt(n / len(orders)) for c in counts)

    states = np.repeat(game.new_states(7), n)
    again = game.determinised(states, np.ones(n, np.int64), np.arange(n))
    cards = again["card"][:, : players + 1]
    assert (cards[:, 1] == states["card"][0, 1]).all()
    fitting = [order for order in orders if order[1] == states["card"][0, 1]]
    counts = [int((cards == order).all(axis=1).sum()) for order in fitting]
    assert sum(counts) == n
    assert all(abs(c - n / len(fitting)) < 5 * np.sqrt(n / len(fitting)) for c in counts)


def test_invalid_states_are_found():
    game = make_game("kuhn_poker")
    for broken, field, value in (
        (1, "players", 5),
        (1, "spare", 1),
        (1, "word", [0, 0, 1, 0]),
        (2, "card", 0),
        (3, "word", [0, 1, 0, 0]),
        (3, "word", [2, 1, 0, 0]),
        (3, "word", [2, 2, 0, 0]),
        (4, "to_move", 1),
        (4, "over", 1),
    ):
        states = game.new_states(0)
        states[field] = value
        assert valid(states[0], game.blank) == broken, (field, value)


def test_games_have_two_to_four_players():
    with pytest.raises(ValueError, match="2, 3 or 4 players, not 5"):
        make_game("kuhn_poker", players=5)
    assert [len(variant.make().deals()) for variant in KUHN_POKER] == [6, 24, 120]

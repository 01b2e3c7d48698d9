"""All deals that agree with a seat's knowledge have the same probability in `determinise`.

These tests count all of these deals by the rules (ARM-31 to ARM-34, ADA-37). Chi-square tests
compare the counts with the deals of `determinise`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.games.armada.actions import CARD_NAMES
from armarl.games.armada.knowledge import HELD, LACKED
from armarl.games.armada.state import ANSWERS, COPIES
from armarl.games.make_game import make_game

DEALS = 8000
BINS = 20

Outcome = tuple[Any, ...]


def chi_square_is_small(
    game: Game,
    state: States,
    seat: int,
    numbers: Counter[Outcome],
    read: Callable[[Any], Outcome],
) -> None:
    """Check that all deals are possible, and as frequent as `numbers` says, in bins of outcomes."""
    dealt = game.determinised(np.repeat(state, DEALS), np.full(DEALS, seat), np.arange(DEALS))
    found = Counter(map(read, dealt))
    assert set(found) <= set(numbers)
    outcomes = sorted(numbers)
    np.random.default_rng(0).shuffle(outcomes)
    total = sum(numbers.values())
    expected, observed = np.zeros(BINS), np.zeros(BINS)
    for rank, outcome in enumerate(outcomes):
        expected[rank % BINS] += DEALS * numbers[outcome] / total
        observed[rank % BINS] += found[outcome]
    bins = expected > 0
    assert bins.sum() > 5
    assert expected[bins].min() > 5
    freedom = bins.sum() - 1
    excess = ((observed - expected)[bins] ** 2 / expected[bins]).sum() - freedom
    assert excess < 4 * math.sqrt(2 * freedom)


# --- Armadora: the values of hidden Warriors -----------------------------------------------------


@pytest.mark.parametrize(
    ("players", "options", "moves"),
    [(2, {}, 6), (2, {"peek": False}, 6), (3, {}, 6), (4, {"advanced": True}, 8)],
)
def test_all_placements_of_hidden_warriors_are_equally_likely(players, options, moves):
    game = make_game("armadora", players=players, **options)
    rng, states = np.random.default_rng(3), game.new_states(9)
    for _ in range(moves):
        legal = np.flatnonzero(game.legal_masks(states)[0])
        texts = [game.actions.text(int(action)) for action in legal]
        warriors = [a for a, text in zip(legal, texts, strict=True) if text.startswith("W")]
        game.apply(states, np.zeros(1, np.int64), rng.choice(warriors, 1))
    seat = int(game.statuses(states)[1][0])
    public = game.describe(states[0], seat)
    read = warriors_read(game, seat)
    chi_square_is_small(game, states, seat, warriors_counted(game, states, seat, public), read)


def hidden_squares(state: Any, seat: int, player: int, peek: bool) -> list[int]:
    """Return the squares with a Warrior of a player whose value the seat cannot see."""
    if player == seat and peek:
        return []
    placed = int(state["warriors"][player]) & ~int(state["face_up"])
    return [square for square in range(64) if placed >> square & 1]


def warriors_read(game: Game, seat: int) -> Callable[[Any], Outcome]:
    """Return the values on all hidden squares, and the hands, which follow from them."""
    peek = game.options["peek"]

    def read(state: Any) -> Outcome:
        squares = [q for p in range(game.players) for q in hidden_squares(state, seat, p, peek)]
        values = tuple(int(state["value"][square]) for square in squares)
        return values + tuple(map(int, state["hand"][: game.players].reshape(-1)))

    return read


def warriors_counted(game: Game, states: States, seat: int, public: Any) -> Counter[Outcome]:
    """Count all ways in which each player's Warriors can be placed on its hidden squares."""
    state, peek = states[0], game.options["peek"]
    start = game.new_states(1)[0]["hand"]
    ways: list[list[tuple[tuple[int, ...], tuple[int, ...], int]]] = []
    for player in range(game.players):
        squares = hidden_squares(state, seat, player, peek)
        stock = start[player].astype(int).copy()
        for square in range(64):
            if int(state["warriors"][player]) >> square & 1 and square not in squares:
                stock[int(state["value"][square]) - 1] -= 1
        own = player == seat
        if own:  # the seat knows its own hand, so only the others are hidden
            stock -= state["hand"][player]
        found = []
        for values in product(range(1, stock.size + 1), repeat=len(squares)):
            left, number = stock.copy(), 1
            for value in values:
                number *= int(left[value - 1])
                left[value - 1] -= 1
            if number > 0:
                hand = state["hand"][player] if own else left
                found.append((values, tuple(map(int, hand)), number))
        ways.append(found)
    numbers: Counter[Outcome] = Counter()
    for choice in product(*ways):
        values = tuple(v for one in choice for v in one[0])
        hands = tuple(v for one in choice for v in one[1])
        numbers[values + hands] += math.prod(one[2] for one in choice)
    return numbers


# --- Armada: cards in other hands ----------------------------------------------------------------

RAID, ATTACK = CARD_NAMES.index("raid"), CARD_NAMES.index("attack")
ATTACK_ANSWER, DEFENCE_ANSWER, RAID_ANSWER = range(ANSWERS)
KNOWLEDGE = {  # seat 0's memory, the draws since then, and knowledge from questions
    "nothing": ({}, {}, {}),
    "who holds and who lacks": ({}, {}, {(1, RAID_ANSWER): HELD, (2, ATTACK_ANSWER): LACKED}),
    "what a strategist saw": ({RAID: 2, ATTACK: 3}, {1: 1}, {}),
    "all of it": (
        {RAID: 2, ATTACK: 3},
        {1: 1, 2: 2},
        {(1, ATTACK_ANSWER): HELD, (2, RAID_ANSWER): HELD, (2, DEFENCE_ANSWER): LACKED},
    ),
}


@pytest.mark.parametrize("knowledge", KNOWLEDGE)
def test_all_distributions_of_hidden_cards_are_equally_likely(knowledge):
    game = make_game("armada", players=3, cards=True)
    states = game.new_states(4)
    remembered, drawn, answers = KNOWLEDGE[knowledge]
    for card, number in remembered.items():
        states["remembered"][0, 0, card] = number
    for player, number in drawn.items():
        states["drawn"][0, 0, player] = number
    for (player, answer), fact in answers.items():
        states["answers"][0, player, answer] = fact
    numbers = cards_counted(states[0])
    chi_square_is_small(game, states, 0, numbers, lambda s: tuple(map(int, s["hand"][1:3].flat)))
    deck = game.determinised(np.repeat(states, DEALS), np.zeros(DEALS, np.int64), np.arange(DEALS))
    top = np.bincount(deck["deck"][:, 0], minlength=len(CARD_NAMES) + 1)
    low = np.bincount(deck["deck"][:, 20], minlength=len(CARD_NAMES) + 1)
    spread = np.sqrt(2 * np.maximum(top + low, 1))
    assert (np.abs(top - low) < 4 * spread).all()  # all orders of the deck are equally likely


def hands(size: int, kinds: list[tuple[int, bool]]) -> Iterator[Counter[tuple[int, bool]]]:
    """Return all multisets of `size` cards: the kind of each, and whether it was remembered."""
    if size == 0:
        yield Counter()
    elif kinds:
        for number in range(size + 1):
            for rest in hands(size - number, kinds[1:]):
                yield rest + Counter({kinds[0]: number})


def cards_counted(state: Any) -> Counter[Outcome]:
    """Count the ways in which two hands of single cards are possible, given seat 0's knowledge."""
    remembered, kinds = state["remembered"][0], range(len(CARD_NAMES))
    left = {}
    for card in kinds:
        number = int(COPIES[card]) - int(state["hand"][0, card])
        left[card, True] = min(int(remembered[card]), number)
        left[card, False] = number - left[card, True]
    fresh, every = [(card, False) for card in kinds], [(c, m) for c in kinds for m in (False, True)]
    answers = (ATTACK, CARD_NAMES.index("defence"), RAID)
    sides = []
    for player in (1, 2):
        size = int(state["hand_size"][player])
        late = min(int(state["drawn"][0, player]), size)
        found = []
        for old, new in product(hands(size - late, fresh), hands(late, every)):
            total = old + new
            fits = all(
                fact == 0
                or (total[answers[a], False] + total[answers[a], True] > 0) == (fact == HELD)
                for a, fact in enumerate(state["answers"][player])
            )
            if fits and all(total[kind] <= left[kind] for kind in total):
                found.append((total, orders(old) * orders(new)))
        sides.append(found)
    numbers: Counter[Outcome] = Counter()
    for (one, ways), (other, other_ways) in product(*sides):
        both = one + other
        cards = math.prod(math.perm(left[kind], number) for kind, number in both.items())
        hand = tuple(h[card, False] + h[card, True] for h in (one, other) for card in kinds)
        if cards:
            numbers[hand] += cards * ways * other_ways
    return numbers


def orders(hand: Counter[tuple[int, bool]]) -> int:
    """Count the orders in which the kinds of a hand can have been drawn."""
    return math.factorial(sum(hand.values())) // math.prod(map(math.factorial, hand.values()))

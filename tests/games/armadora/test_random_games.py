"""Whole games of Armadora agree with the slow reference, and states keep their guarantees.

`scripts/checks/verify_games.py` makes the same checks on any number of games.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from armarl.games.make_game import make_game
from reference.armadora.checks import (
    VARIANTS,
    check_game,
    check_random_games,
    check_warriors,
    variant_name,
)
from reference.armadora.game import (
    LINES,
    MINES,
    PILES,
    SITES,
    allows,
    kind_of,
    lines_around,
    territories,
)

GAMES = 30  # for each variant
SAMPLE = 0.02
EVERY_VARIANT = pytest.mark.parametrize("variant", VARIANTS, ids=variant_name)
CORNERS = {
    "ARM-13: no second palisade, supply empty",
    "ARM-13: no second palisade, no line open",
    "ARM-14: must pass",
    "ARM-17: 2 tied",
    "ARM-18: nobody has points",
    "ARM-22: turn ends after mage",
    "ARM-29: tie broken",
    "ARM-30: more arrows than value",
    "ARM-30: arrows and reinforcement",
}


@EVERY_VARIANT
def test_random_games_agree_with_the_reference(variant):
    occurred = check_random_games(variant, range(GAMES), SAMPLE)
    assert occurred["games"] == GAMES
    assert occurred["states checked whole"] > 0


@EVERY_VARIANT
@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(seed=st.integers(0, 2**63 - 1), choices=st.lists(st.integers(0, 2**16), max_size=150))
def test_any_sequence_of_choices_agrees_with_the_reference(variant, seed, choices):
    """Hypothesis generates the games, and shrinks a failing game to few Warriors and low ids."""
    left = iter(choices)

    def choose(texts):
        kinds = sorted({kind_of(text) for text in texts})
        number = next(left, None)
        if number is None:
            raise IndexError("the choices are used up")
        of_kind = [text for text in texts if kind_of(text) == kinds[number % len(kinds)]]
        return of_kind[number // len(kinds) % len(of_kind)]

    game = make_game("armadora", **variant)
    check_game(game, seed, choose, random.Random(seed), sample=0.05)


def test_games_reach_rare_cases_of_the_rules():
    """Without the rare cases, the random games above would prove little.

    Games are played until all cases have occurred, but at most 120.
    """
    occurred = Counter()
    for seed, players in product(range(1000, 1040), (2, 3, 4)):
        variant = {"players": players, "advanced": True, "peek": True}
        occurred += check_random_games(variant, range(seed, seed + 1), 0.0)
        if not (missing := CORNERS - occurred.keys()):
            break
    assert not missing, f"never reached: {sorted(missing)}"


def test_the_reference_allows_exactly_the_palisades_of_arm_12():
    """The reference's shortcut, two short flood fills per line, agrees with the text of ARM-12."""
    for seed in range(4):
        rng, standing = random.Random(seed), set()
        while open_lines := [line for line in LINES if allows(standing, line)]:
            for line in LINES:
                smallest = min(map(len, territories({*standing, line})))
                assert allows(standing, line) == (line not in standing and smallest >= 4)
            standing.add(rng.choice(open_lines))


# --- dealing -------------------------------------------------------------------------------------


def _fair(counts, expected):
    """Return whether binomial counts are within five standard deviations."""
    return all(abs(count - expected) < 5 * math.sqrt(expected) for count in counts)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_gold_and_characters_are_dealt_evenly(players):
    game = make_game("armadora", players=players, advanced=True)
    states = game.new_states(np.arange(4000))
    for mine in range(len(MINES)):
        for pile in set(PILES):
            n = (states["gold"][:, mine] == pile).sum()
            assert _fair([n], 4000 * PILES.count(pile) / 8)
    for seat in range(players):
        assert _fair(np.bincount(states["character"][:, seat], minlength=5)[1:], 1000)


def test_neighbouring_seeds_and_negative_seeds_deal_differently():
    game = make_game("armadora")
    seeds = np.array([0, 1, 2, -1, -2, 2**63 - 1, -(2**63)])
    states = game.new_states(seeds)
    assert len({state.tobytes() for state in states["gold"]}) == len(seeds)
    assert states.tobytes() == b"".join(game.new_states(seed).tobytes() for seed in seeds)


# --- states as bytes -----------------------------------------------------------------------------


def test_a_state_has_no_bytes_outside_its_fields():
    """Copies may lose bytes outside the fields, and then equal states would differ."""
    dtype = make_game("armadora").blank.dtype
    assert sum(dtype[name].itemsize for name in dtype.names) == dtype.itemsize


@EVERY_VARIANT
def test_a_batch_plays_its_games_as_single_games(variant):
    game = make_game("armadora", **variant)
    seeds = np.arange(16)
    batch = game.new_states(seeds)
    alone = [game.new_states(seed) for seed in seeds]
    rng = np.random.default_rng(0)
    for _ in range(60):
        going = np.flatnonzero(game.statuses(batch)[0] == 0)
        masks = game.legal_masks(batch)[going]
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks], np.int64)
        game.apply(batch, going, actions)
        for i, action in zip(going, actions, strict=True):
            game.apply(alone[i], np.array([0]), np.array([action]))
    assert batch.tobytes() == b"".join(states.tobytes() for states in alone)


# --- new deals of hidden information -------------------------------------------------------------


def _played(game, *texts):
    states = game.new_states(0)
    for text in texts:
        action = game.actions.id(text)
        assert game.legal_masks(states)[0][action], text
        game.apply(states, np.array([0]), np.array([action]))
    return states


def test_determinise_deals_the_hidden_warriors_uniformly():
    game = make_game("armadora", players=2)
    states = _played(game, "W1 a1", "W5 b1", "W3 c1", "W2 a2")
    n = 16_000
    dealt = game.determinised(np.repeat(states, n), np.zeros(n, int), np.arange(n))
    check_warriors(game, dealt)
    assert (dealt["value"][:, SITES.index("a1")] == 1).all()
    for square in (1, 8):  # b1 and a2
        counts = np.bincount(dealt["value"][:, square], minlength=6)[1:]
        for count, number in zip(counts, (11, 2, 1, 1, 1), strict=True):
            assert _fair([count], n * number / 16)
    both_ones = ((dealt["value"][:, 1] == 1) & (dealt["value"][:, 8] == 1)).sum()
    assert _fair([both_ones], n * (11 / 16) * (10 / 15))


def test_determinise_without_peek_keeps_the_own_hand_and_moves_the_hidden_values():
    game = make_game("armadora", players=2, peek=False)
    states = _played(game, "W1 a1", "W1 b1", "W3 c1", "W2 a2", "W5 c2", "W4 a3")
    n = 6000
    dealt = game.determinised(np.repeat(states, n), np.zeros(n, int), np.arange(n))
    check_warriors(game, dealt)
    assert (dealt["hand"][:, 0] == states["hand"][0, 0]).all()
    own = dealt["value"][:, [0, 2, 10]]  # a1, c1 and c2 have 1, 3 and 5 in some order
    assert (np.sort(own, axis=1) == [1, 3, 5]).all()
    orders = Counter(map(tuple, own.tolist()))
    assert len(orders) == 6
    assert _fair(orders.values(), n / 6)


def test_determinise_gives_each_state_its_own_later_chance():
    game = make_game("armadora", players=3, advanced=True)
    states = np.repeat(game.new_states(0), 50)
    dealt = game.determinised(states, np.zeros(50, int), np.arange(50))
    assert len(set(dealt["rng"].tolist())) == 50
    assert (game.concealed(states, np.zeros(50, int))["rng"] == 0).all()


def test_lines_around_a_set_are_its_border():
    assert sorted(lines_around(["a1", "b1", "a2", "b2"])) == ["a2-a3", "b1-c1", "b2-b3", "b2-c2"]

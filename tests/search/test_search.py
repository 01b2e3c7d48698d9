"""Search players: the information they use, the wins they must find, and reproducibility."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiny
from armarl import make_game
from armarl.compiler.randomness import list_legal, pick
from armarl.core import threads
from armarl.players.protocol import Thinker, Thoughts
from armarl.players.simple_players import GreedyPlayer, RandomPlayer
from armarl.search import (
    FlatPlayer,
    IsmctsPlayer,
    PolicySearchPlayer,
    RolloutPlayer,
    SearchPlayer,
    best_search,
)
from armarl.search.settings import LARGEST
from armarl.search.tree import one_of
from searching import asked, evaluations, same, won_positions
from variants import every_game, every_variant

PLAYERS = [SearchPlayer, IsmctsPlayer, FlatPlayer]
every_method = pytest.mark.parametrize("player", PLAYERS, ids=lambda player: player.method)


@settings(deadline=None)  # the first call compiles code
@given(legal=st.lists(st.booleans(), min_size=1, max_size=70), number=st.integers(0, 2**53 - 1))
def test_legal_actions_are_listed_and_drawn_from_the_mask(legal, number):
    draw = number / 2**53
    mask, actions = np.array(legal, np.int8), np.full(len(legal), 99, np.uint32)
    found = list_legal(mask, actions)
    assert actions[:found].tolist() == np.flatnonzero(mask).tolist()
    if found:
        assert one_of(actions, found, draw) == pick(mask, draw)


@every_variant
def test_search_uses_no_hidden_information(variant):
    """The result is the same with the true state, the concealed one, or another consistent one."""
    game = variant.make()
    states, seats = tiny.positions(game, 12)
    draws = np.random.default_rng(1).random(states.size)
    others = game.determinised(states, seats, np.arange(states.size))
    player = SearchPlayer(game, 40, depth=20)
    found = player.think(game.concealed(states, seats), seats, draws)
    for truth in (states, others):
        assert same(found, player.think(truth, seats, draws))


@every_game
@every_method
def test_threads_and_batches_change_no_search(variant, player):
    game = variant.make()
    states, seats, draws = asked(game, 12)
    searcher = player(game, 60, depth=10)
    before = threads.get_threads()
    found = []
    for number in (1, 2, 4):
        threads.set_threads(number)
        found.append(searcher.think(states, seats, draws))
    threads.set_threads(before)
    assert same(found[0], found[1])
    assert same(found[0], found[2])
    for i in (0, 5):
        alone = searcher.think(states[i : i + 1], seats[i : i + 1], draws[i : i + 1])
        assert same(alone, [part[i : i + 1] for part in found[0]])


@every_game
@every_method
def test_thoughts_have_only_legal_actions_and_add_up(variant, player):
    game = variant.make()
    states, seats, draws = asked(game)
    searcher = player(game, 100, depth=5)
    assert isinstance(searcher, Thinker)
    thoughts = searcher.think(states, seats, draws)
    legal = game.legal_masks(states) == 1
    assert (thoughts.visits.sum(axis=1) == 100).all()
    assert (thoughts.visits[~legal] == 0).all()
    assert np.array_equal(np.isnan(thoughts.values), thoughts.visits == 0)
    assert (np.abs(thoughts.values[thoughts.visits > 0]) <= 1 + 1e-6).all()
    assert np.allclose(thoughts.probabilities.sum(axis=1), 1)
    actions = searcher.choose(states, seats, draws)
    assert legal[np.arange(actions.size), actions].all()
    assert (thoughts.probabilities[np.arange(actions.size), actions] > 0).all()


def test_flat_search_tries_all_actions_equally_often():
    game = make_game("armadora", players=2)
    states, seats, draws = asked(game)
    legal = game.legal_masks(states).sum(axis=1, dtype=np.int64)
    visits = FlatPlayer(game, 500).think(states, seats, draws).visits
    for row, number in zip(visits, legal, strict=True):
        assert row.max() - row[row > 0].min() <= 1
        assert (row > 0).sum() == min(number, 500)


@pytest.mark.parametrize("player", PLAYERS[:2])
def test_urgency_decides_when_new_actions_are_tried(player):
    game = make_game("armadora", players=2)
    states, seats, draws = asked(game)
    # With a high urgency, the search tries all new actions first.
    first = player(game, 200).think(states, seats, draws)
    assert same(first, player(game, 200, urgency=1e6).think(states, seats, draws))


def test_without_urgency_only_the_scripted_choice_is_tried():
    game = make_game("armadora", players=2)
    states, seats, draws = asked(game)

    def tried(urgency):
        player = IsmctsPlayer(game, 200, led=True, urgency=urgency)
        return (player.think(states, seats, draws).visits > 0).sum(axis=1)

    assert (tried(-3) == 1).all()
    assert ((tried(0.3) > 1) & (tried(0.3) < tried(np.inf))).any()


@every_method
@pytest.mark.parametrize("players", [2, 3, 4])
def test_search_takes_a_forced_win(players, player):
    """All other players have passed and the side is ahead, so the search must not lose."""
    game = make_game("armadora", players=players)
    states, seats = won_positions(game, 8)
    searcher = player(game, 300)
    every = np.arange(states.size)
    chance = game.new_chance(every)
    live = every
    while live.size:
        seen, movers, draws = game.questions(states, live, chance)
        game.apply(states, live, searcher.choose(seen, movers, draws))
        live = every[game.statuses(states)[0] == 0]
    assert (game.returns(states, every)[every, seats] == 1).all()


def test_depth_0_evaluates_the_next_positions():
    """In Armada without cards nothing is hidden, so one visit of an action gives the evaluation."""
    game = make_game("armada", players=2)
    states, seats, draws = asked(game, 4)
    for i in range(states.size):
        legal = np.flatnonzero(game.legal_masks(states[i : i + 1])[0])
        player = FlatPlayer(game, legal.size, depth=0)
        thoughts = player.think(states[i : i + 1], seats[i : i + 1], draws[i : i + 1])
        assert (thoughts.visits[0, legal] == 1).all()
        after = np.repeat(states[i : i + 1], legal.size)
        game.apply(after, np.arange(legal.size), legal)
        steady = after["thrown"] == 0  # no die was rolled
        expected = evaluations(game, after)[:, seats[i]]
        assert np.allclose(thoughts.values[0, legal][steady], expected[steady], atol=1e-6)


@pytest.mark.parametrize("rows", [2, 3, 10])
def test_a_full_tree_can_still_be_searched(rows):
    game = make_game("armadora", players=2)
    states, seats, draws = asked(game)
    small = SearchPlayer(game, 200, rows=rows, observers="multiple").think(states, seats, draws)
    assert (small.visits.sum(axis=1) == 200).all()
    large = SearchPlayer(game, 200, observers="multiple").think(states, seats, draws)
    assert not np.array_equal(small.visits, large.visits)


def test_more_rows_than_needed_change_nothing():
    game = make_game("armadora", players=2)
    states, seats, draws = asked(game)
    for method in PLAYERS[:2]:
        enough = method(game, 120).think(states, seats, draws)
        more = method(game, 120, rows=500).think(states, seats, draws)
        assert same(enough, more)


def test_a_time_limit_ends_the_search():
    game = make_game("armadora", players=2)
    states, seats, draws = asked(game, 3)
    thoughts = SearchPlayer(game, milliseconds=5).think(states, seats, draws)
    assert (thoughts.visits.sum(axis=1) >= 32).all()
    legal = game.legal_masks(states) == 1
    assert (thoughts.visits[~legal] == 0).all()


def test_actions_that_look_alike_share_an_edge_in_trees_of_others():
    """In a seat's own tree, its actions are separate edges.

    In the trees of other seats, actions that look alike share one edge.
    """
    game = make_game("armadora", players=2)
    player = SearchPlayer(game, 10, observers="multiple")
    one, five = game.actions.id("W1 c3"), game.actions.id("W5 c3")
    assert player.public[one] == player.public[five] == one
    palisade = game.actions.id("P a1-b1")
    assert player.public[palisade] == palisade


def test_temperature_draws_actions_by_their_visits():
    game = make_game("armadora", players=2)
    states, seats, draws = asked(game)
    thoughts = IsmctsPlayer(game, 300, temperature=1).think(states, seats, draws)
    assert np.allclose(thoughts.probabilities, thoughts.visits / 300)
    many = np.random.default_rng(0).random(200)
    player = IsmctsPlayer(game, 20, temperature=1)
    chosen = player.choose(np.repeat(states[:1], 200), np.repeat(seats[:1], 200), many)
    assert len(set(chosen.tolist())) > 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"simulations": 0}, "simulations must be from 1 to"),
        ({"simulations": 5, "milliseconds": 5}, "not both"),
        ({"milliseconds": -1}, "milliseconds must be above 0"),
        ({"observers": "two"}, "observers must be single or multiple"),
        ({"depth": -2}, "depth must be -1 or more"),
        ({"scripted": 2}, "scripted must be 0 to 1"),
        ({"reward": "gems"}, "reward must be"),
        ({"margin": "gems"}, "reward must be"),
        ({"temperature": -1}, "temperature must be 0 to"),
        ({"temperature": np.inf}, "temperature must be 0 to"),
        ({"rows": 0}, "rows must be from 1 to"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        SearchPlayer(make_game("armadora"), **options)


METHODS = [*PLAYERS, RolloutPlayer, best_search]


@pytest.mark.parametrize("player", METHODS, ids=lambda player: player.__name__)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"simulations": 2.5}, "simulations must be an integer, not 2.5"),
        ({"simulations": True}, "simulations must be an integer, not True"),
        ({"milliseconds": True}, "milliseconds must be a number, not True"),
        ({"milliseconds": "5"}, "milliseconds must be a number, not '5'"),
    ],
)
def test_budgets_of_other_types_are_refused(player, options, message):
    """Regression: `choose` failed with a bare TypeError, or True counted as 1."""
    with pytest.raises(TypeError, match=message):
        player(make_game("armadora"), **options)


@every_method
def test_unknown_settings_are_refused(player):
    """Regression: a misspelt setting was ignored."""
    said = rf"^unexpected keyword argument 'exploraton': {player.method} has no setting "
    said += (
        r"'exploraton' \(did you mean exploration\?\); it takes game, simulations, .*margin_share$"
    )
    with pytest.raises(TypeError, match=said):
        player(make_game("armadora"), 10, exploraton=3.0)
    with pytest.raises(TypeError, match=r"did you mean temperature\?"):
        player(make_game("armadora"), 10, temperatures=1)


@pytest.mark.parametrize(("player", "name"), [(SearchPlayer, "depth"), (RolloutPlayer, "turns")])
def test_settings_must_be_numbers(player, name):
    with pytest.raises(TypeError, match=f"{name} must be a number, not 'far'"):
        player(make_game("armadora"), 10, **{name: "far"})


@pytest.mark.parametrize("player", METHODS, ids=lambda player: player.__name__)
def test_the_name_of_a_game_is_no_game(player):
    """Regression: the error was an AttributeError of str."""
    with pytest.raises(TypeError, match=r"game must be a Game, as make_game returns it.*armadora"):
        player("armadora", 10)


@every_game
@pytest.mark.parametrize(
    "make",
    [
        *(partial(player, simulations=20, depth=5) for player in PLAYERS),
        partial(SearchPlayer, simulations=20, depth=5, observers="multiple"),
        partial(RolloutPlayer, simulations=20, turns=1),
        lambda game: PolicySearchPlayer(game, tiny.network(game), 16),
    ],
    ids=["grave", "ismcts", "flat", "multiple", "rollout", "policy"],
)
def test_thoughts_are_empty_out_of_turn(variant, make):
    """Regression: probabilities summed to 1, and the value of a finished game was NaN."""
    game = variant.make()
    player = make(game)
    states, seats, draws = asked(game, 6)
    over = game.new_states(np.arange(3))
    game.playouts(over, seeds=np.arange(3))
    every = np.concatenate([states, states, over])
    whose = np.concatenate([seats, (seats + 1) % game.players, np.arange(3) % game.players])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        thoughts = player.think(every, whose, np.resize(draws, every.size))
        empty = player.think(over[:0], whose[:0], draws[:0])
    n = states.size
    assert same(player.think(states, seats, draws), [field[:n] for field in thoughts])
    assert empty.probabilities.shape == (0, len(game.actions))
    assert not thoughts.probabilities[n:].any()
    assert not thoughts.visits[n:].any()
    assert np.isnan(thoughts.values[n:]).all()
    assert np.isfinite(thoughts.value).all()
    returns = game.returns(over, np.arange(3))[np.arange(3), whose[-3:]]
    np.testing.assert_array_equal(thoughts.value[-3:], returns)


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("player", PLAYERS[:2])
def test_the_value_of_a_seat_that_waits_is_its_own(players, player):
    """Regression: it was the value of the seat to move, which wins here."""
    game = make_game("armadora", players=players)
    states, movers = won_positions(game, 3)
    for behind in range(1, players):
        seats = (movers + behind) % players
        draws = np.full(states.size, 0.5)
        value = player(game, 300).think(game.concealed(states, seats), seats, draws).value
        partners = np.array(game.sides)[seats] == np.array(game.sides)[movers]
        assert (value[partners] > 0).all()
        assert (value[~partners] < 0).all()


# --- search around a policy -----------------------------------------------------------------------


class Uniform:
    """A policy with equal logits and no values."""

    def __init__(self, game):
        self.name, self.game = "uniform", game

    def choose(self, states, seats, draws):
        return RandomPlayer(self.game).choose(states, seats, draws)

    def think(self, states, seats, draws):
        masks = self.game.legal_masks(states).astype(float)
        masks += masks.sum(axis=1, keepdims=True) == 0  # it is not the seat's turn
        return Thoughts(masks / masks.sum(axis=1, keepdims=True), value=np.zeros(states.size))


def test_policy_search_uses_nothing_hidden_and_changes_probabilities():
    game = make_game("armadora", players=2)
    states, seats, draws = asked(game, 5)
    others = game.determinised(states, seats, np.arange(states.size))
    network = tiny.network(game)
    player = PolicySearchPlayer(game, network, 24, candidates=4, eta=5)
    thoughts = player.think(states, seats, draws)
    assert same(thoughts, player.think(others, seats, draws))
    assert (thoughts.visits.sum(axis=1) == 24).all()
    before = network.think(states, seats, draws).probabilities
    legal = game.legal_masks(states) == 1
    assert (thoughts.probabilities[~legal] == 0).all()
    assert np.allclose(thoughts.probabilities.sum(axis=1), 1)
    best = np.nanargmax(thoughts.values, axis=1)
    rows = np.arange(states.size)
    ratio = thoughts.probabilities / np.where(legal, before, 1)
    tried = thoughts.visits > 0
    assert (ratio[rows, best][:, None] >= np.where(tried, ratio, 0) - 1e-9).all()


def test_policy_search_plays_to_the_end_of_short_games():
    """Around a uniform policy, a search to the end of the game finds the wins."""
    game = make_game("armadora", players=2)
    states, seats = won_positions(game, 4)
    seen = game.concealed(states, seats)
    player = PolicySearchPlayer(game, Uniform(game), 512, candidates=300, turns=60, eta=100)
    actions = player.choose(seen, seats, np.full(states.size, 0.3))
    thoughts = player.think(seen, seats, np.full(states.size, 0.3))
    rows = np.arange(states.size)
    assert (thoughts.values[rows, actions] >= np.nanmax(thoughts.values, axis=1) - 0.2).all()


def test_a_seat_that_is_not_to_move_is_refused():
    game = make_game("armadora")
    states, seats, draws = asked(game)
    with pytest.raises(
        ValueError, match=f"in state 0, seat {seats[0]} is to move, not seat {1 - seats[0]}"
    ):
        IsmctsPlayer(game, 2).choose(states, 1 - seats, draws)


def test_policy_search_refuses_players_without_thoughts():
    game = make_game("armadora")
    with pytest.raises(ValueError, match="reports probabilities and a value, got greedy"):
        PolicySearchPlayer(game, GreedyPlayer(game))
    with pytest.raises(ValueError, match="probabilities and a value, got random"):
        PolicySearchPlayer(game, RandomPlayer(game))
    with pytest.raises(ValueError, match="candidates must be from 2 to 16777216, not 1"):
        PolicySearchPlayer(game, tiny.network(game), candidates=1)


@pytest.mark.parametrize("name", ["eta", "entropy"])
@pytest.mark.parametrize("number", [2**31, 1e300, float("inf"), float("nan"), -1])
def test_policy_search_refuses_infinite_or_huge_numbers(name, number):
    """Regression: products of some numbers were NaN, and an illegal action was chosen."""
    game = make_game("armadora")
    with pytest.raises(ValueError, match=rf"{name} must be 0 to 2147483647, got "):
        PolicySearchPlayer(game, Uniform(game), **{name: number})


@pytest.mark.parametrize("name", ["simulations", "candidates", "turns", "longest"])
def test_policy_search_counts_in_whole_numbers(name):
    game = make_game("armadora")
    for number in (2**31, -1):
        with pytest.raises(ValueError, match=rf"{name} must be from . to 16777216, not "):
            PolicySearchPlayer(game, Uniform(game), **{name: number})
    for number in (2.5, True, float("inf"), float("nan")):
        with pytest.raises(TypeError, match=rf"{name} must be an integer, not {number}"):
            PolicySearchPlayer(game, Uniform(game), **{name: number})


@pytest.mark.parametrize(
    ("player", "name"),
    [
        (SearchPlayer, "depth"),
        (SearchPlayer, "reference"),
        (RolloutPlayer, "candidates"),
        (RolloutPlayer, "turns"),
        (RolloutPlayer, "longest"),
    ],
)
def test_counts_must_be_whole_numbers_in_range(player, name):
    game = make_game("armadora")
    for number in (float("inf"), 2**25, 1e300):
        with pytest.raises(ValueError, match=f"{name} must be at most 16777216 in size"):
            player(game, 2, **{name: number})
    with pytest.raises(ValueError, match=f"{name} must be a whole number, got 2.5"):
        player(game, 2, **{name: 2.5})


def test_policy_search_plays_rollouts_in_portions(monkeypatch):
    """Regression: all rollouts of a decision ran together. Two billion do not fit into memory."""
    game = make_game("armadora")
    question = asked(game, 3)
    player = PolicySearchPlayer(game, Uniform(game), 60, candidates=3)
    whole, begin, sizes = player.think(*question), player._begin, []

    def counted(*arguments):
        rollouts = begin(*arguments)
        sizes.append(rollouts.root.size)
        return rollouts

    monkeypatch.setattr(player, "_begin", counted)
    monkeypatch.setattr("armarl.search.improve.MOST_STATES", 10)
    assert same(player.think(*question), whole)
    assert max(sizes) <= 10
    assert sum(sizes) == whole.visits.sum()


def test_policy_search_with_the_largest_numbers_plays_legally():
    game = make_game("armadora")
    states, seats, draws = asked(game)
    most = {"eta": LARGEST, "entropy": LARGEST}
    for limits in (most, {"eta": most["eta"]}):
        player = PolicySearchPlayer(game, tiny.network(game), 24, sample=True, **limits)
        thoughts = player.think(states, seats, draws)
        assert np.isfinite(thoughts.probabilities).all()
        assert (thoughts.probabilities[game.legal_masks(states) == 0] == 0).all()

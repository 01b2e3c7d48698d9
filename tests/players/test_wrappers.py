"""Wrappers of players: noise, random openings, patience."""

import numpy as np
import pytest

import tiny
from armarl.games.catalogue import game_entry
from armarl.games.make_game import make_game
from armarl.players.protocol import choose_legally
from armarl.players.simple_players import GreedyPlayer, RandomPlayer
from armarl.players.wrappers import split_draws
from armarl.roster.make_player import make_player
from variants import KUHN_POKER, every_game, every_variant

TWO = make_game("armadora")


@every_variant
def test_wrapped_players_choose_legally_and_only_by_their_random_numbers(variant):
    game = variant.make()
    states, seats = tiny.positions(game, 20)
    seen, draws = game.concealed(states, seats), np.linspace(0, 0.999, seats.size)
    texts = ["greedy:noise=0.5", "random:noise=1"]
    if game_entry(game.name).part("rivals"):
        texts += ["random:patient", "greedy:first_random=2"]
    for text in texts:
        player = make_player(text, game)
        chosen = choose_legally(player, game, seen, seats, draws)
        order = np.arange(seats.size)[::-1]
        shuffled = choose_legally(player, game, game.taken(seen, order), seats[order], draws[order])
        assert np.array_equal(chosen[order], shuffled)


@every_game
def test_noise_chooses_random_legal_actions(variant):
    game = variant.make()
    states, seats = tiny.positions(game, seed=3)
    many = game.taken(game.concealed(states, seats), np.zeros(4000, int))
    seats, draws = np.repeat(seats[:1], 4000), np.random.default_rng(0).random(4000)
    calm, wild = (make_player(f"greedy:noise={noise}", game) for noise in (0, 1))
    greedy = GreedyPlayer(game).choose(many, seats, split_draws(draws)[1])
    assert np.array_equal(calm.choose(many, seats, draws), greedy)
    counts = np.unique(wild.choose(many, seats, draws), return_counts=True)[1]
    legal = int(game.legal_masks(many[:1]).sum())
    assert counts.size > 0.9 * legal  # nearly all of the legal actions
    half = make_player("greedy:noise=0.5", game).choose(many, seats, draws)
    likely = 0.5 + 0.5 * np.isin(wild.choose(many, seats, draws), greedy).mean()
    assert (half == greedy).mean() == pytest.approx(likely, abs=0.05)


def test_split_draws_are_uniform_and_independent():
    one, other = split_draws(np.random.default_rng(1).random(100_000))
    for numbers in (one, other):
        assert 0 <= numbers.min() < numbers.max() < 1
        assert np.abs(np.histogram(numbers, 20)[0] - 5000).max() < 400
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.02
    near = split_draws(np.arange(1000) * 2.0**-53)[0]  # adjacent random numbers
    assert np.abs(np.histogram(near, 10)[0] - 100).max() < 50


def test_a_patient_player_passes_last():
    game, player = TWO, make_player("random:patient", TWO)
    states = game.new_states(np.arange(40))
    passing, chance = game.actions.id("pass"), game.new_chance(np.arange(40))
    while (running := np.flatnonzero(game.statuses(states)[0] == 0)).size:
        masks = game.legal_masks(game.taken(states, running))
        seen, seats, draws = game.questions(states, running, chance)
        actions = choose_legally(player, game, seen, seats, draws)
        gave_up = actions == passing
        assert (masks[gave_up].sum(axis=1) == 1).all()
        game.apply(states, running, actions)


def test_a_random_opening_lasts_until_the_first_warrior():
    """Play is random until the seat has a Warrior on the board, and greedy after that."""
    game = TWO
    states = game.new_states(np.arange(200))
    seats, draws = np.zeros(200, int), np.random.default_rng(2).random(200)
    opening = make_player("greedy:first_random=1", game)
    seen = game.concealed(states, seats)
    assert np.array_equal(
        opening.choose(seen, seats, draws), RandomPlayer(game).choose(seen, seats, draws)
    )
    for text in ("W1 a1", "W1 b1"):
        game.apply(states, np.arange(200), np.full(200, game.actions.id(text)))
    seen = game.concealed(states, seats)
    greedy = GreedyPlayer(game).choose(seen, seats, draws)
    assert np.array_equal(opening.choose(seen, seats, draws), greedy)
    twice = make_player("greedy:first_random=2", game)
    assert not np.array_equal(twice.choose(seen, seats, draws), greedy)


@every_variant
def test_the_progress_of_a_seat_never_falls_and_is_public(variant):
    game, rng = variant.make(), np.random.default_rng(4)
    states = game.new_states(np.arange(8))
    seats = np.repeat(np.arange(game.players), states.size)
    before = np.zeros(seats.size, np.int64)
    assert not game.progress(game.taken(states, seats), seats).any()
    for _ in range(60):
        each = game.taken(states, np.tile(np.arange(states.size), game.players))
        progress = game.progress(each, seats)
        assert (progress >= before).all()
        for eye in range(game.players):
            hidden = game.concealed(each, np.full(seats.size, eye))
            assert np.array_equal(game.progress(hidden, seats), progress)
        before = progress
        if not (running := np.flatnonzero(game.statuses(states)[0] == 0)).size:
            break
        masks = game.legal_masks(game.taken(states, running))
        game.apply(states, running, tiny.random_actions(masks, rng))
    assert (before.max() > 0) == game.has_progress


def test_a_game_without_progress_of_seats_has_no_random_openings():
    with pytest.raises(ValueError, match="first_random needs the verb `progress`, which kuhn_p"):
        make_player("greedy:first_random=1", KUHN_POKER[0].make())


def test_a_random_opening_can_be_the_preliminary_turn():
    game = make_game("armada", max_turns=6)
    states = game.new_states(np.arange(50))
    seats, draws = game.statuses(states)[1], np.random.default_rng(2).random(50)
    opening = make_player("greedy:first_random=1", game)
    seen = game.concealed(states, seats)
    assert np.array_equal(
        opening.choose(seen, seats, draws), RandomPlayer(game).choose(seen, seats, draws)
    )

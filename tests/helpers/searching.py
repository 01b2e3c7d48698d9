"""Positions and comparisons for tests of search players."""

from __future__ import annotations

import numpy as np

import tiny


def asked(game, number=6, seed=0):
    """Return concealed positions, seats and random numbers: the arguments of `Player.choose`."""
    states, seats = tiny.positions(game, number, seed)
    draws = np.random.default_rng(seed).random(states.size)
    return game.concealed(states, seats), seats, draws


def same(one, other):
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


def won_positions(game, number):
    """Return positions in which only one seat has not passed, and wins if it passes now.

    It wins with any hidden information.
    """
    passing, one, chosen, seats = game.actions.id("pass"), np.zeros(1, np.int64), [], []
    for seed in range(2000):
        rng, states = np.random.default_rng(seed), game.new_states(seed)
        while not game.statuses(states)[0][0]:
            mask, seat = game.legal_masks(states)[0], int(game.statuses(states)[1][0])
            alone = states["passed"][0, : game.players].sum() == game.players - 1
            if alone and mask[passing] and mask.sum() > 9:
                ends = game.determinised(np.repeat(states, 50), np.full(50, seat), np.arange(50))
                every = np.arange(50)
                game.apply(ends, every, np.full(50, passing))
                if (game.returns(ends, every)[:, seat] == 1).all():
                    chosen.append(states)
                    seats.append(seat)
                break
            game.apply(states, one, rng.choice(np.flatnonzero(mask), 1))
        if len(chosen) == number:
            return np.concatenate(chosen), np.array(seats)
    raise AssertionError(f"only {len(chosen)} such positions")


def evaluations(game, states):
    """Return the game's own evaluation of each state for every seat."""
    found = np.empty((states.size, game.players))
    for i in range(states.size):
        game.verbs.evaluate(states[i], found[i], *game.fixed_records)
    return found

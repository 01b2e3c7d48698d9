"""Validity of states: play reaches only valid ones, and an accepted state stays valid."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.environments.aec import RawAECEnv
from armarl.games.make_game import make_game

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("armadora", {"players": 2}),
    ("armadora", {"players": 3, "advanced": True, "peek": False}),
    ("armadora", {"players": 4, "advanced": True}),
    ("armadora", {"board": "mini"}),
    ("armada", {"players": 2, "cards": True, "enrolment": True, "max_turns": 40}),
    ("armada", {"players": 3, "cards": True, "max_turns": 40}),
    ("armada", {"players": 4, "enrolment": True, "max_turns": 40}),
]
EVERY = pytest.mark.parametrize(
    ("name", "options"), VARIANTS, ids=[f"{name}-{options}" for name, options in VARIANTS]
)


def played(game: Game, games: int, seed: int) -> States:
    """Return the states of some games between random players, one for each decision."""
    states = game.new_states(np.arange(games) + seed)
    chance = game.new_chance(np.arange(games) + seed)
    found = []
    while True:
        found.append(states.copy())
        going_on = np.flatnonzero(game.statuses(states)[0] == 0)
        if going_on.size == 0:
            return np.concatenate(found)
        actions = game.random_actions(game.legal_masks(states), chance)
        game.apply(states, going_on, actions[going_on])


def mutated(pool: States, count: int, rng: np.random.Generator) -> States:
    """Return states with one or two elements changed: slightly, randomly, or from another state."""
    states = pool[rng.integers(pool.size, size=count)].copy()
    fields = [name for name in states.dtype.names or () if name != "rng"]
    for i in range(count):
        for _ in range(rng.integers(1, 3)):
            name = fields[rng.integers(len(fields))]
            limits = np.iinfo(states[name].dtype)
            place = tuple(rng.integers(size) for size in states[name].shape[1:])
            kind = rng.integers(3)
            if kind == 0:
                value = int(states[name][i][place]) + int(rng.integers(-2, 3))
            elif kind == 1:
                value = int(rng.integers(limits.min, limits.max, dtype=states[name].dtype))
            else:
                value = int(pool[name][rng.integers(pool.size)][place])
            states[name][(i, *place)] = min(max(value, limits.min), limits.max)
    return states


@EVERY
def test_states_that_play_reaches_are_accepted(name: str, options: dict[str, Any]) -> None:
    game = make_game(name, **options)
    states = played(game, 8, seed=1)
    game.check_states(states)
    going_on = states[game.statuses(states)[0] == 0]
    seats = np.arange(going_on.size) % game.players
    game.check_states(game.determinised(going_on, seats, np.arange(going_on.size)))


@EVERY
def test_legal_play_from_an_accepted_state_reaches_only_accepted_states(
    name: str, options: dict[str, Any]
) -> None:
    """Otherwise the check of states would be incomplete."""
    game = make_game(name, **options)
    rng = np.random.default_rng(5)
    pool = played(game, 8, seed=3)
    strange = mutated(pool, 1500, rng)
    lawful = np.array([_is_lawful(game, strange[i : i + 1]) for i in range(strange.size)])
    assert 100 < lawful.sum() < strange.size - 300
    states = strange[lawful]
    chance = game.new_chance(np.arange(states.size))
    for _ in range(game.max_actions + 1):
        going_on = np.flatnonzero(game.statuses(states)[0] == 0)
        if going_on.size == 0:
            break
        masks = game.legal_masks(states)
        assert masks[going_on].any(axis=1).all()
        game.apply(states, going_on, game.random_actions(masks, chance)[going_on])
        game.check_states(states)
    assert game.statuses(states)[0].all()


@EVERY
def test_a_forged_saved_game_is_refused(name: str, options: dict[str, Any]) -> None:
    """Regression: forged games with a correct checksum crashed, hung, or broke the rules."""
    env = RawAECEnv(make_game(name, **options))
    env.reset(seed=0)
    saved = env.state_bytes()
    size, refused = env.game.blank.dtype.itemsize, 0
    pool, rng = played(env.game, 2, seed=3), np.random.default_rng(6)
    for state in mutated(pool, 200, rng):
        if _is_lawful(env.game, state.reshape(1)):
            continue
        record = state.tobytes()
        forged = saved[: -size - 4] + record + zlib.crc32(record).to_bytes(4, "big")
        with pytest.raises(ValueError, match=r"not a valid state of|another variant"):
            env.load_state(forged)
        assert env.state_bytes() == saved
        refused += 1
    assert refused > 50


def _is_lawful(game: Game, states: States) -> bool:
    try:
        game.check_states(states)
    except ValueError:
        return False
    return True


@EVERY
def test_random_bytes_are_refused(name: str, options: dict[str, Any]) -> None:
    game = make_game(name, **options)
    rng = np.random.default_rng(7)
    for _ in range(200):
        data = rng.integers(256, size=game.blank.dtype.itemsize, dtype=np.uint8)
        where, values = game.option_bytes
        data[where] = values
        with pytest.raises(ValueError, match="not a valid state of"):
            game.check_states(data.view(game.blank.dtype))


def test_every_check_of_a_state_has_its_own_error_text() -> None:
    for name in ("armadora", "armada"):
        assert len(set(make_game(name).faults)) == len(make_game(name).faults) > 5

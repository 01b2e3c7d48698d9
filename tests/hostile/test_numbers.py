"""Actions, seats and seeds that are not integers, or that are too large."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from armarl import armadora_v0
from armarl.core.errors import IllegalActionError
from armarl.environments.seat_env import SeatEnv
from armarl.environments.self_play_batch import SelfPlayBatch
from armarl.environments.vector_env import SeatVectorEnv
from armarl.games.make_game import make_game
from variants import Variant, every_game

GAME = make_game("armadora")
STATE = GAME.new_states(0)[0]
TOO_LARGE = [2**63, 2**70, -(2**70), 10**5000, np.uint64(2**63)]


def short(number: Any) -> str:
    return f"{type(number).__name__} of {int(number).bit_length()} bits, {int(number) >= 0}"


@pytest.mark.parametrize("action", TOO_LARGE, ids=short)
def test_actions_out_of_range_are_illegal(action: Any) -> None:
    """Regression: `SeatEnv` silently stopped in mid-step; the others raised OverflowError."""
    env = SeatEnv(GAME, seat=0)
    env.reset(seed=1)
    _, reward, terminated, _, info = env.step(action)
    assert (reward, terminated, info["illegal_action"]) == (-1, True, 1)
    assert str(env.refusal).startswith("there is no action")
    env.reset()
    raw = armadora_v0.raw_env()
    raw.reset(seed=1)
    before = raw.state_bytes()
    with pytest.raises(IllegalActionError, match="there is no action"):
        raw.step(action)
    assert raw.state_bytes() == before
    checked = armadora_v0.env()
    checked.reset(seed=1)
    with pytest.raises(AssertionError, match="not in action space"):
        checked.step(action)


@pytest.mark.parametrize("make", [armadora_v0.raw_env, armadora_v0.env, lambda: SeatEnv(GAME)])
def test_true_is_not_an_action(make: Callable[[], Any]) -> None:
    """Regression: True was played as action 1."""
    env = make()
    env.reset(seed=1)
    before = env.describe()
    for action in (True, np.True_):
        with pytest.raises((TypeError, AssertionError), match=r"must be an integer|action space"):
            env.step(action)
    assert env.describe() == before
    env.step(0)


@pytest.mark.parametrize("action", [2.5, 2.0, True, "2", None, np.array([2])])
def test_only_integers_have_the_notation_of_an_action(action: Any) -> None:
    """Regression: 2.5 got the notation of action 2."""
    for look in (GAME.actions.text, lambda number: GAME.explain(STATE, number)):
        with pytest.raises(TypeError, match="an action must be an integer"):
            look(action)
    assert GAME.actions.text(np.int32(2)) == GAME.actions.text(2)


@pytest.mark.parametrize("seat", [True, 1.0, np.array(1), "1"], ids=repr)
def test_seats_must_be_integers(seat: Any) -> None:
    """Regression: other values were accepted as seat 1, and the first step raised a Numba error."""
    for make in (lambda: SeatEnv(GAME, seat=seat), lambda: SeatVectorEnv(GAME, 2, seat=seat)):
        with pytest.raises(TypeError, match="seat must be an integer, not"):
            make()
    assert SeatEnv(GAME, seat=np.int64(1)).reset(seed=0)[1]["seat"] == 1  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [True, 1.0, np.array(1.0), [True, 2], [1, 2.0]], ids=repr)
def test_seeds_must_be_integers(seed: Any) -> None:
    """Regression: True was accepted as seed 1."""
    for games in (SelfPlayBatch(GAME, 2), SeatVectorEnv(GAME, 2)):
        with pytest.raises(TypeError, match="seed must be an integer, not"):
            games.reset(seed=seed)
        games.reset(seed=np.int64(1))  # type: ignore[arg-type]
        games.reset(seed=[1, 2])


@pytest.mark.parametrize("players", [2.0, True, "2", np.float64(3)], ids=repr)
@every_game
def test_numbers_of_players_must_be_integers(variant: Variant, players: Any) -> None:
    with pytest.raises(ValueError, match="for 2, 3 or 4 players, not"):
        make_game(variant.game, players=players)
    assert make_game(variant.game, players=np.int64(3)) is make_game(variant.game, players=3)

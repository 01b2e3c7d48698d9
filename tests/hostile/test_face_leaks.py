"""No environment shows a seat hidden information of others.

Observations, masks, infos, rewards and their times, error texts and pictures do not depend on
information that is hidden from the seat.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from armarl.analysis.leaks import assert_no_leak
from armarl.compiler.types import States
from armarl.core.errors import IllegalActionError
from armarl.core.game import Game
from armarl.environments.aec import CheckedAECEnv, RawAECEnv
from armarl.environments.seat_env import SeatEnv
from armarl.environments.self_play_batch import SelfPlayBatch
from armarl.environments.vector_env import SeatVectorEnv
from variants import Variant, every_rich_game

Views = Mapping[str, Any]


def illegal_action(game: Game, states: States) -> int:
    return int(np.flatnonzero(game.legal_masks(states)[0] == 0)[0])


def is_to_move(game: Game, states: States, seat: int) -> bool:
    return bool(game.statuses(states)[1][0] == seat)


def seat_env(game: Game, states: States, seat: int) -> Views:
    """Return the output of the Gymnasium environment, before and after an illegal action."""
    if not is_to_move(game, states, seat):
        return {}
    env = SeatEnv(game, seat=seat, render_mode="ansi")
    env.reset(seed=0)
    env._batch.states[:] = states
    return {
        "shown": env._observed(),
        "masks": env.action_masks(),
        "picture": env.render(),
        "description": env.describe(seat),
        "refused": env.step(illegal_action(game, states)),
        "picture after": env.render(),
        "masks after": env.action_masks(),
    }


def vector_env(game: Game, states: States, seat: int) -> Views:
    """Return the output of the Gymnasium vector environment."""
    if not is_to_move(game, states, seat):
        return {}
    env = SeatVectorEnv(game, 2, seat=seat, autoreset_mode="DISABLED", render_mode="ansi")
    env.reset(seed=0)
    env._batch.states[:] = states
    env._show()
    return {
        "shown": (env._observed(), env._infos(np.zeros(2, np.int8))),
        "masks": env.action_masks(),
        "pictures": env.render(),
        "refused": env.step(np.full(2, illegal_action(game, states))),
        "why": env.refusals,
        "pictures after": env.render(),
    }


def self_play(game: Game, states: States, seat: int) -> Views:
    """Return the output of the self-play batch for the seat whose turn it is."""
    if not is_to_move(game, states, seat):
        return {}
    batch = SelfPlayBatch(game, 1, autoreset_mode="DISABLED")
    batch.reset(seed=0)
    shown = vars(batch.load_states(states))
    return {"shown": shown, "refused": vars(batch.step(np.array([illegal_action(game, states)])))}


def aec_env(kind: type[RawAECEnv]) -> Callable[[Game, States, int], Views]:
    """Return a function that returns all output of a PettingZoo environment to any agent.

    It shows the environment before and after an illegal action.
    """

    def look(game: Game, states: States, seat: int) -> Views:
        env = kind(game)
        env.reset(seed=0)
        env._states[:] = states
        env._open(int(game.statuses(states)[1][0]))
        agent = env.possible_agents[seat]
        views = {"before": _aec_views(env, agent), "description": env.describe(seat)}
        if not is_to_move(game, states, seat):
            return views
        try:
            env.step(illegal_action(game, states))
        except IllegalActionError as error:
            views["error"] = str(error)
        return {**views, "after": _aec_views(env, agent)}

    return look


def _aec_views(env: RawAECEnv, agent: str) -> Views:
    columns = ("infos", "rewards", "terminations", "truncations", "_cumulative_rewards")
    own = {name: getattr(env, name)[agent] for name in columns}
    return {**own, "observed": env.observe(agent), "selected": env.agent_selection}


# Check only every n-th decision of these games, and every decision of other games.
EVERY = {"armadora": 9, "armada": 61}
FACES = {
    "gymnasium": seat_env,
    "vector": vector_env,
    "self-play": self_play,
    "aec raw": aec_env(RawAECEnv),
    "aec checked": aec_env(CheckedAECEnv),
}


@every_rich_game
@pytest.mark.parametrize("face", FACES)
@pytest.mark.filterwarnings("ignore")
def test_no_environment_shows_hidden_information(variant: Variant, face: str) -> None:
    every = EVERY.get(variant.game, 1)
    assert assert_no_leak(variant.make(), every=every, seed=5, look=FACES[face]) > 0


@every_rich_game
def test_an_environment_that_leaks_is_found(variant: Variant) -> None:
    """A picture with the state of the random number generator would reveal future chance events."""

    def look(game: Game, states: States, seat: int) -> Views:
        views = dict(seat_env(game, states, seat))
        return {**views, "picture": int(states["rng"].reshape(-1)[0])}

    with pytest.raises(AssertionError, match="picture"):
        assert_no_leak(variant.make(), every=EVERY.get(variant.game, 1), seed=5, look=look)


@every_rich_game
def test_rewards_come_only_at_the_end(variant: Variant) -> None:
    """An early reward would reveal hidden gold."""
    game = variant.make()
    batch = SelfPlayBatch(game, 8)
    turn, chance = batch.reset(seed=3), game.new_chance(np.arange(8))
    ended = 0
    while ended < 8:
        turn = batch.step(game.random_actions(turn.masks, chance))
        assert (turn.rewards[turn.ends == 0] == 0).all()
        ended += int((turn.ends != 0).sum())

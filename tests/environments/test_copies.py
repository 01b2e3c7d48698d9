"""Copies and pickles of every kind of environment, with every kind of player, at any time."""

from __future__ import annotations

import copy
import itertools
import multiprocessing
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

import tiny
from armarl import make_game, make_player
from armarl.environments.aec import CheckedAECEnv, RawAECEnv
from armarl.environments.seat_env import SeatEnv
from armarl.environments.self_play_batch import SelfPlayBatch
from armarl.environments.vector_env import SeatVectorEnv
from armarl.games.catalogue import game_names
from armarl.players.registry import shipped_policies
from armarl_training.vec_env import make_vec_env
from variants import KUHN_POKER


def out_of_band(env: Any) -> Any:
    """Pickle with out-of-band arrays, as Ray does. The loaded arrays are read-only."""
    outside: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(env, protocol=5, buffer_callback=outside.append)
    return pickle.loads(rest, buffers=[bytes(buffer.raw()) for buffer in outside])


WAYS = [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env)), out_of_band]


def going_on(env: Any, steps: int) -> list[Any]:
    """Play random legal actions from a fixed seed, and reset after each end."""
    rng, given = np.random.default_rng(2), []
    for _ in range(steps):
        masks = env.get_wrapper_attr("action_masks")()
        given.append(env.step(int(rng.choice(np.flatnonzero(masks)))))
        if any(given[-1][2:4]):
            given.append(env.reset())
    return given


def batch(env: Any, steps: int) -> list[Any]:
    """Play random legal actions in a Gymnasium batch that has been reset."""
    rng, given = np.random.default_rng(2), []
    for _ in range(steps):
        masks = env.action_masks() if hasattr(env, "action_masks") else given[-1][-1]["action_mask"]
        given.append(copy.deepcopy(env.step(tiny.random_actions(masks, rng))))
    return given


def aec(env: Any, steps: int) -> list[Any]:
    """Play the first legal actions of a PettingZoo environment that has been reset."""
    given = []
    for _ in range(steps):
        if not env.agents:
            env.reset()
        observation, *rest = env.last()
        over = any(rest[1:3])
        env.step(None if over else int(observation["action_mask"].argmax()))
        given.append((observation, *rest, env.agent_selection if env.agents else None))
    return given


def self_play(env: SelfPlayBatch, steps: int) -> list[Any]:
    """Play fixed random actions in every game of a batch that has been reset."""
    given, chance = [], env.game.new_chance(np.arange(env.size))
    for _ in range(steps):
        actions = env.game.random_actions(env.game.legal_masks(env.states), chance)
        given.append(dict(vars(env.step(actions))))
    return given


def reset(env: Any) -> None:
    if hasattr(env, "seed"):  # SB3's environments
        env.seed(5)
        env.reset()
    else:
        env.reset(seed=5)


FACES: dict[str, tuple[Callable[[str, Any], Any], Callable[[Any, int], list[Any]]]] = {
    "seat": (lambda game, rivals: SeatEnv(game, opponents=rivals), going_on),
    "made": (
        lambda game, rivals: gymnasium.make(f"armarl/{game.title()}-v0", opponents=rivals),
        going_on,
    ),
    "vector": (lambda game, rivals: SeatVectorEnv(game, 3, opponents=rivals), batch),
    "sb3": (lambda game, rivals: make_vec_env(game, 3, opponents=rivals), batch),
    "raw": (lambda game, rivals: RawAECEnv(make_game(game)), aec),
    "checked": (lambda game, rivals: CheckedAECEnv(make_game(game)), aec),
    "self-play": (lambda game, rivals: SelfPlayBatch(game, 3), self_play),
}
JUDGE, CRITIC, NETWORK = "armadora-2p", "armada-2p", "armada-2p-ppo"


@pytest.mark.parametrize("face", FACES)
def test_a_copy_continues_with_equal_bytes(face: str) -> None:
    """Regression: a copy of an environment with a judge as opponent raised a TypeError."""
    make, play = FACES[face]
    for steps, way in itertools.product([None, 0, 3, 40], WAYS):
        env = make("armadora", JUDGE)
        if steps is not None:
            reset(env)
            play(env, steps)
        twin = way(env)
        if steps is None:
            reset(env), reset(twin)
        assert data_equivalence(play(twin, 12), play(env, 12), exact=True)


@pytest.mark.parametrize("face", FACES)
def test_a_plain_copy_is_as_independent_as_a_deep_copy(face: str) -> None:
    make, play = FACES[face]
    env = make("armadora", "random")
    env = env.unwrapped if face == "made" else env  # a wrapper of Gymnasium copies only itself
    reset(env)
    play(env, 3)
    same, twin = copy.deepcopy(env), copy.copy(env)
    play(twin, 12)
    assert data_equivalence(play(env, 12), play(same, 12), exact=True)


@pytest.mark.parametrize("rivals", [CRITIC, NETWORK])
@pytest.mark.parametrize("face", ["seat", "vector", "sb3"])
def test_copies_work_with_critics_and_networks_as_opponents(face: str, rivals: str) -> None:
    make, play = FACES[face]
    env = make("armada", rivals)
    reset(env)
    twins = [way(env) for way in WAYS]
    given = play(env, 3)
    assert all(data_equivalence(play(twin, 3), given, exact=True) for twin in twins)


class Mine:
    """A user's player."""

    def __init__(self, game: Any) -> None:
        self.name, self.game = "mine", game

    def choose(self, states: Any, seats: Any, draws: Any) -> Any:
        return self.game.legal_masks(states).argmax(axis=1)


SPECS = {
    "armadora": [
        *("random", "random:patient", "greedy", "greedy:noise=0.2", "greedy:first_random=2"),
        *("grave:8", "ismcts:8", "flat:8", "rollout:8", f"{JUDGE}:sample", f"{JUDGE}+search:8"),
        "mine",
    ],
    "armada": ["greedy:style=admiral", "rollout:8", f"{CRITIC}+search:8"],
    KUHN_POKER[0].game: ["random", "ismcts:8"],
}


@pytest.mark.parametrize(("name", "spec"), [(g, s) for g, specs in SPECS.items() for s in specs])
def test_every_kind_of_player_can_be_copied(name: str, spec: str) -> None:
    assert set(SPECS) == set(game_names())
    game = make_game(name)
    player = make_player(Mine(game) if spec == "mine" else spec, game)
    states, seats = tiny.positions(game, number=4)
    seen, draws = game.concealed(states, seats), np.linspace(0, 0.9, states.size)
    chosen = player.choose(seen, seats, draws)
    for way in WAYS:
        twin = way(player)
        assert twin.name == player.name
        assert np.array_equal(twin.choose(seen, seats, draws), chosen)


@pytest.mark.parametrize("name", sorted(shipped_policies()))
def test_every_shipped_policy_can_be_copied(name: str) -> None:
    from armarl import load_policy

    policy = load_policy(name)
    for way in WAYS:
        assert way(policy).weights_digest() == policy.weights_digest()


def test_tables_and_mappings_can_be_copied() -> None:
    game = make_game("armadora", advanced=True)
    for way in WAYS:
        assert way(game.options) == game.options
        assert way(game.actions).texts == game.actions.texts
        assert way(game.survey).hash == game.survey.hash
    assert copy.deepcopy(game.observation) is game.observation  # it never changes


def test_a_copy_made_during_a_choice_can_be_used() -> None:
    """The copied games are half played, so they need a reset with a seed."""
    copies = []

    class Looks(Mine):
        def choose(self, states: Any, seats: Any, draws: Any) -> Any:
            if not copies:
                copies.append(copy.deepcopy(env))
            return super().choose(states, seats, draws)

    env = SeatEnv("armadora", opponents=Looks(make_game("armadora")), seat=0)
    env.reset(seed=1)
    env.step(0)
    twin = copies[0]
    with pytest.raises(RuntimeError, match="half played"):
        twin.step(1)
    assert data_equivalence(twin.reset(seed=2), env.reset(seed=2), exact=True)


def _played(pickled: bytes) -> bytes:
    """Continue a pickled environment in another process."""
    faces = pickle.loads(pickled)
    return pickle.dumps([FACES[face][1](env, 6) for face, env in faces.items()])


def test_another_process_continues_with_equal_bytes() -> None:
    faces = {}
    for face, (make, play) in FACES.items():
        faces[face] = make("armadora", JUDGE)
        reset(faces[face])
        play(faces[face], 2)
    pickled = pickle.dumps(faces)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        theirs = pickle.loads(pool.apply(_played, (pickled,)))
    ours = [FACES[face][1](env, 6) for face, env in faces.items()]
    assert data_equivalence(theirs, ours, exact=True)

"""Masks are where RL libraries look for them, and learners that ignore them are warned."""

import warnings
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test
from pettingzoo.utils.wrappers import (
    AssertOutOfBoundsWrapper,
    OrderEnforcingWrapper,
    TerminateIllegalWrapper,
)

from armarl import SeatEnv, SeatVectorEnv, armadora_v0, make_game
from armarl.environments.action_masks import MANY_ILLEGAL
from armarl_training.vec_env import make_vec_env
from variants import every_game, every_rich_game, every_variant

every_face = pytest.mark.parametrize("face", ["env", "raw_env"])
RLLIB = {"mask": "observation", "observation_key": "observations"}
TIANSHOU = {"mask": "observation", "observation_key": "obs", "mask_key": "mask"}


# --- PettingZoo ----------------------------------------------------------------------------------


@every_face
@every_variant
def test_masks_are_in_the_infos_of_agents(variant, face):
    usual, env = variant.aec(face), variant.aec(face, mask="info", mask_key="legal")
    rng = np.random.default_rng(0)
    for each in (usual, env):
        each.reset(seed=1)
    ended = False
    while not ended:
        for agent in env.possible_agents:
            expected, seen = usual.observe(agent), env.observe(agent)
            assert env.observation_space(agent).contains(seen)
            assert np.array_equal(seen, expected["observation"])
            assert list(env.infos[agent]) == ["legal"]
            assert np.array_equal(env.infos[agent]["legal"], expected["action_mask"])
        seen, *_, info = env.last()
        action = int(rng.choice(np.flatnonzero(info["legal"])))
        for each in (usual, env):
            each.step(action)
        ended = env.terminations[env.agent_selection] or env.truncations[env.agent_selection]
    assert env.rewards == usual.rewards
    assert not any(info["legal"].any() for info in env.infos.values())
    for agent in env.possible_agents:
        assert agent == env.agent_selection
        env.step(None)
    assert not env.agents


@every_face
@every_rich_game
def test_pettingzoo_reads_masks_in_infos(variant, face):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="Action mask numpy array is all zeros")
        api_test(variant.aec(face, mask="info"), num_cycles=100)
        seed_test(lambda: variant.aec(face, mask="info"), num_cycles=100)


@every_game
@pytest.mark.parametrize("place", [{"mask": "info"}, {}], ids=["info", "observation"])
def test_pettingzoo_s_wrappers_read_masks_as_we_do(variant, place):
    ours = variant.aec(**place)
    stack = TerminateIllegalWrapper(variant.aec("raw_env", **place), illegal_reward=-1)
    stack = OrderEnforcingWrapper(AssertOutOfBoundsWrapper(stack))
    for env in (ours, stack):
        env.reset(seed=0)
        observation, *_, info = env.last()
        mask = (info if place else observation)["action_mask"]
        env.step(int(mask.argmin()))
        assert env.rewards == {"player_0": -1.0, "player_1": 0.0}
    for agent in ours.possible_agents:
        one, other = ours.infos[agent], stack.infos[agent]
        assert one.keys() == other.keys()
        assert all(np.array_equal(one[key], other[key]) for key in one)


@every_game
def test_names_of_parts_of_observations_can_be_chosen(variant):
    env = variant.aec(**TIANSHOU)
    env.reset(seed=0)
    usual = variant.aec()
    usual.reset(seed=0)
    seen, expected = env.observe("player_0"), usual.observe("player_0")
    assert list(seen) == ["obs", "mask"]
    assert np.array_equal(seen["obs"], expected["observation"])
    assert np.array_equal(seen["mask"], expected["action_mask"])
    assert env.observation_space("player_0").contains(seen)


@every_game
def test_the_state_contains_the_observations_of_all_agents(variant):
    env = variant.aec()
    env.reset(seed=0)
    state = env.state()
    assert env.state_space.contains(state)
    seen = [env.observe(agent)["observation"] for agent in env.possible_agents]
    assert np.array_equal(state, np.concatenate(seen))


# --- Gymnasium -----------------------------------------------------------------------------------


@every_variant
def test_masks_can_be_in_observations(variant):
    env = variant.seat_env(**RLLIB)
    usual = variant.seat_env()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check=True)
    rng = np.random.default_rng(0)
    seen, info = env.reset(seed=1)
    expected, their_info = usual.reset(seed=1)
    over = False
    while not over:
        assert env.observation_space.contains(seen)
        assert list(seen) == ["observations", "action_mask"]
        assert np.array_equal(seen["observations"], expected)
        assert np.array_equal(seen["action_mask"], their_info["action_mask"])
        assert np.array_equal(seen["action_mask"], env.action_masks())
        assert info.keys() == {"seat", "illegal_action"} == their_info.keys() - {"action_mask"}
        action = rng.choice(np.flatnonzero(seen["action_mask"]))
        seen, reward, *ends, info = env.step(action)
        expected, their_reward, *their_ends, their_info = usual.step(action)
        assert (reward, ends) == (their_reward, their_ends)
        over = any(ends)


@every_game
def test_infos_contain_numpy_values_and_have_constant_keys(variant):
    env = variant.seat_env(players=3)
    _, info = env.reset(seed=0)
    infos = [info, env.step(int(info["action_mask"].argmax()))[-1]]
    infos.append(env.step(int(infos[-1]["action_mask"].argmin()))[-1])
    for info in infos:
        types = {key: (type(value), value.dtype) for key, value in info.items()}
        assert types == {
            "seat": (np.int64, np.int64),
            "illegal_action": (np.int8, np.int8),
            "action_mask": (np.ndarray, np.int8),
        }
    assert [int(info["illegal_action"]) for info in infos] == [0, 0, 1]


@every_game
def test_the_text_of_a_space_is_short(variant):
    name = f"armarl/{variant.title}-v0"
    for options in ({}, RLLIB):
        env = gymnasium.make(name, **options)
        envs = gymnasium.make_vec(name, 3, **options)
        for space in (env.observation_space, envs.observation_space):
            assert len(repr(space)) < 150
            assert str(variant.make().observation.size) in repr(space)
        assert envs.observation_space == gymnasium.vector.utils.batch_space(
            env.observation_space, 3
        )
    aec = variant.aec()
    assert len(repr(aec.observation_space("player_0"))) < 150
    assert isinstance(aec.state_space, spaces.Box)
    assert len(repr(aec.state_space)) < 70


# --- errors and warnings -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mask": "obs"}, "mask must be 'info' or 'observation', not 'obs'"),
        ({"mask": "observation", "mask_key": "observation"}, "mask_key 'observation' is the name"),
        ({"mask": "info", "mask_key": "seat"}, "mask_key 'seat' is the name of another key"),
        ({"mask": "info", "mask_key": "_seat"}, "mask_key '_seat' is the name of another key"),
        ({"mask": "info", "mask_key": "final_info"}, "mask_key 'final_info' is the name"),
    ],
)
def test_unknown_places_for_masks_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        gymnasium.make("armarl/Armadora-v0", **options)
    with pytest.raises(ValueError, match=message):
        gymnasium.make_vec("armarl/Armadora-v0", 2, **options)
    if options["mask"] != "info":
        with pytest.raises(ValueError, match=message):
            armadora_v0.env(**options)


def lose_aec(games):
    env = armadora_v0.env()
    for game in range(games):
        env.reset(seed=game)
        env.step(int(env.last()[0]["action_mask"].argmin()))


def lose_single(games):
    env = gymnasium.make("armarl/Armadora-v0").unwrapped
    for game in range(games):
        _, info = env.reset(seed=game)
        env.step(int(info["action_mask"].argmin()))


def lose_vector(games):
    envs = gymnasium.make_vec("armarl/Armadora-v0", games, autoreset_mode="SAME_STEP")
    _, info = envs.reset(seed=0)
    envs.step(info["action_mask"].argmin(axis=1))


def lose_vec_env(games):
    envs = make_vec_env("armadora", games)
    envs.reset()
    envs.step(envs.action_masks().argmin(axis=1))


every_way = pytest.mark.parametrize("lose", [lose_aec, lose_single, lose_vector, lose_vec_env])


@every_way
def test_a_learner_that_ignores_masks_is_warned_once(lose):
    with pytest.warns(UserWarning, match="the learner seems to ignore the action mask") as caught:
        lose(3 * MANY_ILLEGAL)
    assert len([w for w in caught if "action mask" in str(w.message)]) == 1


def test_the_warning_says_how_to_use_masks():
    """SB3's API has no mask options, so the message must not advise them."""
    with pytest.warns(UserWarning, match="Use MaskablePPO of sb3-contrib"):
        lose_vec_env(MANY_ILLEGAL)
    with pytest.warns(
        UserWarning, match=r"the options `mask` \(.*\), `mask_key` and `observation_key` of the env"
    ):
        lose_vector(MANY_ILLEGAL)


@every_way
def test_a_few_illegal_actions_give_no_warning(lose):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lose(MANY_ILLEGAL - 1)


def test_a_legal_end_resets_the_count_of_illegal_actions():
    env = gymnasium.make("armarl/Armadora-mini-v0").unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for game in range(3 * MANY_ILLEGAL):
            _, info = env.reset(seed=game)
            over, lawful = False, game % 10 == 9
            while not over:
                mask = info["action_mask"]
                action = int(mask.argmax() if lawful else mask.argmin())
                *_, over, _, info = env.step(action)


@pytest.mark.parametrize("key", ["mask_key", "observation_key"])
@pytest.mark.parametrize("value", [5, None, b"mask", ["mask"]])
def test_keys_that_are_not_text_are_refused(key, value):
    """Regression: these keys raised AttributeErrors about `startswith`, or were accepted."""
    for make in MAKERS:
        with pytest.raises(TypeError, match=f"{key} must be text"):
            make(**{key: value})


@pytest.mark.parametrize("options", [5, "options", [1], True])
def test_reset_options_that_are_not_a_mapping_are_refused(options):
    """Regression: some raised AttributeErrors about `get`, and others were accepted."""
    for make in MAKERS:
        env = make()
        with pytest.raises(TypeError, match="options must be a dictionary or None"):
            env.reset(seed=1, options=options)
        env.reset(seed=1, options={})


@pytest.mark.parametrize("name", [None, ["armadora"], {}, b"armadora", 5])
def test_names_that_are_not_text_are_refused(name):
    """Regression: lists raised TypeErrors about hashes, without an explanation."""
    with pytest.raises(TypeError, match="the name of a game must be text"):
        make_game(name)
    env = armadora_v0.raw_env()
    env.reset(seed=1)
    if name is not None:
        with pytest.raises(ValueError, match=r"unknown agent .*; choose from player_0"):
            env.concealed_state(name)


MAKERS = (
    armadora_v0.raw_env,
    armadora_v0.env,
    partial(SeatEnv, "armadora"),
    partial(SeatVectorEnv, "armadora", 2),
)

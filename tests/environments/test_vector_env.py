"""Our vector environment equals Gymnasium's `SyncVectorEnv` of single environments, to the byte."""

import copy
import pickle
import warnings

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_util import make_vec_env as make_dummy_vec_env
from stable_baselines3.common.vec_env import VecNormalize

import tiny
from armarl.core import threads
from armarl.environments.registration import gymnasium_variants
from armarl.environments.seat_env import SeatEnv
from armarl.environments.vector_env import SeatVectorEnv
from armarl.games.catalogue import OURS
from armarl.games.make_game import make_game
from armarl.players.simple_players import GreedyPlayer
from armarl_training.vec_env import make_vec_env
from variants import every_game, every_rich_game, every_variant

SIZE = 5
every_mode = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.name)


@pytest.fixture(autouse=True)
def two_threads(small_shares):
    before = threads.get_threads()
    threads.set_threads(2)
    yield
    threads.set_threads(before)


def single(variant, mode, max_episode_steps=None, **more):
    def make():
        env = SeatEnv(variant.game, **variant.options, **more)
        return TimeLimit(env, max_episode_steps) if max_episode_steps else env

    envs = [make] * SIZE
    return SyncVectorEnv(envs, autoreset_mode=mode)


def vector(variant, mode, **more):
    return SeatVectorEnv(variant.game, SIZE, autoreset_mode=mode, **variant.options, **more)


def plain(info):
    """Return an info with `final_obs` as a list, whose values can be compared."""
    return {
        key: plain(value)
        if isinstance(value, dict)
        else list(value)
        if key == "final_obs"
        else value
        for key, value in info.items()
    }


def assert_equal(ours, theirs):
    *ours, our_info = ours
    *theirs, their_info = theirs
    for one, other in zip(ours, theirs, strict=True):
        assert data_equivalence(one, other, exact=True)
    assert data_equivalence(plain(our_info), plain(their_info), exact=True)


def action_masks(given, options):
    """Return the masks from `reset` or `step`, from the place that these options choose."""
    where = given[0] if options.get("mask") == "observation" else given[-1]
    return where[options.get("mask_key", "action_mask")]


def play_both(variant, mode, steps, illegal=0.0, **more):
    """Play the same actions in our environment and in Gymnasium's.

    Return the number of episodes, and the number that an illegal action ended.
    """
    ours, theirs = vector(variant, mode, **more), single(variant, mode, **more)
    rng, episodes, illegals = np.random.default_rng(0), 0, 0
    assert_equal(shown := ours.reset(seed=21), theirs.reset(seed=21))
    masks = action_masks(shown, more)
    for _ in range(steps):
        actions = tiny.random_actions(masks, rng)
        for i in np.flatnonzero((rng.random(SIZE) < illegal) & (masks == 0).any(axis=1)):
            actions[i] = np.flatnonzero(masks[i] == 0)[0]
            illegals += 1
        assert_equal(given := ours.step(actions), theirs.step(actions))
        over = given[2] | given[3]
        episodes += over.sum()
        masks = action_masks(given, more)
        assert np.array_equal(masks, ours.action_masks())
        if mode is AutoresetMode.DISABLED and over.any():
            shown, info = ours.reset(options={"reset_mask": over})
            expected, their_info = theirs.reset(options={"reset_mask": over})
            assert data_equivalence(shown, expected, exact=True)
            masks = action_masks((shown, info), more)
            for key in their_info:
                assert np.array_equal(info[key][over], their_info[key][over])
    return episodes, illegals


# --- Gymnasium's own batch of our single environments --------------------------------------------


@every_variant
def test_a_batch_is_equal_to_single_environments(variant):
    episodes, _ = play_both(variant, AutoresetMode.SAME_STEP, 90)
    assert episodes


@every_mode
@every_rich_game
def test_every_autoreset_mode_is_equal_to_gymnasium_s(variant, mode):
    episodes, illegals = play_both(variant, mode, 150, illegal=0.01)
    assert episodes > illegals > 0


@every_mode
@every_game
def test_opponents_can_be_other_than_random(variant, mode):
    episodes, _ = play_both(variant, mode, 60, opponents="greedy", seat=1)
    assert episodes


@every_mode
@every_rich_game
def test_masks_can_be_in_the_observation(variant, mode):
    names = {"mask": "observation", "observation_key": "obs", "mask_key": "mask"}
    episodes, illegals = play_both(variant, mode, 150, illegal=0.01, **names)
    assert episodes > illegals > 0


@every_mode
@every_rich_game
def test_the_number_of_steps_can_be_limited(variant, mode):
    episodes, illegals = play_both(variant, mode, 60, illegal=0.01, max_episode_steps=7)
    assert episodes > illegals + SIZE


def test_gymnasium_passes_the_limit_of_steps_on():
    env = gymnasium.make_vec("armarl/Armada-v0", 3, max_episode_steps=2)
    _, info = env.reset(seed=0)
    for truncated in (False, True, False):
        *_, truncations, info = env.step(info["action_mask"].argmax(axis=1))
        assert (truncations == truncated).all()


@every_rich_game
def test_each_seat_can_have_its_own_opponent(variant):
    episodes, _ = play_both(
        variant, AutoresetMode.SAME_STEP, 60, opponents=["random", "greedy"], reward="win"
    )
    assert episodes


# --- guarantees ----------------------------------------------------------------------------------


def test_every_id_makes_a_vector_environment():
    for name, kwargs in (pair for entry in OURS for pair in gymnasium_variants(entry)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            env = gymnasium.make_vec(name, num_envs=3)
        assert isinstance(env, SeatVectorEnv)
        assert env.spec.id == name
        assert env.game.name == kwargs["game"]
        assert env.autoreset_mode is env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
        assert env.observation_space.shape == (3, env.game.observation.size)
        assert env.single_action_space.n == len(env.game.actions)
    env = gymnasium.make_vec("armarl/Armadora-v0", num_envs=2, players=4, opponents="greedy")
    assert env.game.players == 4
    env = gymnasium.make_vec("armarl/Armada-v0", num_envs=2, autoreset_mode="SameStep")
    assert env.autoreset_mode is AutoresetMode.SAME_STEP
    assert env.chart is not None


@every_game
def test_results_and_actions_are_in_the_spaces(variant):
    env = gymnasium.make_vec(f"armarl/{variant.title}-v0", num_envs=SIZE)
    observations, info = env.reset(seed=0)
    assert env.observation_space.contains(observations)
    actions = env.action_space.sample(mask=tuple(info["action_mask"]))
    assert env.action_space.contains(actions)
    observations, rewards, terminations, truncations, info = env.step(actions)
    assert env.observation_space.contains(observations)
    assert rewards.dtype == np.float64
    assert terminations.dtype == truncations.dtype == np.bool_
    assert info["action_mask"].dtype == np.int8
    assert info["_action_mask"].all()


@every_game
def test_observations_can_be_new_arrays_or_the_same_ones(variant):
    for keep in (True, False):
        env = vector(variant, AutoresetMode.SAME_STEP, copy=keep)
        first, info = env.reset(seed=0)
        masks = info["action_mask"]
        second, *_, info = env.step(masks.argmax(axis=1))
        assert np.shares_memory(first, second) != keep
        assert np.shares_memory(masks, info["action_mask"]) != keep


@every_mode
@every_game
def test_masks_are_never_empty(variant, mode):
    """Regression: sampling from masked logits failed after the end of the first game."""
    env = gymnasium.make_vec(
        f"armarl/{variant.title}-v0", 4, autoreset_mode=mode, **variant.options
    )
    _, info = env.reset(seed=0)
    ended = 0
    for _ in range(200):
        masks = torch.from_numpy(info["action_mask"]).bool()
        logits = torch.zeros(masks.shape).masked_fill(~masks, -torch.inf)
        actions = torch.distributions.Categorical(logits=logits).sample().numpy()
        *_, terminations, truncations, info = env.step(actions)
        over = terminations | truncations
        ended += over.sum()
        assert not info["illegal_action"].any()
        if mode is AutoresetMode.DISABLED and over.any():
            assert info["action_mask"][over].all()
            _, info = env.reset(options={"reset_mask": over})
    assert ended


@every_rich_game
def test_changes_to_returned_masks_have_no_effect(variant):
    env = vector(variant, AutoresetMode.SAME_STEP)
    _, info = env.reset(seed=0)
    wrong = np.array([np.flatnonzero(mask == 0)[0] for mask in info["action_mask"]])
    info["action_mask"][:] = 1
    _, rewards, terminations, _, info = env.step(wrong)
    assert (rewards == -1).all()
    assert terminations.all()
    assert info["final_info"]["illegal_action"].all()
    assert not info["illegal_action"].any()
    assert all("illegal" in reason for reason in env.refusals.values())


@every_rich_game
def test_a_copy_in_mid_episode_continues_alike(variant):
    env, rng = (
        vector(variant, AutoresetMode.NEXT_STEP, opponents="greedy"),
        np.random.default_rng(0),
    )
    _, info = env.reset(seed=5)
    for _ in range(10):
        *_, info = env.step(tiny.random_actions(info["action_mask"], rng))
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    for _ in range(30):
        actions = tiny.random_actions(info["action_mask"], rng)
        given = env.step(actions)
        for twin in twins:
            assert_equal(given, twin.step(actions))
        info = given[-1]


@every_mode
def test_gymnasium_s_statistics_count_all_episodes(mode):
    env = RecordEpisodeStatistics(
        gymnasium.make_vec("armarl/Armadora-v0", num_envs=8, autoreset_mode=mode)
    )
    _, info = env.reset(seed=0)
    rng, ended, lengths = np.random.default_rng(0), 0, np.zeros(8, int)
    for _ in range(120):
        lengths += 1
        _, rewards, over, _, info = env.step(tiny.random_actions(info["action_mask"], rng))
        if over.any():
            ended += over.sum()
            assert np.array_equal(info["episode"]["r"][over], rewards[over])
            # Gymnasium 1.2 counts one episode too few in this mode.
            if mode is not AutoresetMode.SAME_STEP:
                assert np.array_equal(info["episode"]["l"][over], lengths[over])
            lengths[over] = -1 if mode is AutoresetMode.NEXT_STEP else 0
            if mode is AutoresetMode.DISABLED:
                _, info = env.reset(options={"reset_mask": over})
    assert ended > 16


def test_each_game_is_rendered():
    env = gymnasium.make_vec("armarl/Armadora-v0", num_envs=2, render_mode="ansi", seat=1)
    env.reset(seed=0)
    one = SeatEnv("armadora", render_mode="ansi", seat=1)
    one.reset(seed=0)
    assert env.render()[0] == one.render()
    assert len(env.render()) == 2
    with pytest.warns(UserWarning, match="needs environments that were made with"):
        assert SeatVectorEnv("armadora", 2).render() is None


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: make(num_envs=0), ValueError, "number of games must be from 1 to "),
        (lambda: make(seat=2), ValueError, "seat must be from 0 to 1, not 2"),
        (lambda: make(colour=1), TypeError, "argument 'colour'.*the environment's options are o"),
        (lambda: make(opponents=["random"] * 2), ValueError, "takes 1 opponent, got 2"),
        (lambda: make(render_mode="human"), TypeError, "None or 'ansi'"),
        (lambda: make(opponents=None), TypeError, "a specification, a path or a Player, not None"),
        (lambda: make(autoreset_mode="never"), ValueError, "NEXT_STEP, SAME_STEP, DISABLED"),
        (lambda: make().step(np.zeros(3, int)), gymnasium.error.ResetNeeded, "call reset"),
        (lambda: make().action_masks(), gymnasium.error.ResetNeeded, "call reset"),
        (lambda: make(render_mode="ansi").render(), gymnasium.error.ResetNeeded, "call reset"),
        (lambda: begun().step(np.zeros(2, int)), ValueError, r"shape \(3,\), not \(2,\)"),
        (lambda: begun().step(np.zeros(3)), TypeError, "integers, not float64"),
        (lambda: begun().reset(seed=[1]), ValueError, "or 3 seeds, got 1"),
        (lambda: begun().reset(seed=1.5), TypeError, "seed must be an integer, not 1.5"),
        (lambda: begun().reset(options={"reset_mask": [True]}), ValueError, "bool array"),
        (
            lambda: make().reset(options={"reset_mask": np.array([True, False, False])}),
            ValueError,
            "first reset must reset all",
        ),
    ],
)
def test_wrong_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def make(num_envs=3, **more):
    return SeatVectorEnv("armadora", num_envs, **more)


def begun():
    env = make()
    env.reset(seed=0)
    return env


def test_a_player_must_choose_one_action_for_each_game():
    class One(GreedyPlayer):
        def choose(self, states, seats, draws):
            return super().choose(states, seats, draws)[:1]

    env = make(seat=1, opponents=One(make_game("armadora")))
    with pytest.raises(ValueError, match=r"actions of shape \(1,\); .* per state, shape \(3,\)"):
        env.reset(seed=0)


def test_without_autoreset_a_finished_game_must_be_reset():
    env = make(autoreset_mode="disabled")
    _, info = env.reset(seed=0)
    wrong = np.where(info["action_mask"][0] == 0)[0][0]
    actions = np.array([wrong, *info["action_mask"][1:].argmax(axis=1)])
    *_, info = env.step(actions)
    assert list(info["illegal_action"]) == [1, 0, 0]
    assert list(env.refusals) == [0]
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"games \[0\] are over"):
        env.step(actions)


# --- SB3's vector API ----------------------------------------------------------------------------


@every_rich_game
def test_the_vec_env_plays_the_same_games(variant):
    """SB3's API, and Gymnasium's with SAME_STEP, show the same for each seed."""
    ours, theirs = (
        make_vec_env(variant.game, SIZE, **variant.options),
        vector(variant, AutoresetMode.SAME_STEP),
    )
    ours.seed(3)
    observations, (expected, info) = ours.reset(), theirs.reset(seed=3)
    rng, ended = np.random.default_rng(0), 0
    for _ in range(150):
        assert np.array_equal(observations, expected)
        assert np.array_equal(ours.action_masks(), info["action_mask"])
        actions = tiny.random_actions(ours.action_masks(), rng)
        observations, rewards, dones, infos = ours.step(actions)
        expected, their_rewards, terminations, truncations, info = theirs.step(actions)
        assert np.array_equal(rewards, their_rewards.astype(np.float32))
        assert np.array_equal(dones, terminations | truncations)
        for i in np.flatnonzero(dones):
            assert np.array_equal(infos[i]["terminal_observation"], info["final_obs"][i])
            assert infos[i]["TimeLimit.truncated"] is bool(truncations[i]) is False
        ended += dones.sum()
    assert ended


def test_maskable_ppo_accepts_the_vec_env():
    env = make_vec_env("armadora", 16, players=3, opponents=["greedy", "random"], reward="gold")
    assert is_masking_supported(env)
    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=64, n_epochs=1, seed=0)
    env.reset()
    assert get_action_masks(env).shape == (16, env.action_space.n)
    model.learn(512)
    assert len(model.ep_info_buffer) > 0
    with pytest.raises(TypeError, match="options are n_envs, seed, env_kwargs, opponents, seat"):
        make_vec_env("armadora", 4, colours=2)
    game = make_game("armadora")
    assert make_vec_env(game, 4, opponents=GreedyPlayer(game)).game is game


def test_sb3_s_functions_can_make_an_environment_from_an_id():
    """SB3 requests images as arrays, but does not need them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Gymnasium warns about the render mode
        env = make_dummy_vec_env("armarl/Armadora-v0", 2)
        assert is_masking_supported(env)
        MaskablePPO("MlpPolicy", "armarl/Armadora-v0", n_steps=16, batch_size=16)


def test_a_vec_env_can_be_wrapped_evaluated_and_saved(tmp_path):
    env = VecNormalize(make_vec_env("armadora", 4))
    assert is_masking_supported(env)
    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=64, n_epochs=1, seed=0)
    model.learn(64)
    model.save(tmp_path / "model")
    env.training = False
    with warnings.catch_warnings():
        # SB3 would warn that returns may not be those of whole games.
        warnings.simplefilter("error")
        returns, lengths = evaluate_policy(
            MaskablePPO.load(tmp_path / "model", env), env, 12, return_episode_rewards=True
        )
    assert set(returns) <= {-1, 0, 1}
    assert min(lengths) > 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda env: env.step([0, 0]), ValueError, r"shape \(3,\), not \(2,\)"),
        (lambda env: env.step(np.zeros((3, 1), int)), ValueError, r"not \(3, 1\)"),
        (lambda env: env.step(np.zeros(3)), TypeError, "integers, not float64"),
        (lambda _: make_vec_env("armadora", 3).step([0] * 3), gymnasium.error.ResetNeeded, "reset"),
        (
            lambda _: get_action_masks(make_vec_env("armadora", 3)),
            gymnasium.error.ResetNeeded,
            "call",
        ),
    ],
)
def test_wrong_arguments_of_the_vec_env_are_refused(call, error, message):
    env = make_vec_env("armadora", 3)
    env.reset()
    with pytest.raises(error, match=message):
        call(env)


def test_every_game_has_its_own_info():
    env = make_vec_env("armadora", 3)
    env.reset()
    *_, infos = env.step(env.action_masks().argmax(axis=1))
    infos[0]["mine"] = 1
    assert infos[1:] == [{}, {}]

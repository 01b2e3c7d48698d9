"""SB3 models can be saved as policies that play the same, and SB3's own names work."""

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import wrappers
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.vec_env import SubprocVecEnv, VecFrameStack, VecNormalize

import armarl
from armarl.games.make_game import make_game
from armarl.policies.safetensors_file import PolicyError
from armarl.policies.saved_policy import load_policy
from armarl.roster.make_player import make_player
from armarl_training.sb3 import save_policy
from armarl_training.vec_env import make_vec_env
from variants import every_game


def model_of(env, **settings):
    return MaskablePPO("MlpPolicy", env, n_steps=8, seed=3, device="cpu", **settings)


@every_game
@pytest.mark.parametrize(
    "network",
    [
        {},
        {"net_arch": {"pi": [32, 16], "vf": [8]}, "activation_fn": torch.nn.ReLU},
        {"net_arch": []},
    ],
    ids=["default", "of one's own", "linear"],
)
def test_a_saved_model_plays_as_the_model(variant, network, tmp_path):
    env = make_vec_env(variant.make(), 2)
    model = model_of(env, policy_kwargs=network)
    model.learn(16)
    save_policy(tmp_path / "mine.safetensors", model, note="a test")
    player = load_policy(tmp_path / "mine.safetensors")
    game = variant.make()
    assert player.game.variant == game.variant
    states = game.new_states(np.arange(20))
    seats = game.statuses(states)[1]
    observations, masks = game.views(states, seats)
    expected, _ = model.predict(observations, action_masks=masks, deterministic=True)
    assert np.array_equal(player.choose(states, seats, np.zeros(20)), expected)
    with torch.no_grad():
        values = model.policy.predict_values(torch.from_numpy(observations)).numpy()[:, 0]
    assert np.allclose(player.values(states, seats), values, atol=1e-4)
    kept = {name: player.metadata[name] for name in ("trained_by", "decisions", "note")}
    assert kept == {"trained_by": "MaskablePPO", "decisions": 16, "note": "a test"}


def test_a_model_can_be_loaded_from_its_zip_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model_of(gymnasium.make("armarl/Armadora-mini-v0")).save("model")
    game = make_game("armadora", board="mini")
    with pytest.raises(ValueError, match=r"loading it can run code.*sb3\.save_p"):
        gymnasium.make("armarl/Armadora-mini-v0", opponents="model.zip")
    loaded = MaskablePPO.load("model.zip")
    with pytest.raises(ValueError, match="the model has no ArmaRL environment; pass the game"):
        save_policy("model.safetensors", loaded)
    save_policy("model.safetensors", loaded, game)
    assert make_player("model.safetensors", game).name == "model"
    assert gymnasium.make("armarl/Armadora-mini-v0", opponents="model.safetensors")


def test_the_game_is_taken_from_the_environment(tmp_path):
    for env in (gymnasium.make("armarl/Armadora-mini-v0"), VecNormalize(mini(), norm_obs=False)):
        save_policy(tmp_path / "mine.safetensors", PPO("MlpPolicy", env, n_steps=8, device="cpu"))
        assert load_policy(tmp_path / "mine.safetensors").game.options["board"] == "mini"


def mini(**more):
    return make_vec_env("armarl/Armadora-mini-v0", 2, **more)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: PPO("MlpPolicy", VecNormalize(mini()), n_steps=8, device="cpu"),
            "changed by VecNormalize",
        ),
        (
            lambda: DQN("MlpPolicy", mini(), buffer_size=10, device="cpu"),
            "only an actor-critic that sees the flat observation",
        ),
        (
            lambda: PPO(
                "MultiInputPolicy",
                gymnasium.make("armarl/Armadora-mini-v0", mask="observation"),
                n_steps=8,
                device="cpu",
            ),
            "masks in the infos.*CombinedExtractor",
        ),
        (
            lambda: model_of(mini(), policy_kwargs={"activation_fn": torch.nn.ELU}),
            "must be Tanh or ReLU, got ELU",
        ),
        (
            lambda: model_of(VecFrameStack(make_vec_env("armadora", 2), 3)),
            "takes 1,728 inputs, but an .* for 2 .* has 576 numbers; .*without VecFrameStack",
        ),
    ],
    ids=["normalised", "no actor-critic", "masks observed", "another activation", "stacked"],
)
def test_a_model_that_cannot_be_a_policy_is_refused(make, message, tmp_path):
    with pytest.raises(PolicyError, match=message):
        save_policy(tmp_path / "mine.safetensors", make())
    assert not list(tmp_path.iterdir())


def halved():
    env = gymnasium.make("armarl/Armadora-mini-v0")
    return wrappers.TransformObservation(env, lambda seen: seen / 2, env.observation_space)


@pytest.mark.parametrize(
    "make",
    [
        lambda: wrappers.NormalizeObservation(gymnasium.make("armarl/Armadora-mini-v0")),
        lambda: gymnasium.Wrapper(halved()),
        lambda: SubprocVecEnv([halved]),
    ],
    ids=["normalised", "beneath another", "in another process"],
)
def test_a_model_with_changed_observations_is_refused(make, tmp_path):
    """Regression: the model was saved, and the policy played differently."""
    model = PPO("MlpPolicy", make(), n_steps=8, device="cpu")
    with pytest.raises(PolicyError, match="changed by a Gymnasium wrapper"):
        save_policy(tmp_path / "mine.safetensors", model)
    model.get_env().close()
    assert not list(tmp_path.iterdir())


def test_a_policy_file_is_not_mistaken_for_a_pickle(tmp_path):
    with pytest.raises(
        PolicyError, match=r"a policy is a safetensors file; name it mine\.safetensors"
    ):
        save_policy(tmp_path / "mine.zip", model_of(mini()))
    with pytest.raises(TypeError, match="takes an SB3 model, got an object of NoneType"):
        save_policy(tmp_path / "mine.safetensors", None)
    with pytest.raises(TypeError, match="game must be a Game"):
        save_policy(tmp_path / "mine.safetensors", model_of(mini()), "armadora")
    assert not list(tmp_path.iterdir())


def test_a_model_of_another_game_is_refused(tmp_path):
    with pytest.raises(PolicyError, match=r"the model was trained on .*mini"):
        save_policy(tmp_path / "mine.safetensors", model_of(mini()), make_game("armadora"))


# --- evaluation with masks -----------------------------------------------------------------------


def test_the_maskable_callback_and_evaluation_use_masks(tmp_path):
    """An illegal action ends a game with -1, so without masks all games would be lost."""
    checked, scored = (make_vec_env("armadora", 4, seed=seed) for seed in (1, 2))
    check = MaskableEvalCallback(
        checked, n_eval_episodes=12, eval_freq=8, log_path=tmp_path, warn=True, verbose=0
    )
    model = model_of(make_vec_env("armadora", 4, seed=0))
    model.learn(32, callback=check)
    results = np.load(tmp_path / "evaluations.npz")["results"]
    assert results.shape == (1, 12)
    assert set(results.ravel()) <= {-1.0, 0.0, 1.0}
    assert check.last_mean_reward == results.mean()
    returns, lengths = evaluate_policy(model, scored, 12, return_episode_rewards=True)
    assert len(returns) == 12
    assert min(lengths) > 1
    assert (checked.endings.illegal, scored.endings.illegal) == (0, 0)
    blind = make_vec_env("armadora", 4, seed=2)
    assert evaluate_policy(model, blind, 12, use_masking=False)[0] < 0
    assert blind.endings.illegal > 0


# --- SB3's names ---------------------------------------------------------------------------------


def test_sb3_s_names_can_be_used():
    env = make_vec_env(
        "armarl/Armadora-3p-v0", n_envs=4, seed=5, env_kwargs={"opponents": "greedy", "seat": 1}
    )
    assert env.num_envs == 4
    assert (env.game.name, env.game.players) == ("armadora", 3)
    assert set(env.batch.seats) == {1}
    expected = make_vec_env("armadora", 4, players=3, opponents="greedy", seat=1)
    expected.seed(5)
    assert np.array_equal(env.reset(), expected.reset())
    assert make_vec_env("armadora").num_envs == 1
    with pytest.raises(ValueError, match=r"unknown id .*; choose from armarl/Armadora-v0, "):
        make_vec_env("armarl/Chess-v0", 2)
    with pytest.raises(ValueError, match="unknown id"):
        make_vec_env("ALE/Pong-v5", 2)
    with pytest.raises(TypeError, match="no option 'colours'"):
        make_vec_env("armadora", 2, env_kwargs={"colours": 2})


@pytest.mark.parametrize("wrong", ["num_envs", "n_env"])
def test_a_misspelt_number_of_games_is_named(wrong):
    with pytest.raises(TypeError, match=r"did you mean n_envs\?\).* are n_envs, seed, env_"):
        make_vec_env("armadora", **{wrong: 8})


def test_an_option_that_is_given_twice_is_refused():
    with pytest.raises(TypeError, match="the option players is given twice"):
        make_vec_env("armadora", 8, players=3, env_kwargs={"players": 2})
    with pytest.raises(TypeError, match="the option opponents is given twice"):
        make_vec_env("armadora", 8, opponents="random", env_kwargs={"opponents": "gredy"})


def test_each_save_policy_names_the_other(tmp_path):
    path = tmp_path / "mine.safetensors"
    model = model_of(make_vec_env("armadora", 2))
    for call in (
        lambda: armarl.save_policy(path, model),
        lambda: armarl.save_policy(path, model=model),
        lambda: armarl.save_policy(path, game=model),
    ):
        with pytest.raises(TypeError, match=r"armarl_training\.sb3\.save_policy\(path, model\)"):
            call()
    with pytest.raises(TypeError, match=r"of Game; armarl\.save_policy saves weights"):
        save_policy(path, make_game("armadora"))
    assert not path.exists()

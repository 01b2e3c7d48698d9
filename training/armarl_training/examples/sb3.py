"""MaskablePPO of SB3's contrib package, in one seat against the random player, or in self-play."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from armarl.games.make_game import make_game
from armarl_training.examples.measured import GAME, Learning, LearntPlayer, main
from armarl_training.vec_env import SeatVecEnv, make_vec_env

SETTINGS: dict[str, Any] = {
    "n_steps": 16,  # per game: many small updates learn faster than few large ones
    "batch_size": 256,
    "n_epochs": 4,
    "gamma": 1.0,  # undiscounted, because all games end
    "learning_rate": 1e-3,
    "ent_coef": 0.01,
    "device": "cpu",
}


def one_seat(decisions: int, seed: int) -> Learning:
    """Train in one seat, drawn at random for every game, against the random player."""
    env = make_vec_env(GAME, n_envs=64, seed=seed)
    return _learning(MaskablePPO("MlpPolicy", env, seed=seed, **SETTINGS), env, decisions)


def all_seats(decisions: int, seed: int) -> Learning:
    """Train against the current model, which plays the other seat."""
    game = make_game(GAME)
    latest = LearntPlayer(game, lambda observations, masks: choose(observations, masks), "latest")
    env = make_vec_env(game, n_envs=64, seed=seed, opponents=latest)
    model = MaskablePPO("MlpPolicy", env, seed=seed, **SETTINGS)

    def choose(observations: Any, masks: Any) -> Any:
        return model.predict(observations, action_masks=masks, deterministic=False)[0]

    return _learning(model, env, decisions)


def _learning(model: MaskablePPO, env: SeatVecEnv, decisions: int) -> Learning:
    def choose(observations: Any, masks: Any) -> Any:
        return model.predict(observations, action_masks=masks, deterministic=True)[0]

    def train() -> tuple[int, int]:
        model.learn(decisions)
        return int(model.num_timesteps), env.endings.illegal

    return Learning(choose, train)


if __name__ == "__main__":
    torch.set_num_threads(1)
    np.seterr(all="raise", under="ignore")
    main("sb3-contrib", {"one-seat": one_seat, "all-seats": all_seats})

"""Measurements of MaskablePPO end to end, including rollouts and updates.

MaskablePPO trains in three kinds of environments: this package's VecEnv, a free environment, and
DummyVecEnv with single environments. The free environment has the same spaces and costs no time, so
its result shows the speed of SB3's own code. All runs have the same settings.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.frame import Measurement, core_counts
from benchmarks.ours import SCALED, Variant, title

ENVIRONMENTS, ROLLOUT, MINIBATCH, EPOCHS = 512, 32, 4096, 4
OURS, FREE = "our VecEnv, random opponents", "free environment of the same spaces"
DUMMY = "DummyVecEnv of our Gymnasium environments, random opponents"


def groups() -> Iterator[list[Measurement]]:
    """Yield a group of the three kinds of environments, per variant and number of cores."""
    for cores in core_counts():
        for variant in SCALED:
            yield [
                Measurement(
                    "learning",
                    title(variant),
                    how,
                    "learning.learn",
                    {"variant": variant, "kind": how},
                    ENVIRONMENTS,
                    unit="decisions/s",
                    package="sb3_contrib",
                    cores=cores,
                )
                for how in (OURS, FREE, DUMMY)
            ]


def learn(variant: Variant, kind: str) -> Callable[[], int]:
    """Return a chunk that trains MaskablePPO for one rollout and its update.

    The network is SB3's default.
    """
    import torch
    from sb3_contrib import MaskablePPO

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    model = MaskablePPO(
        "MlpPolicy",
        {OURS: _our_vec_env, FREE: _free_vec_env, DUMMY: _dummy_vec_env}[kind](variant),
        n_steps=ROLLOUT,
        batch_size=MINIBATCH,
        n_epochs=EPOCHS,
        seed=0,
        device="cpu",
    )

    def chunk() -> int:
        model.learn(ENVIRONMENTS * ROLLOUT, reset_num_timesteps=False)
        return ENVIRONMENTS * ROLLOUT

    chunk()
    return chunk


def _our_vec_env(variant: Variant) -> Any:
    from armarl_training.vec_env import make_vec_env

    return make_vec_env(variant[0], ENVIRONMENTS, **variant[1])


def _dummy_vec_env(variant: Variant) -> Any:
    import gymnasium
    from stable_baselines3.common.vec_env import DummyVecEnv

    import armarl  # noqa: F401 - registers the ids

    name, options = variant

    def make() -> Any:
        return gymnasium.make(f"armarl/{name.capitalize()}-v0", **options)

    return DummyVecEnv([make] * ENVIRONMENTS)


def _free_vec_env(variant: Variant) -> Any:
    from armarl import make_game
    from benchmarks.free_env import FreeVecEnv

    game = make_game(variant[0], **variant[1])
    return FreeVecEnv(ENVIRONMENTS, *game.observation.bounds(), len(game.actions))

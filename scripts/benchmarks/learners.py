"""Measurements of PPO and MaskablePPO with the same network and settings (see `learning`)."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import learning
from benchmarks.frame import Measurement, core_counts
from benchmarks.ours import SCALED, Variant, title

WIDTHS = [64, 64]  # SB3's default, for policy and critic
OURS, THEIRS = "our PPO, in all seats", "MaskablePPO, in one seat"
MATRICES = "products of whole matrices alone"
PARTS = ("environment", "inference", "update")


def groups() -> Iterator[list[Measurement]]:
    """Yield a group per variant on all cores: two learners, and PPO's matrix products and time use.

    The speed of the matrix products is an upper limit only for learners that compute all these
    products. Incremental passes, which update a layer from the changed inputs only, avoid most of
    these products.
    """
    for variant in SCALED:
        yield [
            _measurement(variant, OURS, "ppo"),
            Measurement(
                "learners",
                title(variant),
                THEIRS,
                "learning.learn",
                {"variant": variant, "kind": learning.OURS},
                learning.ENVIRONMENTS,
                unit="decisions/s",
                package="sb3_contrib",
                cores=core_counts()[-1],
            ),
            _measurement(variant, MATRICES, "matrices"),
            *(
                _measurement(variant, f"our PPO, part of the time: {part}", "share", part)
                for part in PARTS
            ),
        ]


def _measurement(variant: Variant, how: str, probe: str, part: str | None = None) -> Measurement:
    options = {"variant": variant} | ({"part": part} if part else {})
    return Measurement(
        "learners",
        title(variant),
        how,
        f"learners.{probe}",
        options,
        learning.ENVIRONMENTS,
        unit="of the time" if part else "decisions/s",
        package="torch",
        cores=core_counts()[-1],
    )


def _learner(variant: Variant, changes: Sequence[str] = ()) -> Any:
    """Create this package's PPO learner. `changes` are settings such as `ppo.epochs=3`."""
    from armarl_training.config.training_config import TrainingConfig
    from armarl_training.run.run import Run

    name, options = variant
    config = TrainingConfig.model_validate(
        {
            "game": name,
            "options": options,
            "total_decisions": 1 << 40,
            "environments": learning.ENVIRONMENTS,
            "threads": int(os.environ["OMP_NUM_THREADS"]),
            "network": {"widths": WIDTHS, "activation": "tanh"},
            "ppo": {
                "rollout_length": learning.ROLLOUT,
                "minibatch": learning.MINIBATCH,
                "epochs": learning.EPOCHS,
            },
            "opponents": {"share": 0},
        }
    )
    config = config.overridden(list(changes), "benchmark")
    with tempfile.TemporaryDirectory() as folder:  # nothing is written to it
        return Run(config, Path(folder)).learner


def ppo(variant: Variant, changes: Sequence[str] = ()) -> Callable[[], int]:
    """Return a chunk that runs an iteration (a rollout and its update) and counts the decisions.

    For `changes`, see `_learner`.
    """
    learner = _learner(variant, changes)

    def chunk() -> int:
        before = learner.decisions
        learner.iterate(0.0)
        return int(learner.decisions - before)

    chunk()
    return chunk


def share(variant: Variant, part: str) -> Callable[[], float]:
    """Return a function that measures the fraction of an iteration's time that `part` takes.

    `part` is one of PARTS.
    """
    learner = _learner(variant)
    spent = dict.fromkeys(PARTS, 0.0)
    (games,) = learner.shards.parts
    for owner, name, what in (
        (games, "_act", "inference"),
        (learner, "_update", "update"),
    ):
        setattr(owner, name, _timed(getattr(owner, name), spent, what))

    def sample() -> float:
        spent.update(dict.fromkeys(PARTS, 0.0))
        begin = time.perf_counter()
        learner.iterate(0.0)
        whole = time.perf_counter() - begin
        # The rest of the time. It includes the computation of advantages, which is cheap.
        spent["environment"] = whole - sum(spent.values())
        return spent[part] / whole

    sample()
    return sample


def _timed(function: Callable[..., Any], spent: dict[str, float], what: str) -> Callable[..., Any]:
    def called(*given: Any, **named: Any) -> Any:
        begin = time.perf_counter()
        try:
            return function(*given, **named)
        finally:
            spent[what] += time.perf_counter() - begin

    return called


def matrices(variant: Variant) -> Callable[[], int]:
    """Return a chunk that computes only the network passes of an iteration, on constant inputs."""
    import torch

    from armarl_training.learners.ppo.update.buffers import Workspace
    from armarl_training.learners.ppo.update.dense_passes import actor_critic_of, passes_of

    learner = _learner(variant)
    workspace = Workspace(torch.device("cpu"))
    actor, critic, reading = learner.actor, learner.critic, learner._reading
    kept, steps, games = learner._kept, learning.ROLLOUT, learning.ENVIRONMENTS
    privileged = torch.zeros(games, kept.privileged_scales.size, dtype=reading.dtype)
    learning_from = privileged.repeat(learning.MINIBATCH // games, 1)
    advice = torch.zeros(games, 0, dtype=torch.int64)
    advised = advice.repeat(learning.MINIBATCH // games, 1)
    minibatches = learning.EPOCHS * steps * games // learning.MINIBATCH

    def chunk() -> int:
        playing = actor_critic_of(actor, critic, reading.dtype)
        for _ in range(steps):
            playing.act(privileged, advice, workspace)
        for _ in range(minibatches):
            passes = passes_of(actor, critic, reading.dtype)
            forward = passes.forward(learning_from, advised, workspace)
            passes.backward(forward, torch.zeros_like(forward.outputs), workspace)
        return steps * games

    chunk()
    return chunk

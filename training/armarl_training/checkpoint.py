"""Checkpoints: all that a run depends on, in one safetensors file that is replaced as a whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from armarl.policies import PolicyError, read_tensors, write_tensors

if TYPE_CHECKING:
    from armarl_training.learner import Run

FORMAT = "armarl-checkpoint-2"
FILE = "checkpoint.safetensors"


def save_checkpoint(run: Run) -> None:
    """Write the checkpoint of a run between two of its rollouts.

    Raises:
        OSError: it could not be written; the one before it is untouched.
    """
    model, env = run.model, run.env
    tensors = {f"policy/{name}": t.numpy() for name, t in model.policy.state_dict().items()}
    for number, moments in model.policy.optimizer.state_dict()["state"].items():
        for name, tensor in moments.items():
            tensors[f"optimiser/{number}/{name}"] = tensor.numpy()
    kind, keys, *numpy_rest = np.random.get_state()
    tensors |= {
        "chance/torch": torch.get_rng_state().numpy(),
        "chance/numpy": np.asarray(keys),
        "games/states": env.batch.states.view(np.uint8).reshape(env.num_envs, -1),
        "games/seats": env.batch.seats,
        "games/lineups": env.batch.lineups,
        "games/chance": env.batch.chance,
        "games/lengths": env.lengths,
        "games/episode_starts": _episode_starts(model, env.num_envs),
    }
    progress = {
        "format": FORMAT,
        "variant": run.game.variant,
        "decisions": run.decisions,
        "updates": model._n_updates,
        "seconds": run.seconds,
        "snapshots": run.snapshots,
        "environment_chance": env.rng.bit_generator.state,
        "numpy_chance": [kind, *numpy_rest],
        "recent": {name: list(returns) for name, returns in env.recent.items()},
    }
    try:
        write_tensors(run.folder / FILE, tensors, progress)
    except OSError as error:
        raise OSError(
            error.errno,
            f"the checkpoint could not be written ({error.strerror}); the one before it is whole: "
            "make room and resume the run",
        ) from error


def restore(run: Run) -> bool:
    """Put a run where its checkpoint was taken; False if there is none, and nothing is changed.

    Raises:
        PolicyError: the checkpoint is damaged, or of another game, version or network.
    """
    path = run.folder / FILE
    if not path.exists():
        return False
    tensors, progress = read_tensors(path, FORMAT)
    if progress["variant"] != json.loads(json.dumps(run.game.variant)):
        raise PolicyError(f"{path} is of {progress['variant']}, but this is {run.game.variant}")
    model, env = run.model, run.env
    try:
        model.policy.load_state_dict(_section(tensors, "policy"))
    except RuntimeError as error:
        raise PolicyError(f"{path} is of another network than config.yaml has: {error}") from error
    optimiser = model.policy.optimizer.state_dict()
    optimiser["state"] = {}
    for name, tensor in _section(tensors, "optimiser").items():
        number, moment = name.split("/")
        optimiser["state"].setdefault(int(number), {})[moment] = tensor
    model.policy.optimizer.load_state_dict(optimiser)

    run.snapshots = progress["snapshots"]
    run.seconds_before = progress["seconds"]
    model.num_timesteps = progress["decisions"]
    model._n_updates = progress["updates"]
    run.refresh_pool()

    env.batch.states = tensors["games/states"].copy().view(run.game.blank.dtype).reshape(-1)
    env.batch.seats = tensors["games/seats"]
    env.batch.lineups = tensors["games/lineups"]
    env.batch.chance = tensors["games/chance"]
    env.lengths = tensors["games/lengths"]
    for name, returns in progress["recent"].items():
        env.note(name, returns)
    model._last_obs = env.observe()
    model._last_episode_starts = tensors["games/episode_starts"].astype(bool)

    env.rng.bit_generator.state = progress["environment_chance"]
    kind, *numpy_rest = progress["numpy_chance"]
    np.random.set_state((kind, tensors["chance/numpy"], *numpy_rest))
    torch.set_rng_state(torch.from_numpy(tensors["chance/torch"].copy()))
    return True


def _episode_starts(model: Any, size: int) -> Any:
    starts = model._last_episode_starts
    return np.ones(size, np.uint8) if starts is None else np.asarray(starts, np.uint8)


def _section(tensors: dict[str, Any], section: str) -> dict[str, torch.Tensor]:
    return {
        name.removeprefix(f"{section}/"): torch.from_numpy(tensor.copy())
        for name, tensor in tensors.items()
        if name.startswith(f"{section}/")
    }

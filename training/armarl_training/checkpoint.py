"""Checkpoints: all that a run depends on, in one safetensors file that is replaced as a whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from armarl.game import Game
from armarl.policies import PolicyError, read_tensors, write_tensors
from armarl_training.learner import Learner
from armarl_training.opponents import OpponentPool

FORMAT = "armarl-checkpoint-3"
FILE = "checkpoint.safetensors"


def save_checkpoint(
    folder: Path, game: Game, learner: Learner, pool: OpponentPool, run: dict[str, Any]
) -> None:
    """Write what the learner and the pool save, and what the run adds, between two iterations.

    Raises:
        OSError: it could not be written; the one before it is untouched.
    """
    tensors, values = learner.save()
    progress = {
        "format": FORMAT,
        "variant": game.variant,
        "learner": {"kind": type(learner).__name__, **values},
        "pool": pool.save(),
        "run": run,
    }
    try:
        write_tensors(folder / FILE, tensors, progress)
    except OSError as error:
        raise OSError(
            error.errno,
            f"the checkpoint could not be written ({error.strerror}); the one before it is whole: "
            "make room and resume the run",
        ) from error
    pool.tidy()


def restore(
    folder: Path, game: Game, learner: Learner, pool: OpponentPool
) -> dict[str, Any] | None:
    """Put learner and pool where the checkpoint was taken, and return what the run added.

    None if there is no checkpoint; nothing is changed then.

    Raises:
        PolicyError: the checkpoint is damaged, or of another game, version, learner, network or
            number of environments.
    """
    path = folder / FILE
    if not path.exists():
        return None
    tensors, progress = read_tensors(path, FORMAT)
    if progress["variant"] != json.loads(json.dumps(game.variant)):
        raise PolicyError(f"{path} is of {progress['variant']}, but this is {game.variant}")
    if progress["learner"]["kind"] != type(learner).__name__:
        raise PolicyError(
            f"{path} is of the learner {progress['learner']['kind']}, but config.yaml has "
            f"{type(learner).__name__}"
        )
    pool.restore(progress["pool"])
    try:
        learner.restore(tensors, progress["learner"])
    except ValueError as error:
        raise PolicyError(f"{path} is of another run than config.yaml: {error}") from error
    run: dict[str, Any] = progress["run"]
    return run

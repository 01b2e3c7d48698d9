"""Checkpoints: all that a run depends on, in one safetensors file that is replaced as a whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from armarl.common.files import CONFIG_FILE
from armarl.common.messages import brief
from armarl.policies.safetensors_file import PolicyError, read_tensors, write_tensors
from armarl_training.config.training_config import MOST

if TYPE_CHECKING:
    from armarl.core.game import Game
    from armarl_training.learning.learner import Learner
    from armarl_training.learning.opponent_pool import OpponentPool

FORMAT = "armarl-checkpoint-4"
FILE = "checkpoint.safetensors"
MOST_SELVES = 1 << 16
# What NumPy, torch and our own checks raise at numbers and names that are none of theirs.
_REFUSALS = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RuntimeError,
    OSError,
)


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
    write_tensors(folder / FILE, tensors, progress)
    pool.tidy()


def restore(
    folder: Path, game: Game, learner: Learner, pool: OpponentPool
) -> dict[str, Any] | None:
    """Put learner and pool where the checkpoint was taken, and return what the run added.

    None if there is no checkpoint; nothing is changed then.

    Raises:
        PolicyError: the checkpoint is damaged, or of another game, version, learner, network or
            numbers of environments and shards.
    """
    path = folder / FILE
    if not path.exists():
        return None
    try:
        tensors, progress = read_tensors(path, FORMAT)
        saved = _Saved.model_validate(progress)
    except (ValidationError, OSError) as error:
        raise PolicyError(f"{path} is damaged: {brief(error)}") from error
    if saved.variant != json.loads(json.dumps(game.variant)):
        raise PolicyError(f"{path} is of {brief(saved.variant)}, but this is {game.variant}")
    if saved.learner.get("kind") != type(learner).__name__:
        raise PolicyError(
            f"{path} is of the learner {brief(saved.learner.get('kind'))}, but {CONFIG_FILE} has "
            f"{type(learner).__name__}"
        )
    try:
        pool.restore(saved.pool.snapshots)
        learner.restore(tensors, saved.learner)
    except PolicyError:  # of an earlier self
        raise
    except _REFUSALS as error:
        raise PolicyError(f"{path} is of another run than {CONFIG_FILE}: {brief(error)}") from error
    return saved.run.model_dump()


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class _Pool(_Section):
    snapshots: list[Annotated[int, Field(ge=0, le=MOST)]] = Field(max_length=MOST_SELVES)


class _Run(_Section):
    seconds: float = Field(ge=0)
    best: float
    # Of checkpoints from before these were kept the head start is over once anything was learnt.
    imitated: bool | None = None
    anchors: dict[str, Any] | None = None
    scale: int = Field(0, ge=0, le=MOST)


class _Saved(_Section):
    """What stands beside the tensors; the learner looks at its own part itself."""

    format: str
    variant: dict[str, Any]
    learner: dict[str, Any]
    pool: _Pool
    run: _Run

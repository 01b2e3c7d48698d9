"""Checkpoints: the full state of a run in one safetensors file, which is replaced atomically."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from armarl.common.files import CONFIG_FILE
from armarl.common.json_text import same_json
from armarl.common.messages import brief
from armarl.policies.safetensors_file import PolicyError, read_tensors, write_tensors
from armarl_training.config.sections import MOST

if TYPE_CHECKING:
    from armarl.core.game import Game
    from armarl_training.learning.learner import Learner
    from armarl_training.learning.opponent_pool import OpponentPool

FORMAT = "armarl-checkpoint-4"
FILE = "checkpoint.safetensors"
MOST_SELVES = 1 << 16  # maximum number of earlier versions of the policy in the pool
MOST_BYTES = 8 << 30  # maximum size in bytes; enough for large networks with Adam's moments
# Errors that NumPy, torch and ArmaRL's checks raise for wrong numbers and names.
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
    """Write a checkpoint of the learner, the pool and the run. Call it between two iterations.

    Args:
        folder: the run's folder.
        game: the game that is learned.
        learner: the learner.
        pool: the opponents.
        run: further values of the run, see `_Run`.

    Raises:
        OSError: the file could not be written. The previous checkpoint stays intact.
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
    """Restore the learner and the pool from the checkpoint in a folder.

    Returns:
        The argument `run` of `save_checkpoint`, or None if there is no checkpoint. In that case
        nothing changes.

    Raises:
        PolicyError: the checkpoint is damaged, or it belongs to another game, version, learner or
            network, or to another number of environments or shards.
    """
    path = folder / FILE
    if not path.exists():
        return None
    try:
        tensors, progress = read_tensors(path, FORMAT, most=MOST_BYTES)
        saved = _Saved.model_validate(progress)
    except (ValidationError, OSError) as error:
        raise PolicyError(f"{path} is damaged: {brief(error)}") from error
    if not same_json(saved.variant, game.variant):
        raise PolicyError(
            f"{path} is for {brief(saved.variant)}, but the run is for {game.variant}"
        )
    if saved.learner.get("kind") != type(learner).__name__:
        raise PolicyError(
            f"{path} is for the learner {brief(saved.learner.get('kind'))}, but {CONFIG_FILE} has "
            f"{type(learner).__name__}"
        )
    try:
        pool.restore(saved.pool.snapshots)
        learner.restore(tensors, saved.learner)
    except PolicyError:  # a policy in the pool cannot be read; the message is complete
        raise
    except _REFUSALS as error:
        raise PolicyError(f"{path} does not fit {CONFIG_FILE}: {brief(error)}") from error
    return saved.run.model_dump()


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class _Pool(_Section):
    snapshots: list[Annotated[int, Field(ge=0, le=MOST)]] = Field(max_length=MOST_SELVES)


class _Run(_Section):
    seconds: float = Field(ge=0)
    best: float
    # Older checkpoints lack these fields. Without `imitated`, the head start counts as over if the
    # learner has learned from any decision.
    imitated: bool | None = None
    anchors: dict[str, Any] | None = None
    scale: int = Field(0, ge=0, le=MOST)


class _Saved(_Section):
    """The JSON values of a checkpoint. The learner itself checks the values in `learner`."""

    format: str
    variant: dict[str, Any]
    learner: dict[str, Any]
    pool: _Pool
    run: _Run

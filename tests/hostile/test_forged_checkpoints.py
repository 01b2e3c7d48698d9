"""Checkpoints with a correct checksum, but with contents that no training would save."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import tiny
from armarl.policies.safetensors_file import PolicyError, read_tensors, write_tensors
from armarl_training.common.run_folder import RunError
from armarl_training.config.training_config import TrainingConfig
from armarl_training.learners.maskable import _generator
from armarl_training.run import checkpoint
from armarl_training.run.run import resume_run, start_run


def test_a_missing_earlier_version_is_reported(folder: Path) -> None:
    def spoil(tensors: Any, values: Any) -> None:
        values["pool"]["snapshots"] = [512]

    forge(folder, spoil)
    with pytest.raises(PolicyError, match=r"000000000512\.safetensors is missing; the run trains"):
        resume_run(folder)


def test_a_run_that_has_diverged_is_not_saved(folder: Path) -> None:
    """Regression: the diverged checkpoint replaced the last good one, and could not be resumed."""

    def spoil(tensors: Any, values: Any) -> None:
        for name, tensor in tensors.items():
            if name.startswith("networks/") and name.endswith("weight"):
                tensor[...] = 3e38

    before = (folder / checkpoint.FILE).read_bytes()
    resume_run(folder, ["total_decisions=1000000"]).close()
    forge(folder, spoil)
    forged = (folder / checkpoint.FILE).read_bytes()
    assert forged != before
    with np.errstate(all="ignore"), pytest.raises(RunError, match="the training has diverged"):
        resume_run(folder).train()
    assert (folder / checkpoint.FILE).read_bytes() == forged
    (folder / checkpoint.FILE).write_bytes(before)
    run = resume_run(folder)
    run.learner.iterate(0.5)
    run.save()


def forge(folder: Path, spoil: Any) -> None:
    """Change the contents of a checkpoint, and write a correct checksum."""
    path = folder / checkpoint.FILE
    tensors, values = read_tensors(path, checkpoint.FORMAT)
    tensors = {name: tensor.copy() for name, tensor in tensors.items()}
    spoil(tensors, values)
    write_tensors(path, tensors, values)


def _first(tensors: Any, section: str, kind: str = "") -> str:
    return next(name for name in tensors if name.startswith(section) and name.endswith(kind))


def _moments_too_short(tensors: Any, values: Any) -> None:
    """Shorten a moment, which torch's fused Adam reads without bounds checks."""
    names = [name for name in tensors if name.startswith("optimiser/") and name.endswith("exp_avg")]
    name = max(names, key=lambda name: tensors[name].size)
    tensors[name] = tensors[name].reshape(-1)[:1]


def _moments_of_another_type(tensors: Any, values: Any) -> None:
    name = _first(tensors, "optimiser/", "exp_avg_sq")
    tensors[name] = tensors[name].astype(np.float64)


def _a_moment_missing(tensors: Any, values: Any) -> None:
    del tensors[_first(tensors, "optimiser/", "step")]


def _negative_steps(tensors: Any, values: Any) -> None:
    """Set a step count to -1. The next step makes it 0, and torch divides by it."""
    tensors[_first(tensors, "optimiser/", "step")][...] = -1


def _negative_squares(tensors: Any, values: Any) -> None:
    """Set squares to -1. Their roots are NaN, so all weights would be NaN after one step."""
    tensors[_first(tensors, "optimiser/", "exp_avg_sq")][...] = -1


def _weights_of_nan(tensors: Any, values: Any) -> None:
    tensors[_first(tensors, "networks/")][:] = np.nan


def _games_of(values: Any) -> Any:
    """Return the JSON values of a learner's first shard of games."""
    games = values["learner"].get("games")
    return games[0] if games else values["learner"]


def _no_learner(tensors: Any, values: Any) -> None:
    values["learner"] = []


def _other_returns(tensors: Any, values: Any) -> None:
    where = _games_of(values)
    where["recent"] = {"x": ["a", None]}


def _a_name_that_clears_the_terminal(tensors: Any, values: Any) -> None:
    """Write an opponent's name, which the progress bar shows."""
    where = _games_of(values)
    where["recent"] = {"\x1b[2J": [0.5]}


def _decisions(tensors: Any, values: Any) -> None:
    values["learner"]["decisions"] = -1


def _seconds(tensors: Any, values: Any) -> None:
    values["run"]["seconds"] = "x"


@pytest.mark.parametrize(
    "spoil",
    [
        *(_moments_too_short, _moments_of_another_type, _a_moment_missing, _weights_of_nan),
        *(_negative_steps, _negative_squares),
        *(_no_learner, _other_returns, _decisions, _seconds, _a_name_that_clears_the_terminal),
    ],
    ids=lambda spoil: spoil.__name__,
)
def test_a_forged_checkpoint_is_refused(folder: Path, spoil: Any) -> None:
    forge(folder, spoil)
    with pytest.raises(PolicyError, match="checkpoint"):
        resume_run(folder)


def test_an_index_beyond_the_state_of_numpy_s_generator_is_refused(folder: Path) -> None:
    """NumPy accepts such an index, and would read beyond the generator's state."""

    def spoil(tensors: Any, values: Any) -> None:
        if "numpy_chance" in values["learner"]:
            values["learner"]["numpy_chance"][1] = 10**6
        else:
            games = _games_of(values)
            # A critic's games store no generator state.
            where = games if "chance" in games else values["learner"]
            where["chance"] = {"bit_generator": "MT19937"}

    forge(folder, spoil)
    with pytest.raises(PolicyError, match="checkpoint"):
        resume_run(folder)


@pytest.mark.parametrize(
    ("left", "place"), [(624, 624), (624, 2), (2, 624), (0, 0), (-1, 3), (1, 2**63), (1, 625)]
)
def test_an_index_beyond_the_state_of_torch_s_generator_is_refused(
    tmp_path: Path, left: int, place: int
) -> None:
    """torch checks the two numbers separately, and would read beyond the generator's state."""
    settings = tiny.settings(learner="maskable_ppo", options={"board": "mini"})
    with start_run(TrainingConfig(**settings), tmp_path / "run") as run:
        run.save()

    def spoil(tensors: Any, values: Any) -> None:
        tensors["chance/torch"][8:12] = np.array([left], np.int32).view(np.uint8)
        tensors["chance/torch"][16:24] = np.array([place], np.uint64).view(np.uint8)

    forge(tmp_path / "run", spoil)
    with pytest.raises(PolicyError, match=r"checkpoint.*the position in torch's generator is out"):
        resume_run(tmp_path / "run")


@pytest.mark.parametrize("spoil", [lambda old: old[:-8], lambda old: old.view(np.int8)])
def test_an_invalid_state_of_torch_s_generator_is_refused(tmp_path: Path, spoil: Any) -> None:
    settings = tiny.settings(learner="maskable_ppo", options={"board": "mini"})
    with start_run(TrainingConfig(**settings), tmp_path / "run") as run:
        run.save()
    forge(
        tmp_path / "run",
        lambda tensors, values: tensors.update(
            {"chance/torch": spoil(tensors["chance/torch"]).copy()}
        ),
    )
    with pytest.raises(PolicyError, match=r"checkpoint.*the random state of torch"):
        resume_run(tmp_path / "run")


@pytest.mark.parametrize("draws", [0, 1, 623, 624, 625, 640])
def test_every_state_of_torch_s_generator_is_accepted(draws: int) -> None:
    """torch itself saves these states. They are accepted unchanged."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        for _ in range(draws):
            torch.rand(1)
        state = torch.get_rng_state().numpy()
        assert np.array_equal(_generator(state), state)

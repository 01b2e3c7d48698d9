"""Saving and restoring learners: names of arrays in checkpoints, and checks of saved data.

An array in a checkpoint is named `SECTION/NAME`, as in `networks/actor/...`, `optimiser/0/step` and
`games/states`. Saved data that does not fit the configuration is refused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from armarl.common.files import CONFIG_FILE
from armarl.common.numbers import whole_number
from armarl.policies.weight_kinds import WEIGHT_KINDS, weight_kind
from armarl_training.common.run_folder import RunError
from armarl_training.config.learner_kinds import LEARNERS, either, kind_of
from armarl_training.config.sections import MOST
from armarl_training.config.training_config import TrainingConfig
from armarl_training.learning.rates import RECENT_GAMES

if TYPE_CHECKING:
    from armarl.policies.network_players import NetworkPlayer

Saved = tuple[dict[str, NDArray[Any]], dict[str, Any]]  # arrays, and JSON values


def check_alike(policy: NetworkPlayer, config: TrainingConfig) -> None:
    """Refuse to start a run from a policy if its weights would have another meaning in the run.

    Raises:
        ValueError: the policy is for another kind of learner, or its activation or its advisers
            differ from the configuration's.
    """
    network, advisers = config.network, tuple(policy.advice.advisers)
    found, wanted = weight_kind(policy.tensors).name, kind_of(config.learner).plays
    if wanted is not None and found != wanted:
        raise ValueError(
            f"the policy is {_told(found)}, but learner: {config.learner} needs {_told(wanted)}"
        )
    if policy.activation != network.activation:
        raise ValueError(
            f"the policy's activation is {policy.activation}, but network.activation is "
            f"{network.activation}"
        )
    if config.learner == "ppo" and advisers != tuple(network.advisers):
        raise ValueError(
            f"the policy's advisers are {list(advisers)}, but network.advisers are "
            f"{list(network.advisers)}"
        )


def _told(kind_name: str) -> str:
    """Describe a kind of weights and the learners that train it."""
    title = next(kind.title for kind in WEIGHT_KINDS if kind.name == kind_name)
    learners = either(name for name, kind in LEARNERS.items() if kind.plays == kind_name)
    return f"{title} (learner: {learners})"


def section(tensors: Mapping[str, NDArray[Any]], name: str) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names begin with `name/`, without that prefix."""
    start = f"{name}/"
    return {
        key.removeprefix(start): array for key, array in tensors.items() if key.startswith(start)
    }


def weights_of(networks: Mapping[str, nn.Module]) -> dict[str, torch.Tensor]:
    """Return the weights of networks, named `networks/NETWORK/NAME`, without copying them."""
    return {
        f"networks/{network}/{name}": weights
        for network, module in networks.items()
        for name, weights in module.state_dict().items()
    }


def saved_networks(networks: Mapping[str, nn.Module]) -> dict[str, NDArray[Any]]:
    """Return `weights_of` as NumPy arrays. Weights on the CPU are not copied."""
    return {name: weights.cpu().numpy() for name, weights in weights_of(networks).items()}


def restore_networks(
    networks: Mapping[str, nn.Module], tensors: Mapping[str, NDArray[Any]]
) -> None:
    """Load the saved weights of networks.

    Raises:
        ValueError: the weights do not fit these networks.
    """
    saved, own = section(tensors, "networks"), section(saved_networks(networks), "networks")
    check_arrays(saved, own, "the network's")
    put_weights(networks, {f"networks/{name}": torch.tensor(saved[name]) for name in saved})


@torch.no_grad()
def put_weights(networks: Mapping[str, nn.Module], weights: Mapping[str, torch.Tensor]) -> None:
    """Copy weights (as `weights_of` returns them) into networks with the same shapes."""
    for name, its in weights_of(networks).items():
        its.copy_(weights[name])


def saved_optimiser(optimiser: torch.optim.Optimizer) -> dict[str, NDArray[Any]]:
    """Return an optimiser's step counts and moments, named `optimiser/NUMBER/NAME`."""
    return {
        f"optimiser/{number}/{name}": tensor.cpu().numpy()
        for number, moments in optimiser.state_dict()["state"].items()
        for name, tensor in moments.items()
    }


def restore_optimiser(
    optimiser: torch.optim.Optimizer, tensors: Mapping[str, NDArray[Any]]
) -> None:
    """Load saved step counts and moments into an optimiser.

    Raises:
        ValueError: the moments do not fit the weights.
    """
    moments = section(tensors, "optimiser")
    weights = [weight.detach().cpu().numpy() for weight in optimiser.param_groups[0]["params"]]
    step = np.zeros((), np.float32)
    wanted = {
        f"{number}/{name}": like
        for number, weight in enumerate(weights)
        for name, like in (("step", step), ("exp_avg", weight), ("exp_avg_sq", weight))
    }
    check_arrays(moments, wanted if moments else {}, "the optimiser's")
    for name, array in moments.items():
        # The optimiser divides by these numbers or takes their roots.
        if not name.endswith("/exp_avg") and (array < 0).any():
            raise ValueError(f"the optimiser's {name} must not be below 0, got {array.min():g}")
    state = optimiser.state_dict()
    state["state"] = {}
    for name, array in moments.items():
        number, moment = name.split("/")
        state["state"].setdefault(int(number), {})[moment] = torch.from_numpy(array.copy())
    optimiser.load_state_dict(state)


def check_arrays(
    saved: Mapping[str, NDArray[Any]], wanted: Mapping[str, NDArray[Any]], of: str
) -> None:
    """Check that saved arrays are complete and finite, and have the wanted shapes and dtypes.

    Args:
        saved: the saved arrays.
        wanted: arrays with the shapes and dtypes that follow from the configuration.
        of: owner of the arrays in error messages, such as "the network's".

    Raises:
        ValueError: an array is wrong. The message names the first one.
    """
    for name, own in wanted.items():
        if name not in saved:
            raise ValueError(f"{of} {name} is missing")
        if saved[name].shape != own.shape:
            raise ValueError(
                f"{of} {name} has shape {saved[name].shape}, but {CONFIG_FILE} requires shape "
                f"{own.shape}"
            )
        if saved[name].dtype != own.dtype:
            raise ValueError(f"{of} {name} must be {own.dtype}, not {saved[name].dtype}")
        if own.dtype.kind == "f" and not np.isfinite(saved[name]).all():
            raise ValueError(f"{of} {name} has numbers that are not finite")
    if unknown := sorted(set(saved) - set(wanted)):
        raise ValueError(f"{of} {unknown[0]} is not part of a checkpoint with this {CONFIG_FILE}")


def refuse_diverged(arrays: Mapping[str, NDArray[Any]]) -> None:
    """Stop the training if an array has numbers that are not finite.

    Raises:
        RunError: the training has diverged. The message names the first such array.
    """
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise RunError(
                f"the training has diverged: {name} has numbers that are not finite. Earlier "
                "checkpoints are intact. A lower learning rate may help in a new run"
            )


def count_of(saved: Any) -> int:
    """Check a saved number of decisions or updates, and return the number.

    Raises:
        TypeError: the number is not an integer.
        ValueError: the number is out of range.
    """
    return whole_number("a number in the checkpoint", saved, 0, MOST)


def recent_returns(saved: Mapping[str, Any]) -> dict[str, deque[float]]:
    """Check the saved latest returns of the learner, and return them by opponent.

    Raises:
        TypeError: the returns are not lists of numbers.
        ValueError: a name or a return is wrong.
    """
    found = {name: np.array(returns, np.float64) for name, returns in saved.items()}
    for name, returns in found.items():
        if not name.isprintable():  # the progress bar prints the names
            raise ValueError(f"an opponent's name must be printable, not {name[:100]!r}")
        if returns.ndim != 1 or not returns.size or not (np.abs(returns) <= 1).all():
            raise ValueError(f"the returns against {name[:100]!r} must all be in -1 to 1")
    return {name: deque(returns.tolist(), RECENT_GAMES) for name, returns in found.items()}


def check_range(saved: NDArray[Any], lowest: int, highest: int, what: str) -> None:
    """Refuse saved indices that would make compiled loops read or write beyond their arrays.

    Raises:
        ValueError: the indices are not int64, or one is out of range.
    """
    if saved.dtype != np.int64:
        raise ValueError(f"{what} must be int64, got {saved.dtype}")
    outside = saved[(saved < lowest) | (saved > highest)]
    if outside.size:
        raise ValueError(f"{what} must be from {lowest} to {highest}, not {outside[0]}")


AVERAGE = "average"

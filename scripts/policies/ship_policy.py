"""Ship a run's policy: `python scripts/policies/ship_policy.py armada-3p-ppo runs/longer`.

The policy replaces the one of that name in the package. If the run began with that policy
(`start_from: armada-3p-ppo`), the training data of both are joined: decisions, minutes and curve
continue where the earlier ones end. With several runs each began with the one before, and the last
one's policy is shipped, or with `--mean 2` the mean of the weights of the last two. Rivals that the
configuration names by a path get the name of their file or folder, as nobody else has that path.
The new policy's strength is unknown. The script prints the command that measures it;
`python scripts/docs/make_docs.py` then updates the pages.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from armarl.common.files import POLICY_FILE
from armarl.players.registry import shipped_policies
from armarl.policies.saved_policy import load_policy, save_policy

Training = Mapping[str, Any]  # the training part of a policy's metadata


def joined(before: Training, since: Training) -> dict[str, Any]:
    """Join a policy's training data with those of the policy from which it started."""
    decisions = before["decisions"] + since["decisions"]
    minutes = round(before["minutes"] + since["minutes"], 1)
    later = [
        {
            **row,
            "decisions": row["decisions"] + before["decisions"],
            "minutes": round(row["minutes"] + before["minutes"], 2),
        }
        for row in since["curve"]
    ]
    began_with = {"start_from": before["config"]["start_from"]}
    return {
        "config": {**since["config"], **began_with, "time_limit_minutes": float(round(minutes))},
        "decisions": decisions,
        "minutes": minutes,
        "curve": [*before.get("curve", []), *later],
        "hardware": _hardware(before, since),
    }


def _hardware(before: Training, since: Training) -> dict[str, Any]:
    """Return the newer hardware, with each GPU and the part of training that ran on it."""
    gpus = []
    for training, part in ((before, "first"), (since, "last")):
        if gpu := training.get("hardware", {}).get("gpu"):
            millions = f"{round(training['decisions'] / 1e6)} million decisions"
            told = gpu if " for " in gpu else f"{gpu} for the {part} {millions}"
            gpus.append(told if training is since else told.replace(" for the last ", " for "))
    newer = {name: value for name, value in since["hardware"].items() if name != "gpu"}
    return newer | ({"gpu": ", ".join(gpus)} if gpus else {})


def _without_paths(training: Training) -> dict[str, Any]:
    """Return training data whose rivals are named, not found by a path of this machine."""
    opponents = training["config"]["opponents"]
    players = {
        name.rpartition("/")[2] if Path(name).is_absolute() else name: weight
        for name, weight in opponents["players"].items()
    }
    config = {**training["config"], "opponents": {**opponents, "players": players}}
    return {**training, "config": config}


def ship(name: str, runs: Sequence[Path], shipped: Path, mean: int = 1) -> list[str]:
    """Write the policy of the last run over a shipped one, or as a new one.

    Args:
        name: the name under which the policy is loaded.
        runs: folders of runs, each of which began with the one before.
        shipped: the policy's file.
        mean: number of runs, the last ones, whose weights are averaged (Izmailov et al. 2018).

    Returns:
        The rivals against which the previous policy was measured, with the numbers of games, in
        the form that `measure_shipped_policies.py` takes.

    Raises:
        ValueError: the policy is shipped already, a run did not begin with the one before, or
            there are fewer runs than `mean`.
    """
    if not 1 <= mean <= len(runs):
        raise ValueError(f"the mean is of 1 to {len(runs)} runs, not {mean}")
    policies = [load_policy(run / POLICY_FILE) for run in runs]
    parts = [_without_paths(policy.metadata["training"]) for policy in policies]
    policy, training, rivals = policies[-1], parts[0], []
    tensors = {
        part: np.mean([one.tensors[part] for one in policies[-mean:]], axis=0, dtype=np.float32)
        for part in policy.tensors
    }
    if shipped.exists():
        before = load_policy(shipped)
        old = before.tensors
        if old.keys() == tensors.keys() and all(
            np.array_equal(old[part], tensors[part]) for part in tensors
        ):
            raise ValueError(f"{name} has these weights already")
        for match in before.metadata["strength"]:
            rivals.append(f"{match['standings'][1]['player']}@{match['games']}")
        if training["config"]["start_from"] == name:
            training = joined(before.metadata["training"], training)
    for earlier, run, since in zip(runs, runs[1:], parts[1:], strict=False):
        if Path(str(since["config"]["start_from"])).resolve() != earlier.resolve():
            raise ValueError(f"{run} did not begin with {earlier}")
        training = joined(training, since)
    save_policy(
        *(shipped, policy.game, tensors, policy.activation),
        policy.metadata.get("advisers", ()),
        training=training,
        strength=[],
    )
    return rivals


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", help="name under which the policy is loaded")
    parser.add_argument("run", nargs="+", type=Path, help="the run's folder, or several in order")
    parser.add_argument("--mean", type=int, default=1, help="average the last runs' weights (1)")
    options = parser.parse_args()
    folder = next(iter(shipped_policies().values())).parent
    try:
        path = folder / f"{options.name}.safetensors"
        rivals = ship(options.name, options.run, path, options.mean)
    except (ValueError, FileNotFoundError) as error:
        parser.error(str(error))
    measure = " ".join(f"'{rival}'" for rival in rivals) or "RIVAL@GAMES ..."
    print(f"python scripts/policies/measure_shipped_policies.py {options.name} {measure}")


if __name__ == "__main__":
    main()

"""Ship a run's policy: `python scripts/policies/ship_policy.py armada-3p-ppo runs/longer`.

The run's policy replaces the shipped policy of that name. If the run started from that policy
(`start_from: armada-3p-ppo`), the script joins the training data of both: decisions and minutes are
added, and the run's curve is appended. If several runs are given, each must have started from the
one before, and the policy of the last run is shipped. With `--mean 2`, its weights are the mean of
the weights of the last two runs. If the configuration names an opponent by an absolute path, the
shipped policy has only the name of the file or folder, because nobody else has that path. The new
policy has no measured strength yet. The script prints the command that measures it. Afterwards,
update the pages with `python scripts/docs/make_docs.py`.
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
    """Join the training data of a policy and of the policy from which it started.

    Args:
        before: training data of the earlier policy.
        since: training data of the new policy.
    """
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
    """Return the newer hardware, and every GPU with the number of decisions learned on it."""
    gpus = []
    for training, part in ((before, "first"), (since, "last")):
        if gpu := training.get("hardware", {}).get("gpu"):
            millions = f"{round(training['decisions'] / 1e6)} million decisions"
            told = gpu if " for " in gpu else f"{gpu} for the {part} {millions}"
            gpus.append(told if training is since else told.replace(" for the last ", " for "))
    newer = {name: value for name, value in since["hardware"].items() if name != "gpu"}
    return newer | ({"gpu": ", ".join(gpus)} if gpus else {})


def _without_paths(training: Training) -> dict[str, Any]:
    """Return training data in which opponents have names instead of absolute paths."""
    opponents = training["config"]["opponents"]
    players = {
        name.rpartition("/")[2] if Path(name).is_absolute() else name: weight
        for name, weight in opponents["players"].items()
    }
    config = {**training["config"], "opponents": {**opponents, "players": players}}
    return {**training, "config": config}


def ship(name: str, runs: Sequence[Path], shipped: Path, mean: int = 1) -> list[str]:
    """Write the policy of the last run to the file of a shipped policy, or to a new file.

    Args:
        name: the policy's name.
        runs: folders of runs. Each run must have started from the one before.
        shipped: the policy's file.
        mean: number of runs, counted from the last, whose weights are averaged (Izmailov et al.
            2018).

    Returns:
        The opponents against which the previous policy was measured, with the numbers of games, as
        arguments of `measure_shipped_policies.py`.

    Raises:
        ValueError: the policy has already been shipped, a run did not start from the one before, or
            there are fewer runs than `mean`.
    """
    if not 1 <= mean <= len(runs):
        raise ValueError(f"--mean must be from 1 to {len(runs)}, the number of runs, not {mean}")
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
            raise ValueError(f"the shipped policy {name} already has these weights")
        for match in before.metadata["strength"]:
            rivals.append(f"{match['standings'][1]['player']}@{match['games']}")
        if training["config"]["start_from"] == name:
            training = joined(before.metadata["training"], training)
    for earlier, run, since in zip(runs, runs[1:], parts[1:], strict=False):
        if Path(str(since["config"]["start_from"])).resolve() != earlier.resolve():
            raise ValueError(
                f"{run} must have started from {earlier}, not from {since['config']['start_from']}"
            )
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
    parser.add_argument("name", help="the policy's name, such as armada-3p-ppo")
    parser.add_argument("run", nargs="+", type=Path, help="the run's folder, or folders in order")
    parser.add_argument(
        "--mean", type=int, default=1, help="number of last runs whose weights are averaged (1)"
    )
    options = parser.parse_args()
    folder = next(iter(shipped_policies().values())).parent
    try:
        path = folder / f"{options.name}.safetensors"
        rivals = ship(options.name, options.run, path, options.mean)
    except (ValueError, FileNotFoundError) as error:
        parser.error(str(error))
    measure = " ".join(f"'{rival}'" for rival in rivals) or "OPPONENT@GAMES ..."
    print(f"python scripts/policies/measure_shipped_policies.py {options.name} {measure}")


if __name__ == "__main__":
    main()

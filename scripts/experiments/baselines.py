"""Baselines that others can compare with: learning curves of several seeds.

    python scripts/experiments/baselines.py runs/baselines
    python scripts/experiments/baselines.py runs/baselines --only maskable-armada-4p-cards

Trains each quick configuration as it is, and MaskablePPO of sb3-contrib on every table, with
`--seeds` seeds (5), one run after another. MaskablePPO plays one seat against the scripted player
for `--decisions` decisions. Runs are in folders under the given one. A run that was stopped or
killed continues with the same command, and finished runs are not trained again. Use a quiet
machine.

The folder gets `NAME.svg` for each baseline, the mean of the seeds' win rates and the band between
the lowest and the highest, and for all together `baselines.csv`, a row for each measurement, and
`baselines.json`: the final win rates, the minutes, and the hardware.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from armarl.arena.policy_card import WINS
from armarl.common.csv_table import csv_text
from armarl.common.files import CONFIG_FILE, write_text
from armarl.common.messages import tell
from armarl_training.common.hardware import hardware
from armarl_training.common.svg_plots import COLOURS, Axes, picture, text, ticks
from armarl_training.config.training_config import TrainingConfig, load_config
from armarl_training.run.run import Report, resume_run, start_run

QUICK = ("armadora-quick", "armada-quick")
DECISIONS = 200_000  # of MaskablePPO
POINTS = 60  # of a curve in the pictures
COLUMNS = ("baseline", "seed", "decisions", "minutes", "opponent", "win_rate")
Rows = list[dict[str, float]]


def baselines(decisions: int = DECISIONS) -> dict[str, TrainingConfig]:
    """Return the configuration of each baseline, by its name."""
    found = {name: load_config(name) for name in QUICK}
    for game, option in (("armadora", "advanced"), ("armada", "cards")):
        for players, more in itertools.product((2, 3, 4), (False, True)):
            name = f"maskable-{game}-{players}p" + f"-{option}" * more
            found[name] = TrainingConfig.model_validate(
                {
                    "learner": "maskable_ppo",
                    "game": game,
                    "options": {"players": players, option: more},
                    "total_decisions": decisions,
                    "environments": 16,
                    "threads": 1,
                    "ppo": {"rollout_length": 128, "minibatch": 256, "epochs": 4},
                    "opponents": {"share": 1, "earlier": 0, "players": {"greedy": 1}},
                    "checkpoint_every_minutes": 0.5,
                    "evaluation": {"games": 200, "progress_games": 100},
                }
            )
    return found


def trained(name: str, config: TrainingConfig, folder: Path) -> Rows | None:
    """Train a run, or go on with it. Return its measurements, None if it was stopped."""
    exists = (folder / CONFIG_FILE).exists()
    with resume_run(folder) if exists else start_run(config, folder) as run:
        if run.config.total_decisions != config.total_decisions:
            raise ValueError(f"{folder} was begun with another --decisions: name another folder")
        if not run.train(lambda report: _show(name, report)):
            return None
        run.export()
        return run.log.measured()


def _show(name: str, report: Report) -> None:
    shown = f"{name}: {report.decisions:,} decisions, {report.done:.0%}"
    print(f"\r{shown}   ", end="", file=sys.stderr, flush=True)


def drawn(curves: list[Rows]) -> str:
    """Draw the seeds of a baseline: win rates over decisions, mean and band, by opponent."""
    names = sorted({n for rows in curves for row in rows for n in row if n.startswith(WINS)})
    first, last = (
        choose([choose([row["decisions"] for row in rows]) for rows in curves])
        for choose in (min, max)
    )
    axes = Axes(60, 20, 480, 300, (0.0, last), (0.0, 1.0))
    parts = [
        *axes.frame(ticks(0.0, last), " %", 100),
        *axes.titles("decisions learned from", "games won"),
    ]
    for k, name in enumerate(names):
        colour, across = COLOURS[k % len(COLOURS)], np.linspace(first, last, POINTS)
        lines = [
            np.interp(across, [r["decisions"] for r in rows], [r[name] for r in rows])
            for rows in curves
        ]
        low, high = np.min(lines, axis=0), np.max(lines, axis=0)
        parts += [
            axes.band(
                list(zip(across, low, strict=True)), list(zip(across, high, strict=True)), colour
            ),
            axes.line(list(zip(across, np.mean(lines, axis=0), strict=True)), colour),
            text(550, 34 + 14 * k, f"against {name.removeprefix(WINS)}", colour=colour),
        ]
    words = f"mean and range of {len(curves)} seed{'s' * (len(curves) > 1)}"
    return picture(740, 380, [*parts, text(550, 34 + 14 * len(names), words)])


def summary(curves: list[Rows]) -> dict[str, Any]:
    """Return the last measurement of each seed."""
    ends = [rows[-1] for rows in curves]
    return {
        "decisions": [int(end["decisions"]) for end in ends],
        "minutes": [end["minutes"] for end in ends],
        **{name: [end[name] for end in ends] for name in ends[0] if name.startswith(WINS)},
    }


def main() -> int:
    known = baselines()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=known, default=list(known))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--decisions", type=int, default=DECISIONS, help="of MaskablePPO")
    options = parser.parse_args()
    table: list[list[str]] = []
    found: dict[str, Any] = {"hardware": hardware("cpu"), "baselines": {}}
    configs = baselines(options.decisions)
    for name in options.only:
        config, curves = configs[name], list[Rows]()
        for seed in range(1, options.seeds + 1):
            folder = options.folder / name / f"seed-{seed}"
            rows = trained(
                f"{name}, seed {seed}", config.overridden([f"seed={seed}"], name), folder
            )
            if rows is None:
                tell("stopped; the same command continues")
                return 130
            curves.append(rows)
            table += [
                [
                    *(name, str(seed), f"{row['decisions']:.0f}", f"{row['minutes']:.4g}"),
                    *(column.removeprefix(WINS), f"{row[column]:.4g}"),
                ]
                for row in rows
                for column in row
                if column.startswith(WINS)
            ]
        found["baselines"][name] = summary(curves)
        write_text(options.folder / f"{name}.svg", drawn(curves))
        write_text(options.folder / "baselines.csv", csv_text(COLUMNS, table))
        write_text(options.folder / "baselines.json", json.dumps(found, indent=1) + "\n")
        tell(f"\n{name}: {found['baselines'][name]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

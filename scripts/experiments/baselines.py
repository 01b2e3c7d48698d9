"""Train baselines with several seeds, for comparison with other learners.

    python scripts/experiments/baselines.py runs/baselines
    python scripts/experiments/baselines.py runs/baselines --only maskable-armada-4p-cards

The script trains each quick configuration unchanged, and MaskablePPO of sb3-contrib in every
variant, with `--seeds` seeds (5), one run after another. MaskablePPO plays one seat against the
scripted player for `--decisions` decisions. Runs are in subfolders of the given folder. The same
command continues a run that was stopped or killed. Finished runs are not trained again. Use a
machine that runs nothing else, because the script also measures the minutes of training.

The folder gets these files:

- `NAME.svg` for each baseline: the mean of the seeds' win rates, and the band from the lowest to
  the highest;
- `baselines.csv`: a row for each measurement during training;
- `baselines.json`: the win rates of the trained policies in `evaluation.games` games against each
  opponent, the minutes of training, and the hardware.

To copy these files into the documentation and write the tables of its page, without training:

    python scripts/experiments/baselines.py runs/baselines --page
"""

from __future__ import annotations

import argparse
import itertools
import json
import shutil
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from armarl.arena.policy_card import WINS, read_card
from armarl.common.csv_table import csv_text
from armarl.common.files import CONFIG_FILE, write_text
from armarl.common.messages import tell
from armarl.matches.standings import Standing
from armarl_training.common.hardware import hardware
from armarl_training.common.svg_plots import COLOURS, Axes, picture, text, ticks
from armarl_training.config.training_config import TrainingConfig, load_config
from armarl_training.run.run import Report, resume_run, start_run

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "docs"))

from page_parts import filled  # noqa: E402

QUICK = ("armadora-quick", "armada-quick")
DECISIONS = 100_000  # number of decisions per run of MaskablePPO
# Three numbers for MaskablePPO: minutes between two points of its curve, games per opponent at each
# point, and games per opponent at the end. Games of Armada take longer.
MEASURING = {"armadora": (0.5, 100, 200), "armada": (1.0, 50, 100)}
POINTS = 60  # number of points of a curve in the pictures
DOCS = ROOT / "docs" / "training"
COLUMNS = ("baseline", "seed", "decisions", "minutes", "opponent", "win_rate")
Rows = list[dict[str, float]]


def baselines(decisions: int = DECISIONS) -> dict[str, TrainingConfig]:
    """Return the configuration of each baseline, by name."""
    found = {name: load_config(name) for name in QUICK}
    for game, option in (("armadora", "advanced"), ("armada", "cards")):
        minutes, progress_games, games = MEASURING[game]
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
                    "checkpoint_every_minutes": minutes,
                    "evaluation": {"progress_games": progress_games, "games": games},
                }
            )
    return found


class Trained(NamedTuple):
    """A finished run: its measurements during training, and matches of the final policy."""

    rows: Rows
    matches: dict[str, Standing]  # by opponent


def trained(name: str, config: TrainingConfig, folder: Path) -> Trained | None:
    """Train and measure a baseline, or continue its run. Return None if the run was stopped."""
    exists = (folder / CONFIG_FILE).exists()
    with resume_run(folder) if exists else start_run(config, folder) as run:
        if run.config.total_decisions != config.total_decisions:
            raise ValueError(
                f"{folder} was started with {run.config.total_decisions:,} decisions, not "
                f"{config.total_decisions:,}: change --decisions, or name another folder"
            )
        if not run.train(lambda report: _show(name, report)):
            return None
        path = run.export()
        if not read_card(path).strength:
            run.export(run.evaluate(path))
        matches = {one.opponent: one.standing for one in read_card(path).strength}
        return Trained(run.log.measured(), matches)


def _show(name: str, report: Report) -> None:
    shown = f"{name}: {report.decisions:,} decisions, {report.done:.0%}"
    print(f"\r{shown}   ", end="", file=sys.stderr, flush=True)


def drawn(curves: list[Rows]) -> str:
    """Return an SVG plot of win rates over decisions: the seeds' mean and range per opponent."""
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


def summary(runs: list[Trained]) -> dict[str, Any]:
    """Return each seed's decisions and minutes of training, and its final policy's win rates."""
    ends = [run.rows[-1] for run in runs]
    rates = {
        opponent: {
            "games": first.games,
            "fair": first.fair,
            "win_rates": [run.matches[opponent].win_rate for run in runs],
        }
        for opponent, first in runs[0].matches.items()
    }
    return {
        "decisions": [int(end["decisions"]) for end in ends],
        "minutes": [end["minutes"] for end in ends],
        "opponents": rates,
    }


def write_page(folder: Path) -> None:
    """Copy the results into the documentation and write the tables and pictures of its page."""
    results, kept = json.loads((folder / "baselines.json").read_text("utf-8")), DOCS / "baselines"
    kept.mkdir(exist_ok=True)
    names = [f"{name}.svg" for name in results["baselines"]]
    for name in ("baselines.json", "baselines.csv", *names):
        shutil.copyfile(folder / name, kept / name)
    page = DOCS / "baselines.md"
    made = {"baselines": "\n".join(["", *_page_lines(results), ""])}
    write_text(page, filled(page.read_text("utf-8"), made))


def _page_lines(results: dict[str, Any]) -> Iterator[str]:
    machine = results["hardware"]
    yield f"{machine['processor']}, {machine['cores']} cores, torch {machine['torch']}."
    yield ""
    yield "| baseline | seeds | decisions | minutes | against | games | fair share | games won |"
    yield "| --- | --: | --: | --: | --- | --: | --: | --- |"
    for name, found in results["baselines"].items():
        minutes, decisions = found["minutes"], max(found["decisions"])
        for opponent, played in found["opponents"].items():
            yield (
                f"| `{name}` | {len(minutes)} | {decisions:,} | {statistics.median(minutes):.1f} "
                f"| {opponent} | {played['games']:,} | {100 * played['fair']:.1f} % "
                f"| {_spread(played['win_rates'])} |"
            )
    for name in results["baselines"]:
        yield ""
        yield f"![Learning curve of {name}: games won over decisions](baselines/{name}.svg)"


def _spread(rates: list[float]) -> str:
    """Format the mean of win rates, with the lowest and the highest."""
    low, mean, high = (100 * of(rates) for of in (min, statistics.mean, max))
    return f"{mean:.1f} % ({low:.1f} to {high:.1f})"


def main() -> int:
    known = baselines()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=known, default=list(known))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--decisions", type=int, default=DECISIONS, help="decisions per run of MaskablePPO"
    )
    parser.add_argument("--page", action="store_true", help="only write the documentation's page")
    options = parser.parse_args()
    if options.page:
        write_page(options.folder)
        return 0
    table: list[list[str]] = []
    found: dict[str, Any] = {"hardware": hardware("cpu"), "baselines": {}}
    configs = baselines(options.decisions)
    for name in options.only:
        config, runs = configs[name], list[Trained]()
        for seed in range(1, options.seeds + 1):
            folder = options.folder / name / f"seed-{seed}"
            run = trained(f"{name}, seed {seed}", config.overridden([f"seed={seed}"], name), folder)
            if run is None:
                tell("stopped; the same command continues the run")
                return 130
            runs.append(run)
            table += [
                [
                    *(name, str(seed), f"{row['decisions']:.0f}", f"{row['minutes']:.4g}"),
                    *(column.removeprefix(WINS), f"{row[column]:.4g}"),
                ]
                for row in run.rows
                for column in row
                if column.startswith(WINS)
            ]
        found["baselines"][name] = summary(runs)
        write_text(options.folder / f"{name}.svg", drawn([run.rows for run in runs]))
        write_text(options.folder / "baselines.csv", csv_text(COLUMNS, table))
        write_text(options.folder / "baselines.json", json.dumps(found, indent=1) + "\n")
        tell(f"\n{name}: {found['baselines'][name]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

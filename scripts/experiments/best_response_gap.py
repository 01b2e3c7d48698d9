"""Compare the results of `armarl exploit` with exact best responses, in small games.

    python scripts/experiments/best_response_gap.py runs/gap
    python scripts/experiments/best_response_gap.py runs/gap --game armadora --players runs/mini

The script trains best responses to each of `--players` in Kuhn poker and on Armadora's mini board,
with the code of `armarl exploit`. The runs are in subfolders of the folder that the command names.
For each player the script prints a table row of mean returns over both seats: of the exact best
response, of each trained response (computed in the game tree), and of the chosen response in the
last match of `armarl exploit`. If the script is stopped, the same command continues.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

import armarl
from armarl.analysis.exploitability import Floats, GameTree, exploitability
from armarl.players.player_specs import as_spec
from armarl.players.protocol import Player
from armarl.policies.paths import label, policy_path
from armarl_training.run.exploit import Exploit, recipe_for
from armarl_training.run.run import Run
from exploitability_in_training import SETTINGS

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
DRAWS = 64  # number of a player's sampled choices in each position

import kuhn_poker  # noqa: E402

armarl.register_game(kuhn_poker.ENTRY)
KUHN, MINI = armarl.make_game("kuhn_poker"), armarl.make_game("armadora", board="mini")


class AsPlayed:
    """A player without its method `think`, so that `GameTree` samples its choices instead."""

    def __init__(self, player: Player) -> None:
        self.name, self.choose = player.name, player.choose


def play_of(tree: GameTree, player: Any) -> Floats:
    """Return the strategy that a player uses in matches.

    It is deterministic if the player's attribute `sample` is False.
    """
    certain = getattr(player, "sample", True) is False
    return tree.play_of(AsPlayed(player), 1) if certain else tree.play_of(player, DRAWS)


def won(tree: GameTree, response: Floats, play: Floats) -> float:
    """Return the mean return of a response to the strategy `play`, over both seats."""
    returns = [
        tree.value(np.where(tree.slots[:, 0] == seat, response, play), seat) for seat in (0, 1)
    ]
    return float(np.mean(returns))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--game", choices=[KUHN.name, MINI.name], help="only this game")
    parser.add_argument("--players", nargs="+", default=["random", "greedy"])
    parser.add_argument("--start", help="the option --start of `armarl exploit`")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--decisions", type=int, default=300_000, help="number of decisions per run (300,000)"
    )
    options = parser.parse_args()
    print(
        "| game | player | exact | trained, by seed | last match |\n| --- | --- | --- | --- | --- |"
    )
    with tempfile.TemporaryDirectory() as scratch:
        ppo = Path(scratch) / "kuhn.yaml"
        ppo.write_text(f"game: kuhn_poker\nevaluation: {{workers: 1}}{SETTINGS}", encoding="utf-8")
        for game, config in ((KUHN, ppo), (MINI, "armadora-mini")):
            if options.game not in (None, game.name):
                continue
            tree = GameTree(game)
            for player in options.players:
                folder = options.folder / f"{game.name}-{re.sub('[^a-z0-9]+', '-', player)}"
                recipe = recipe_for(
                    *(player, folder, game, None if policy_path(player) else config),
                    start=options.start,
                    decisions=options.decisions,
                    seeds=options.seeds,
                )
                with closing(Exploit(recipe, folder)) as search:
                    print(row(tree, player, search), flush=True)


def row(tree: GameTree, player: str, search: Exploit) -> str:
    """Train the runs that are not finished yet, and return a row of the table."""
    search.run(Run.train, lambda _trained: None)
    play, found = play_of(tree, armarl.make_player(player, tree.game)), search.found
    policies = [search.run_folder(run.seed) / "policy.safetensors" for run in found.runs]
    trained = [won(tree, play_of(tree, armarl.load_policy(path)), play) for path in policies]
    assert found.match is not None
    last = found.match.standings[0].reward
    cells = [
        *(
            tree.game.name,
            label(as_spec(player)),
            f"{exploitability(tree, play).exploitability:.4f}",
        ),
        ", ".join(f"{value:.4f}" for value in trained),
        f"{last:.4f} (seed {found.best}, {found.match.games} games)",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
